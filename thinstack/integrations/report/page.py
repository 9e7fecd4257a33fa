"""A report as one HTML page, which needs no other file, no network and no script."""

from collections.abc import Iterator, Sequence
from importlib.resources import files
from typing import Final

from thinstack.integrations.report.cards import cards
from thinstack.integrations.report.compared import compared, difference, over_time
from thinstack.integrations.report.figures import AspectFigures, Side
from thinstack.integrations.report.notes import method, unread
from thinstack.integrations.report.pictures import bar, percent
from thinstack.integrations.report.report import Report
from thinstack.integrations.report.words import (
    LEGEND,
    heading,
    listed,
    named,
    of_side,
    period,
    polarity,
    safe,
    share,
    table,
    texts,
)

MOST_SHOWN: Final = 20
"""Aspects that the page shows of those that a model finds; JSON and CSV have all."""

_IN_SHORT: Final = 3  # aspects of each line of the summary

_DIFFERENCES: Final = 2  # of the summary
_VERBS: Final[dict[Side, str]] = {"positive": "Most praised", "negative": "Most criticised"}

_STYLE = files("thinstack.integrations.report").joinpath("page.css").read_text(encoding="utf-8")

_HEAD: Final = f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="color-scheme" content="light dark">
<title>{{title}}</title>
<style>
{_STYLE.replace("{", "{{").replace("}", "}}")}</style>
</head>
<body>
<main>
"""


def page(report: Report) -> str:
    """The page of a report."""
    aspects = report.aspects if report.about else report.aspects[:MOST_SHOWN]
    title = f"What {texts(report.figures.texts)} say{'s' * (report.figures.texts == 1)}"
    parts = [_HEAD.format(title=f"{title}: {safe(report.source)}"), f"<header>\n<h1>{title}</h1>\n"]
    parts += [*_about(report), *_links(report), "</header>\n", *_in_short(report, aspects)]
    parts += _aspects(report, aspects)
    if report.by is not None:
        parts += compared(report.by, aspects)
    if report.over is not None:
        parts += over_time(report.over)
    if aspects:
        parts += cards(aspects, report.over)
    parts += [*unread(report), *method(report), "</main>\n</body>\n</html>\n"]
    return "".join(parts)


def _about(report: Report) -> Iterator[str]:
    parts = [safe(report.source)]
    if report.over is not None:
        first, last = report.over.periods[0], report.over.periods[-1]
        parts.append(f"{period(first, report.over.unit)} to {period(last, report.over.unit)}")
    if report.by is not None:
        parts.append(f"by {safe(report.by.column)}")
    if report.model:
        parts.append(f"read by the model {safe(report.model)}")
    yield f'<p class="about">{" · ".join(parts)}</p>\n'


def _links(report: Report) -> Iterator[str]:
    places = {"short": "In short", "aspects": "What they speak of"}
    if report.by is not None:
        places |= {"by": f"By {safe(report.by.column)}"}
    if report.over is not None:
        places |= {"time": "Over time"}
    places |= {"each": "Aspect by aspect"} if report.aspects else {}
    places |= {"unread": "What could not be read", "method": "How to read this page"}
    yield '<nav aria-label="Parts of the page"><ul>\n'
    yield from (f'<li><a href="#{place}">{name}</a></li>\n' for place, name in places.items())
    yield "</ul></nav>\n"


def _in_short(report: Report, aspects: Sequence[AspectFigures]) -> Iterator[str]:
    figures = report.figures
    yield heading(2, "In short", "short")
    yield '<dl class="key">\n'
    yield _key("", "Texts", f"{figures.texts:,}", f"of {report.rows:,} rows")
    for side in ("positive", "negative"):
        value, _, rest = share(figures.share(side)).partition(" ")
        yield _key(side, side.capitalize(), value, rest)
    value, _, rest = polarity(figures.polarity).partition(" ")
    yield _key("", "Mean polarity", value, rest or "from −1 to 1")
    yield f'</dl>\n<div class="wide">{bar(figures)}</div>\n{LEGEND}<ul class="short">\n'
    yield from (f"<li>{line}</li>\n" for line in _lines(report, aspects))
    yield "</ul>\n"


def _key(kind: str, name: str, value: str, rest: str) -> str:
    of = f' class="{kind}"' if kind else ""
    return f"<div{of}><dt>{name}</dt><dd><strong>{value}</strong> {rest}</dd></div>\n"


def _lines(report: Report, aspects: Sequence[AspectFigures]) -> Iterator[str]:
    """What is praised and what is criticised most, and what differs: sentences."""
    there = [aspect for aspect in aspects if aspect.figures.texts]
    for side, verb in _VERBS.items():
        some = [aspect for aspect in there if aspect.figures.count(side) > 1]
        some.sort(key=lambda aspect: -_least(aspect, side))
        best = [_brief(aspect, side) for aspect in some[:_IN_SHORT]]
        if best:
            yield f"{verb}: {listed(best)}."
    if there:
        spoken = sorted(there, key=lambda aspect: -aspect.figures.texts)[:_IN_SHORT]
        total = report.figures.texts
        parts = [f"<b>{named(each)}</b> ({percent(each.figures.texts / total)})" for each in spoken]
        yield f"Most spoken of: {listed(parts)} of all texts."
    if report.by is not None and report.by.differences:
        for found in report.by.differences[:_DIFFERENCES]:
            yield f"Beyond chance: {difference(found, report.by)}."


def _least(aspect: AspectFigures, side: Side) -> float:
    """The lower end of the interval of a share: few texts do not make an aspect the best."""
    found = aspect.figures.share(side)
    return (found.low or 0.0) if found else 0.0


def _brief(aspect: AspectFigures, side: Side) -> str:
    figures = aspect.figures
    return f"<b>{named(aspect)}</b> ({of_side(figures, side)} in {texts(figures.texts)})"


def _aspects(report: Report, aspects: Sequence[AspectFigures]) -> Iterator[str]:
    yield heading(2, "What they speak of", "aspects")
    if not aspects:
        least = report.min_mentions
        yield f"<p>No term is spoken of in {texts(least)} or more.</p>\n"
        return
    more = len(report.aspects) - len(aspects)
    caption = "Shares of the texts that speak of each aspect, with intervals of 95% confidence."
    caption += f" {more:,} more aspects are in the report as JSON or CSV." if more else ""
    rows = [
        (f'<a href="#aspect-{number}">{named(aspect)}</a>', aspect.figures)
        for number, aspect in enumerate(aspects, 1)
    ]
    yield from table(caption, "Aspect", rows)
    if report.without:
        verb = "speaks" if report.without == 1 else "speak"
        yield f'<p class="note">{texts(report.without)} {verb} of no term.</p>\n'
