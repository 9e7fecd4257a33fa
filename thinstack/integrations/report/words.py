"""The words and numbers of the page, and its tables."""

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import Final

from thinstack.integrations.report.figures import AspectFigures, Figures, Period, Side
from thinstack.integrations.report.periods import Unit, period_name
from thinstack.integrations.report.pictures import bar, percent
from thinstack.integrations.report.statistics import Interval
from thinstack.integrations.report.terms import asked_name
from thinstack.integrations.show.outline import visible

LEGEND: Final = (
    '<p class="legend" aria-hidden="true"><span style="--c:var(--n)">negative</span>'
    '<span style="--c:var(--o)">neutral</span><span style="--c:var(--p)">positive</span></p>\n'
)
_HEADS: Final = ("Texts", "Shares", "Positive", "Negative")
_CLASSES: Final = ("number", "picture", "number", "number")


def safe(text: str) -> str:
    """A text of others as markup: on one line, with nothing in it that acts."""
    return escape(visible(text))


def named(aspect: AspectFigures) -> str:
    """The name of an aspect as markup: the term, or the names that a user has given to it."""
    return safe(asked_name(aspect.term))


def texts(count: int) -> str:
    """So many texts."""
    return f"{count:,} text{'s' * (count != 1)}"


def share(found: Interval | None) -> str:
    """A share and its interval as the content of a cell."""
    if found is None:
        return "–"
    low, high = percent(found.low or 0.0), percent(found.high or 0.0)
    return f"{percent(found.value)} <small>({low[:-1]}–{high})</small>"


def of_side(figures: Figures, side: Side) -> str:
    """The share of a side, in a sentence: "84% positive"."""
    found = figures.share(side)
    return f"{percent(found.value) if found else '–'} {side}"


def signed(number: float) -> str:
    """A polarity: +0.31 or −0.05."""
    return f"{number:+.2f}".replace("-", "−")


def polarity(found: Interval | None) -> str:
    """A polarity and its interval as the content of a cell."""
    if found is None:
        return "–"
    if found.low is None or found.high is None:
        return signed(found.value)
    return f"{signed(found.value)} <small>({signed(found.low)} to {signed(found.high)})</small>"


def period(start: Period, unit: Unit) -> str:
    """The name of a period."""
    return period_name(start.start, unit)


def heading(level: int, name: str, place: str) -> str:
    """A heading that a link may lead to."""
    return f'<h{level} id="{place}">{name}</h{level}>\n'


def table(caption: str, first: str, rows: Iterable[tuple[str, Figures]]) -> Iterator[str]:
    """A table of figures. `first`: the head of the first column; `rows`: the first cell of each
    row, as markup, and its figures."""
    heads = [*zip(_HEADS, _CLASSES, strict=True)]
    yield f'<table class="figures">\n<caption>{caption}</caption>\n<thead><tr>'
    yield f'<th scope="col">{first}</th>'
    yield from (f'<th scope="col" class="{kind}">{head}</th>' for head, kind in heads)
    yield "</tr></thead>\n<tbody>\n"
    for name, figures in rows:
        cells = [f"{figures.texts:,}", bar(figures) if figures.texts else ""]
        cells += [share(figures.share("positive")), share(figures.share("negative"))]
        yield f'<tr><th scope="row">{name}</th>'
        for cell, kind in zip(cells, _CLASSES, strict=True):
            yield f'<td class="{kind}">{cell}</td>'
        yield "</tr>\n"
    yield "</tbody>\n</table>\n"


def grid(
    caption: str, heads: Sequence[str], rows: Iterable[tuple[str, Sequence[str]]]
) -> Iterator[str]:
    """A table whose cells are markup. `heads`: those of all columns."""
    yield f'<table class="groups">\n<caption>{caption}</caption>\n<thead><tr>'
    yield from (f'<th scope="col">{head}</th>' for head in heads)
    yield "</tr></thead>\n<tbody>\n"
    for name, cells in rows:
        yield f'<tr><th scope="row">{name}</th>'
        yield from (f"<td>{cell}</td>" for cell in cells)
        yield "</tr>\n"
    yield "</tbody>\n</table>\n"


def listed(parts: Sequence[str]) -> str:
    """Parts of a sentence: "a, b and c"."""
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
