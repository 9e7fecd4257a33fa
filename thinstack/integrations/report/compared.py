"""The parts of the page on groups and on time."""

from collections.abc import Iterator, Sequence
from typing import Final

from thinstack.integrations.report.figures import (
    AspectFigures,
    Comparison,
    Course,
    Difference,
    Figures,
    Period,
)
from thinstack.integrations.report.pictures import columns, course, percent
from thinstack.integrations.report.terms import asked_name
from thinstack.integrations.report.words import grid, heading, named, of_side, period, safe, table

MOST_GROUPS: Final = 12
"""Groups that the page shows; JSON and CSV have all."""

MOST_DIFFERENCES: Final = 20
"""Differences that the page lists."""

_SIDE_BY_SIDE: Final = 4  # groups in one table of aspects, which fit a narrow screen
_ON_AVERAGE: Final = 4  # texts of each period, so that an aspect has a picture over time
_LONGEST_NAME: Final = 100  # characters of the name of a group
_ASPECTS: Final = 12  # in these tables


def compared(found: Comparison, aspects: Sequence[AspectFigures]) -> Iterator[str]:
    """The groups side by side, what differs between them, and the aspects by group."""
    name = safe(found.column)
    shown = found.groups[:MOST_GROUPS]
    yield heading(2, f"By {name}", "by")
    more = len(found.groups) - len(shown) + found.others
    least = "At least " if found.uncounted else ""
    left = f" {least}{more:,} more are not shown." if more else ""
    caption = f"The texts by {name}, those of most texts first.{left}"
    rows = [(_name(group.name), group.figures) for group in shown]
    yield from table(caption, name.capitalize(), rows)
    yield from _differences(found)
    surer = {(each.term, each.group): each for each in reversed(found.differences)}
    for start in range(0, len(shown), _SIDE_BY_SIDE):
        some = [group.name for group in shown[start : start + _SIDE_BY_SIDE]]
        if len(found.groups) > 1 and aspects:
            yield from _by_aspect(some, aspects[:_ASPECTS], surer, name)


def _differences(found: Comparison) -> Iterator[str]:
    yield '<h3 id="differences">What differs by more than chance</h3>\n'
    if len(found.groups) < 2:
        yield f"<p>There is only one value of {safe(found.column)}: nothing to compare.</p>\n"
    elif not found.tests:
        yield "<p>There are too few texts of each to compare.</p>\n"
    elif not found.differences:
        yield f"<p>Nothing does: {found.tests:,} pairs of shares were compared.</p>\n"
    else:
        yield '<ul class="facts">\n'
        shown = found.differences[:MOST_DIFFERENCES]
        yield from (f"<li>{difference(each, found)}</li>\n" for each in shown)
        yield "</ul>\n"
        more = len(found.differences) - len(shown)
        yield f'<p class="note">{found.tests:,} pairs of shares were compared.'
        yield f" {more:,} more differences are not shown.</p>\n" if more else "</p>\n"


def difference(found: Difference, among: Comparison) -> str:
    """A difference as a sentence."""
    what = "all texts" if found.term is None else safe(asked_name(found.term))
    other = [group.name for group in among.groups if group.name != found.group]
    there = _name(other[0]) if len(among.groups) == 2 else "all others"
    return (
        f"<b>{what}</b>: {of_side(found.here, found.side)} in <b>{_name(found.group)}</b> "
        f"(of {found.here.texts:,}), {of_side(found.there, found.side)} in {there} "
        f"(of {found.there.texts:,}); {_p(found.adjusted)}"
    )


def _name(group: str) -> str:
    """The name of a group as markup; of a long one both ends."""
    if len(group) > _LONGEST_NAME:
        group = f"{group[: _LONGEST_NAME // 2]} … {group[-_LONGEST_NAME // 2 :]}"
    return safe(group)


def _p(value: float) -> str:
    return "p &lt; 0.001" if value < 0.001 else f"p = {value:.3f}"


def _by_aspect(
    groups: Sequence[str],
    aspects: Sequence[AspectFigures],
    surer: dict[tuple[str | None, str], Difference],
    name: str,
) -> Iterator[str]:
    def cell(aspect: AspectFigures, group: str) -> str:
        figures = {each.name: each.figures for each in aspect.groups}.get(group)
        if figures is None:
            return "–"
        found = figures.share("positive")
        share = percent(found.value) if found else "–"
        known = surer.get((aspect.term, group))
        if known is not None:
            better = _better(known)
            share = f'<span class="more {"positive" if better else "negative"}">{share} '
            share += f'<span aria-hidden="true">{"▲" if better else "▼"}</span></span>'
        return f"{share}<small>of {figures.texts:,}</small>"

    caption = (
        f"Share of positive texts of each aspect by {name}, and of how many texts. ▲ and ▼ mark "
        "what is better or worse than elsewhere by more than chance."
    )
    rows = [(named(aspect), [cell(aspect, group) for group in groups]) for aspect in aspects]
    yield from grid(caption, ["Aspect", *map(_name, groups)], rows)


def _better(found: Difference) -> bool:
    """Whether a difference speaks for its group."""
    here, there = found.here.share(found.side), found.there.share(found.side)
    more = bool(here and there and here.value > there.value)
    return more == (found.side == "positive")


def over_time(found: Course) -> Iterator[str]:
    """The texts over time, as a picture and as a table."""
    periods, unit = found.periods, found.unit
    yield heading(2, "Over time", "time")
    names = [period(each, unit) for each in periods]
    figures = [each.figures if each.figures.texts else None for each in periods]
    yield '<div class="time"><div class="scale" aria-hidden="true">'
    yield "<span>100%</span><span>50%</span><span>0%</span></div>\n"
    yield course(figures, f"Share of positive texts by {unit}: {_spoken(periods, names)}")
    counts = [each.figures.texts for each in periods]
    most = f"{max(counts):,}"
    yield f'<div class="scale" aria-hidden="true"><span>{most}</span><span>0</span></div>'
    yield columns(counts, f"Texts by {unit}, at most {most}")
    yield f'\n<div class="ends"><span>{names[0]}</span><span>{names[-1]}</span></div></div>\n'
    caption = (
        f"Texts by {unit}, by the column {safe(found.column)}. The picture has the share of "
        "positive texts with its interval, and below it the number of texts."
    )
    rows = [(name, each.figures) for name, each in zip(names, periods, strict=True)]
    yield from table(caption, unit.capitalize(), rows)


def _spoken(periods: Sequence[Period], names: Sequence[str]) -> str:
    """The first and the last period with texts, for those who do not see the picture."""
    there = [
        f"{name} {of_side(each.figures, 'positive')}"
        for name, each in zip(names, periods, strict=True)
        if each.figures.texts
    ]
    return f"from {there[0]} to {there[-1]}" if len(there) > 1 else "".join(there) or "no texts"


def small_course(aspect: AspectFigures, among: Course) -> Iterator[str]:
    """A small picture of an aspect over time."""
    known = {each.start: each.figures for each in aspect.periods}
    figures: list[Figures | None] = [known.get(each.start) for each in among.periods]
    if aspect.figures.texts < _ON_AVERAGE * len(figures) or len(figures) < 2:
        return
    names = [period(each, among.unit) for each in among.periods]
    there = [Period(each.start, known[each.start]) for each in among.periods if each.start in known]
    spoken = _spoken(there, [period(each, among.unit) for each in there])
    yield "<h4>Share of positive texts over time</h4>\n"
    yield course(figures, f"Share of positive texts by {among.unit}: {spoken}")
    yield f'\n<div class="ends"><span>{names[0]}</span><span>{names[-1]}</span></div>\n'
