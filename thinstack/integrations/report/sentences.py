"""The summary of a report, as sentences."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from thinstack.errors import escaped
from thinstack.integrations.report.collect import asked_name
from thinstack.integrations.report.dates import Unit, period_name
from thinstack.integrations.report.findings import Change, Difference, change_of, differences
from thinstack.integrations.report.tally import Figures, Side, Tally, share_interval
from thinstack.integrations.show.marks import percent

if TYPE_CHECKING:
    from thinstack.integrations.report.report import Report
    from thinstack.integrations.themes.themes import Part

_IN_SHORT: Final = 3  # terms in a sentence, and differences
_LONGEST_NAME: Final = 100  # characters of a group's name
_PARTS: Final = {
    1 / 4: "a quarter",
    1 / 3: "a third",
    1 / 2: "half",
    2 / 3: "two thirds",
    3 / 4: "three quarters",
    1.0: "nearly all",
}


def in_short(report: "Report") -> Iterator[str]:
    """Yield the key sentences."""
    change = report.change
    if change is not None and report.unit is not None:
        yield f"{change_sentence(change, report.unit)}."
    elif report.over is not None:
        yield "There are no significant changes over time."
    if report.by is not None and not report.differences:
        yield f"There are no significant differences by {report.by}."
    for difference in report.differences[:_IN_SHORT]:
        if not (change and change.group and change.alone and difference.group == change.group[0]):
            yield f"{difference_sentence(difference)}."
    yield from _of_themes(report)
    yield from _of_terms([tally for tally in report.aspects if tally.figures.texts])


def change_sentence(change: Change, unit: Unit) -> str:
    """Describe when and how much the texts changed, which group changed most, and the cause."""
    (when, other), side = _when(change, unit), change.side

    def shares(here: Figures, there: Figures) -> str:
        return f"{share(here, side)}, compared with {share(there, side)} {other}"

    where = ""
    if change.group:
        name, here, there = change.group
        most = "only" if change.alone else "most of all"
        where = f"; {most} in {both_ends(name)} ({shares(here, there)})"
        if not change.of_all:
            change, where = change._replace(here=here, there=there), ""
            when = f"{when}, in {both_ends(name)}"
    points = round(100 * change.gain)
    more = f"{abs(points)} point{'s' * (abs(points) != 1)} {'more' if points > 0 else 'fewer'}"
    text = f"{when}, {more} are {side}: {shares(change.here, change.there)}{where}"
    if change.cause:
        cause, part = change.cause
        nearest = min(_PARTS, key=lambda size: abs(size - part))
        text += f"; {cause} accounts for {_PARTS[nearest]} of it"
    return text


def _when(change: Change, unit: Unit) -> tuple[str, str]:
    """Describe the time of a change, and the other periods."""
    first, last = period_name(change.first, unit), period_name(change.last, unit)
    if change.lasts:
        return f"From {first} on", "before"
    if change.first != change.last:
        return f"From {first} to {last}", "otherwise"
    start = {"day": "On", "week": "In the week of"}.get(unit, "In")
    return f"{start} {first}", "otherwise"


def difference_sentence(difference: Difference) -> str:
    """Describe which group differs from which, in what, and how significantly."""
    term, side, (here, there) = difference.term, difference.side, difference[4:6]
    what = "" if term is None else f"On {asked_name(term)}, "
    verdict, where = "better" if difference.better else "worse", "elsewhere"
    if len(difference.others) <= _IN_SHORT:
        where = f"in {enumerated([both_ends(other) for other in difference.others])}"
    p = "p < 0.001" if difference.adjusted < 0.001 else f"p = {difference.adjusted:.3f}"
    also = enumerated([asked_name(name) for name in difference.also[:_IN_SHORT]])
    return (
        f"{what}{both_ends(difference.group)} is {verdict}: {share(here, side)} {side} "
        f"(of {here.texts:,}), {share(there, side)} {where} (of {there.texts:,}); "
        f"{p}{also and f'; also on {also}'}"
    )


def figures_of(parts: "Sequence[Part]") -> dict[Any, Figures]:
    """Map the names of groups or periods to the figures of a theme (`Part.figures`)."""
    return {part.name: part.figures for part in parts}


def trend(parts: "Sequence[Part]", unit: Unit, themes: int) -> str:
    """Describe when the share of one of `themes` themes changed: "14% from Jul 2024 on, compared
    with 2% before"; "" if it did not change significantly."""
    change = change_of(figures_of(parts), {}, {}, tries=themes)
    if change is None:
        return ""
    when, other = _when(change, unit)
    here, there = (share(figures, "negative") for figures in (change.here, change.there))
    return f"{here} {when[0].lower()}{when[1:]}, compared with {there} {other}"


def _of_themes(report: "Report") -> Iterator[str]:
    """Yield the most frequent complaints, and when and where complaints are more frequent."""
    if report.themes is None:
        return
    complaints = [theme for theme in report.themes if theme.side == "negative"]
    if complaints:
        most = [f"“{one.title}” ({percent(one.share.value)})" for one in complaints[:_IN_SHORT]]
        yield f"Most frequent complaints: {enumerated(most)} of {report.themes.texts_counted}."
    _, worse = differences({theme.title: figures_of(theme.groups) for theme in complaints})
    for theme in complaints:
        change = report.themes.trend(theme)
        places = [
            one.group for one in worse if theme.title in (one.term, *one.also) and not one.better
        ]
        text = f"Complaints like “{theme.title}”: {percent(theme.share.value)} of the texts"
        if change:
            text += f"; {change}"
        if places:
            text += f"; most of all in {enumerated(list(map(both_ends, places)))}"
        if change or places:
            yield f"{text}."


def _of_terms(aspects: Sequence[Tally]) -> Iterator[str]:
    """Yield the terms that are praised, criticized and mentioned most. Opinions about a term that
    is among both the most praised and the most criticized are divided."""
    praised, criticized = (_most(aspects, side) for side in ("positive", "negative"))
    both = [tally for tally in praised if tally in criticized]
    sentences: tuple[tuple[str, list[Tally], list[Side]], ...] = (
        ("Most praised:", [one for one in praised if one not in both], ["positive"]),
        ("Most criticized:", [one for one in criticized if one not in both], ["negative"]),
        ("Opinions differ about", both, ["positive", "negative"]),
    )
    for start, tallies, sides in sentences:
        parts = list[str]()
        for tally in tallies:
            shares = ", ".join(f"{share(tally.figures, side)} {side}" for side in sides)
            parts.append(f"{asked_name(tally.term)} ({shares} of {tally.figures.texts:,})")
        if parts:
            yield f"{start} {enumerated(parts)}."


def _most(aspects: Sequence[Tally], side: Side) -> list[Tally]:
    """Return the terms with the largest share of a side, ranked by the lower ends of the intervals
    so that a few texts do not put a term first."""

    def least(tally: Tally) -> float:
        return share_interval(tally.figures.count(side), tally.figures.texts).low or 0.0

    some = [tally for tally in aspects if tally.figures.count(side) > 1]
    return sorted(some, key=least, reverse=True)[:_IN_SHORT]


def share(figures: Figures, side: Side) -> str:
    """Format the share of a side: "84%"."""
    interval = figures.share(side)
    return percent(interval.value) if interval else "–"


def texts(count: int) -> str:
    """Format a number of texts."""
    return f"{count:,} text{'s' * (count != 1)}"


def enumerated(parts: Sequence[str]) -> str:
    """Join the parts of a sentence with commas and "and"."""
    return " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))


def both_ends(group: str) -> str:
    """Format the name of a group on one line; the middle of a long one is elided."""
    name = escaped(group)
    if len(name) <= _LONGEST_NAME:
        return name
    return f"{name[: _LONGEST_NAME // 2]} … {name[-_LONGEST_NAME // 2 :]}"
