"""The pages of reports and themes: self-contained HTML files that need no network.

`page.html` is the template of reports, `themes_page.html` that of themes, and `parts.html` contains
their macros. `page.js` sorts and filters the page and contains no data.
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
from thinstack.integrations.report.collect import MARKS, asked_name, normalised
from thinstack.integrations.report.dates import Calendar, Unit, period_name
from thinstack.integrations.report.rows import REASONS, Quote, Span
from thinstack.integrations.report.sentences import (
    both_ends,
    difference_sentence,
    enumerated,
    share,
    texts,
)
from thinstack.integrations.report.tally import SIDES, Figures, Side, Tally
from thinstack.integrations.show.marks import inline, percent
from thinstack.integrations.themes.themes import TITLES, Part, one_decimal, rest

MOST_SHOWN: Final = 20
"""Maximum number of detected aspects on the page; JSON and CSV contain all."""

MOST_GROUPS: Final = 12
"""Maximum number of groups on the page; JSON and CSV contain all."""

_ON_AVERAGE: Final = 4  # texts per period that the chart of an aspect needs
_WIDTH: Final = 1000  # width of a chart of periods in SVG units


def render(name: str, **values: Any) -> str:
    """Render a page with these values."""
    return _templates().get_template(name).render(values)


def _file(name: str) -> str:
    return files("thinstack.integrations.report").joinpath(name).read_text(encoding="utf-8")


@cache
def _templates() -> Environment:
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
        *(marked, one_decimal, other_names, percent, period_name, rest, share, shares_of, spoken),
        texts,
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
    """Format a value for the page: untrusted text on one line, sanitized, and numbers with commas.
    Markup comes from a template and is unchanged."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return inline(value)
    return f"{value:,}" if isinstance(value, int) else value


def other_names(aspect: Tally) -> list[str]:
    """List the other spellings of an aspect."""
    spellings = {*map(normalised, aspect.term.split("|"))}
    return [name for name in aspect.spellings if name not in spellings]


def course_of(aspect: Tally, whole: Tally) -> dict[date, Figures]:
    """Return the figures of an aspect by period; empty if there are too few for a chart."""
    if aspect.figures.texts < _ON_AVERAGE * len(whole.periods) or len(whole.periods) < 2:
        return {}
    return {start: aspect.periods.get(start, Figures()) for start in whole.periods}


def shares_of(periods: Sequence[Part], unit: Unit) -> list[float]:
    """Return the shares of a theme from its first period to the last, 0 in those without texts."""
    shares: dict[Any, float] = {part.name: part.share.value for part in periods}
    return [shares.get(day, 0.0) for day in Calendar(unit, min(shares), max(shares)).periods()]


def spoken(periods: Mapping[date, Figures], unit: Unit, side: Side) -> str:
    """Describe the first and the last period with texts, as alternative text for the chart."""
    shares = [
        f"{period_name(start, unit)} {share(part, side)} {side}"
        for start, part in periods.items()
        if part.texts
    ]
    return f"from {shares[0]} to {shares[-1]}" if len(shares) > 1 else "".join(shares) or "no texts"


def axis(periods: Mapping[date, Figures], side: Side) -> tuple[int, int]:
    """Return the ends of the axis in percent: multiples of ten around the shares of all periods."""
    shares = [interval.value for part in periods.values() if (interval := part.share(side))]
    low, high = (min(shares), max(shares)) if shares else (0.0, 1.0)
    bottom = min(math.floor(10 * low), 9)
    return 10 * bottom, max(10 * math.ceil(10 * high), 10 * bottom + 10)


def course_paths(
    periods: Mapping[date, Figures], side: Side, first: date | None
) -> Iterator[tuple[str, str]]:
    """Yield the share of a side per period, on the scale of the axis, as CSS classes with paths:
    points with a line, and their intervals as a band. A period without texts leaves a gap. `first`:
    the period that a vertical line marks."""
    step, (bottom, top) = _WIDTH / max(len(periods), 1), axis(periods, side)

    def point(x: float, share: float | None) -> str:
        height = (100 * (share or 0.0) - bottom) / (top - bottom)
        return f"{x:.1f} {100 - 100 * min(max(height, 0.0), 1.0):.1f}"

    shares = [(n, part.share(side)) for n, part in enumerate(periods.values())]
    for _, run in groupby(shares, key=lambda pair: pair[1] is None):
        points = [((n + 0.5) * step, interval) for n, interval in run if interval is not None]
        if points:
            (x, share), half = points[0], step / 4  # a single point gets a band with a width
            wide = points if len(points) > 1 else [(x - half, share), (x + half, share)]
            above = [point(x, share.high) for x, share in wide]
            below = [point(x, share.low) for x, share in reversed(wide)]
            middle = [point(x, share.value) for x, share in points]
            yield "band", f"M{'L'.join(above + below)}Z"
            yield "line", f"M{'L'.join(middle)}"
            yield "points", "".join(f"M{place}h0" for place in middle)
    if first is not None and first in periods:
        yield "grid", f"M{[*periods].index(first) * step:.1f} 0V100"


def marked(quote: Quote) -> Markup:
    """Return the text of a quote with tags around the term and the deciding phrase. Where these
    overlap, the inner tags are closed and reopened."""
    nowhere, drawn = Span(0, 0), Markup()
    span = quote.because or quote.term or nowhere
    part = quote.text[slice(*span)]  # without punctuation and spaces at its ends
    start = span.start + len(part) - len(part.lstrip(MARKS))
    decides = Span(start, start + len(part.strip(MARKS)))
    spans = {
        Markup('<span class="term">{}</span>'): quote.term or nowhere,
        Markup('<mark class="%s">{}</mark>') % SIDES[quote.side]: decides,
    }
    for start, end in pairwise(sorted({0, len(quote.text), *chain(*spans.values())})):
        part = escaped(" ".join(quote.text[start:end].split("\n")))
        for tags, span in spans.items():
            if span.start <= start and end <= span.end:
                part = tags.format(part)
        drawn += part
    return drawn
