"""The pages of reports and of themes: each is one HTML file, which needs no other and no network.

`page.html` is that of a report, `themes_page.html` that of themes, and `parts.html` what they are
made of. `page.js` sorts and filters what stands there; it has nothing of a table in it.
"""

import base64
import hashlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from functools import cache
from importlib.resources import files
from itertools import chain, groupby, pairwise
from typing import Any, Final

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from thinstack.errors import escaped
from thinstack.integrations.report.calendar import Unit, period_name
from thinstack.integrations.report.quotes import Quote, Span
from thinstack.integrations.report.rows import REASONS
from thinstack.integrations.report.sentences import (
    both_ends,
    difference_sentence,
    enumerated,
    share,
    texts,
)
from thinstack.integrations.report.statistics import Interval
from thinstack.integrations.report.tally import SIDES, Figures, Side, Tally
from thinstack.integrations.report.terms import MARKS, asked_name, normalised
from thinstack.integrations.show.marks import percent
from thinstack.integrations.show.outline import inline
from thinstack.integrations.themes.themes import TITLES, one_decimal, rest

MOST_SHOWN: Final = 20
"""Aspects that the page shows of those that a model finds; JSON and CSV have all."""

MOST_GROUPS: Final = 12
"""Groups that the page shows; JSON and CSV have all."""

_ON_AVERAGE: Final = 4  # texts of each period, so that an aspect has a picture over time
_WIDTH: Final = 1000  # units that a picture of periods is wide


def render(name: str, **values: Any) -> str:
    """One of the pages, of these values."""
    return _templates().get_template(name).render(values)


def _file(name: str) -> str:
    return files("thinstack.integrations.report").joinpath(name).read_text(encoding="utf-8")


@cache
def _templates() -> Environment:
    """What pages are made with: the templates, and what these may call."""
    templates = Environment(
        autoescape=True,
        finalize=_shown,
        loader=FunctionLoader(_file),
        lstrip_blocks=True,
        trim_blocks=True,
        undefined=StrictUndefined,
    )
    functions: tuple[Callable[..., object], ...] = (
        *(asked_name, axis, both_ends, course_of, course_paths, difference_sentence, enumerated),
        *(marked, one_decimal, other_names, percent, period_name, rest, share, spoken, texts),
    )
    script = _file("page.js")
    templates.globals |= {function.__name__: function for function in functions} | {
        "MOST_GROUPS": MOST_GROUPS,
        "MOST_SHOWN": MOST_SHOWN,
        "REASONS": REASONS,
        "SIDES": SIDES,
        "TITLES": TITLES,
        "WIDTH": _WIDTH,
        "script": Markup(script),
        "script_digest": base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        "style": Markup(_file("page.css")),
    }
    return templates


def _shown(value: Any) -> Any:
    """A value as the page has it: a text of others on one line, with nothing in it that acts, and a
    number with commas. Markup has been made by a template."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return inline(value)
    return f"{value:,}" if isinstance(value, int) else value


def other_names(aspect: Tally) -> list[str]:
    """How else an aspect is written."""
    spellings = {*map(normalised, aspect.term.split("|"))}
    return [name for name in aspect.spellings if name not in spellings]


def course_of(aspect: Tally, whole: Tally) -> dict[date, Figures]:
    """The figures of an aspect by period; none where there are too few for a picture."""
    if aspect.figures.texts < _ON_AVERAGE * len(whole.periods) or len(whole.periods) < 2:
        return {}
    return {start: aspect.periods.get(start, Figures()) for start in whole.periods}


def spoken(periods: Mapping[date, Figures], unit: Unit, side: Side) -> str:
    """The first and the last period with texts, for those who do not see the picture."""
    shares = [
        f"{period_name(start, unit)} {share(part, side)} {side}"
        for start, part in periods.items()
        if part.texts
    ]
    return f"from {shares[0]} to {shares[-1]}" if len(shares) > 1 else "".join(shares) or "no texts"


def axis(periods: Mapping[date, Figures], side: Side) -> tuple[int, int]:
    """The ends of the axis in percent: tens around the shares of all periods."""
    shares = [interval.value for part in periods.values() if (interval := part.share(side))]
    low, high = (min(shares), max(shares)) if shares else (0.0, 1.0)
    bottom = min(math.floor(10 * low), 9)
    return 10 * bottom, max(10 * math.ceil(10 * high), 10 * bottom + 10)


def course_paths(
    periods: Mapping[date, Figures], side: Side, first: date | None
) -> Iterator[tuple[str, str]]:
    """The share of a side of each period, from one end of the axis to the other, as classes with
    their paths: points with a line, and their intervals as a band. A period without texts is a gap.
    `first`: the period at which a line is drawn."""
    step, ends = _WIDTH / max(len(periods), 1), axis(periods, side)
    shares = [(n, part.share(side)) for n, part in enumerate(periods.values())]
    for _, run in groupby(shares, key=lambda pair: pair[1] is None):
        points = [((n + 0.5) * step, interval) for n, interval in run if interval is not None]
        if points:
            yield from _line(points, step, ends)
    if first is not None and first in periods:
        yield "grid", f"M{[*periods].index(first) * step:.1f} 0V100"


def _line(
    points: Sequence[tuple[float, Interval]], step: float, ends: tuple[int, int]
) -> Iterator[tuple[str, str]]:
    """The band, the line and the points of periods that follow each other."""

    def point(x: float, share: float) -> str:
        height = (100 * share - ends[0]) / (ends[1] - ends[0])
        return f"{x:.1f} {100 - 100 * min(max(height, 0.0), 1.0):.1f}"

    wide = points
    if len(points) == 1:  # a band has a width
        (x, share), half = points[0], step / 4
        wide = [(x - half, share), (x + half, share)]
    top = [point(x, share.high or 0.0) for x, share in wide]
    foot = [point(x, share.low or 0.0) for x, share in reversed(wide)]
    middle = [point(x, share.value) for x, share in points]
    yield "band", f"M{'L'.join(top + foot)}Z"
    yield "line", f"M{'L'.join(middle)}"
    yield "points", "".join(f"M{place}h0" for place in middle)


def marked(quote: Quote) -> Markup:
    """The text of a quote, with tags around the term and what decides. Where these cross, the inner
    tags are closed and opened again."""
    nowhere, drawn = Span(0, 0), Markup()
    decides = _bare(quote.text, quote.because or quote.term or nowhere)
    spans = {
        Markup('<span class="term">{}</span>'): quote.term or nowhere,
        Markup('<mark class="%s">{}</mark>') % SIDES[quote.side]: decides,
    }
    for start, end in pairwise(sorted({0, len(quote.text), *chain(*spans.values())})):
        part: str = escaped(" ".join(quote.text[start:end].split("\n")))
        for tags, span in spans.items():
            if span.start <= start and end <= span.end:
                part = tags.format(part)
        drawn += part
    return drawn


def _bare(text: str, span: Span) -> Span:
    """Some characters of a text without marks and spaces at their ends."""
    part = text[slice(*span)]
    start = span.start + len(part) - len(part.lstrip(MARKS))
    return Span(start, start + len(part.strip(MARKS)))
