"""A report as one HTML page, which needs no other file, no network and no script.

`page.html` is the page, `parts.html` what it is made of, such as its pictures.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib.resources import files
from itertools import groupby, pairwise
from typing import Any, Final

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from thinstack.errors import escaped
from thinstack.integrations.report.calendar import period_name
from thinstack.integrations.report.figures import AspectFigures, Comparison, Course
from thinstack.integrations.report.report import Report
from thinstack.integrations.report.rows import REASONS, Span
from thinstack.integrations.report.statistics import Interval
from thinstack.integrations.report.tally import SIDES, Figures, Quote, Side
from thinstack.integrations.report.terms import MARKS, asked_name, normalised
from thinstack.integrations.show.drawn_text import percent
from thinstack.integrations.show.outline import inline

MOST_SHOWN: Final = 20
"""Aspects that the page shows of those that a model finds; JSON and CSV have all."""

MOST_GROUPS: Final = 12
"""Groups that the page shows; JSON and CSV have all."""

MOST_DIFFERENCES: Final = 20
"""Differences that the page lists."""

_IN_SHORT: Final = 3  # aspects of each line of the summary
_ON_AVERAGE: Final = 4  # texts of each period, so that an aspect has a picture over time
_LONGEST_NAME: Final = 100  # characters of the name of a group
WIDTH: Final = 1000  # units that a picture of periods is wide


def page(report: Report) -> str:
    """The page of a report."""
    aspects = report.aspects if report.about else report.aspects[:MOST_SHOWN]
    spoken_of = [aspect for aspect in aspects if aspect.figures.texts]
    return (
        templates()
        .get_template("page.html")
        .render(
            report=report,
            aspects=aspects,
            style=Markup(style()),
            praised=_most(spoken_of, "positive"),
            criticised=_most(spoken_of, "negative"),
            most=sorted(spoken_of, key=lambda aspect: -aspect.figures.texts)[:_IN_SHORT],
            better={} if report.by is None else _better(report.by),
        )
    )


def _file(name: str) -> str:
    return files("thinstack.integrations.report").joinpath(name).read_text(encoding="utf-8")


def style() -> str:
    """The style of the page."""
    return _file("page.css")


@cache
def templates() -> Environment:
    """What pages are made with: the templates of this folder, and what these may call."""
    templates = Environment(
        autoescape=True,
        finalize=_shown,
        loader=FunctionLoader(_file),
        lstrip_blocks=True,
        trim_blocks=True,
        undefined=StrictUndefined,
    )
    functions: tuple[Callable[..., object], ...] = (
        *(asked_name, both_ends, course_of, course_paths, marked, of_side, other_names, percent),
        *(period_name, signed, spoken, texts),
    )
    templates.globals |= {function.__name__: function for function in functions}
    templates.globals |= {"REASONS": REASONS, "SIDES": SIDES, "WIDTH": WIDTH}
    templates.globals |= {"MOST_DIFFERENCES": MOST_DIFFERENCES, "MOST_GROUPS": MOST_GROUPS}
    return templates


def _shown(value: Any) -> Any:
    """A value as the page has it: a text of others on one line, with nothing in it that acts, and a
    number with commas. Markup has been made by a template."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return inline(value)
    return f"{value:,}" if isinstance(value, int) else value


def texts(count: int) -> str:
    """So many texts."""
    return f"{count:,} text{'s' * (count != 1)}"


def of_side(figures: Figures, side: Side) -> str:
    """The share of a side, in a sentence: "84% positive"."""
    share = figures.share(side)
    return f"{percent(share.value) if share else '–'} {side}"


def signed(number: float) -> str:
    """A polarity: +0.31 or −0.05."""
    return f"{number:+.2f}".replace("-", "−")


def both_ends(group: str) -> str:
    """The name of a group; of a long one both ends."""
    if len(group) <= _LONGEST_NAME:
        return group
    return f"{group[: _LONGEST_NAME // 2]} … {group[-_LONGEST_NAME // 2 :]}"


def _most(aspects: Sequence[AspectFigures], side: Side) -> list[AspectFigures]:
    """The aspects of which the largest share speaks for a side, by the lower ends of the intervals:
    few texts do not make an aspect the best."""

    def least(aspect: AspectFigures) -> float:
        share = aspect.figures.share(side)
        return (share.low or 0.0) if share else 0.0

    some = [aspect for aspect in aspects if aspect.figures.count(side) > 1]
    return sorted(some, key=least, reverse=True)[:_IN_SHORT]


def _better(by: Comparison) -> dict[tuple[str | None, str], bool]:
    """By term and group, whether the surest of their differences speaks for the group."""
    better: dict[tuple[str | None, str], bool] = {}
    for difference in reversed(by.differences):
        side = difference.side
        here, there = difference.here.share(side), difference.there.share(side)
        more = bool(here and there and here.value > there.value)
        better[difference.term, difference.group] = more == (side == "positive")
    return better


def other_names(aspect: AspectFigures) -> list[str]:
    """How else an aspect is written."""
    spellings = {*map(normalised, aspect.term.split("|"))}
    return [name for name in aspect.names if name not in spellings]


def course_of(aspect: AspectFigures, over: Course) -> list[Figures | None]:
    """The figures of an aspect by period; none where there are too few for a picture."""
    figures = {period.start: period.figures for period in aspect.periods}
    if aspect.figures.texts < _ON_AVERAGE * len(over.periods) or len(over.periods) < 2:
        return []
    return [figures.get(period.start) for period in over.periods]


def spoken(figures: Sequence[Figures | None], over: Course) -> str:
    """The first and the last period with texts, for those who do not see the picture."""
    shares = [
        f"{period_name(period.start, over.unit)} {of_side(part, 'positive')}"
        for period, part in zip(over.periods, figures, strict=True)
        if part and part.texts
    ]
    return f"from {shares[0]} to {shares[-1]}" if len(shares) > 1 else "".join(shares) or "no texts"


def course_paths(periods: Sequence[Figures | None]) -> Iterator[tuple[str, str]]:
    """The share of positive texts of each period, from 0 at the bottom to 1 at the top, as classes
    with their paths: points with a line, and their intervals as a band. A period without texts is
    a gap."""
    step = WIDTH / max(len(periods), 1)
    shares = [part.share("positive") if part else None for part in periods]
    places = [((place + 0.5) * step, share) for place, share in enumerate(shares)]
    for _, run in groupby(places, key=lambda place: place[1] is None):
        points = [(x, share) for x, share in run if share is not None]
        if points:
            yield from _line(points, step)


def _line(points: Sequence[tuple[float, Interval]], step: float) -> Iterator[tuple[str, str]]:
    """The band, the line and the points of periods that follow each other."""
    wide = points
    if len(points) == 1:  # a band has a width
        (x, share), side = points[0], step / 4
        wide = [(x - side, share), (x + side, share)]
    top = [f"{x:.1f} {100 - 100 * (share.high or 0.0):.1f}" for x, share in wide]
    foot = [f"{x:.1f} {100 - 100 * (share.low or 0.0):.1f}" for x, share in reversed(wide)]
    middle = [f"{x:.1f} {100 - 100 * share.value:.1f}" for x, share in points]
    yield "band", f"M{'L'.join(top + foot)}Z"
    yield "line", f"M{'L'.join(middle)}"
    yield "points", "".join(f"M{point}h0" for point in middle)


def marked(quote: Quote) -> Markup:
    """The text of a quote, with tags around the term and what decides. Where these cross, the inner
    tags are closed and opened again."""
    decides = _bare(quote.text, quote.because or quote.term)
    term, mark = Markup('<span class="term">{}</span>'), Markup('<mark class="{}">{}</mark>')
    places = sorted({0, len(quote.text), *quote.term, *decides})
    drawn = Markup()
    for start, end in pairwise(places):
        part: str = escaped(" ".join(quote.text[start:end].split("\n")))
        if quote.term.start <= start and end <= quote.term.end:
            part = term.format(part)
        if decides.start <= start and end <= decides.end:
            part = mark.format(SIDES[quote.side], part)
        drawn += part
    return drawn


def _bare(text: str, span: Span) -> Span:
    """Some characters of a text without marks and spaces at their ends."""
    part = text[slice(*span)]
    start = span.start + len(part) - len(part.lstrip(MARKS))
    return Span(start, start + len(part.strip(MARKS)))
