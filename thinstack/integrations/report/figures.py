"""The figures of a report, as plain data."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from datetime import date
from typing import Any, Final, NamedTuple

from thinstack.integrations.report.calendar import Unit
from thinstack.integrations.report.rows import Kind
from thinstack.integrations.report.statistics import Interval
from thinstack.integrations.report.tally import SIDES, Figures, Quote, Side
from thinstack.integrations.report.terms import Said


class Group(NamedTuple):
    """The texts that have one value in the column that a report is made by."""

    name: str
    figures: Figures


class Period(NamedTuple):
    """The texts of a day, a week, a month or a year, by its first day."""

    start: date
    figures: Figures


@dataclass(frozen=True, slots=True)
class AspectFigures:
    """What the texts say of one term.

    A text that speaks of it several times counts once, for the side of most of these mentions. It
    is neutral if there are as many of both.

    Attributes:
        term: the term in lower case.
        names: as it is written, the most frequent first.
        mentions: how often they speak of it.
        figures: those of the texts that do.
        said: the phrases that decide for either side, and how often each is said.
        quotes: sentences, of the sides as they are shared out.
        groups, periods: the same by group and by period, of those in which someone speaks of it.
    """

    term: str
    names: tuple[str, ...]
    mentions: int
    figures: Figures
    said: Mapping[Side, tuple[Said, ...]]
    quotes: tuple[Quote, ...] = ()
    groups: tuple[Group, ...] = ()
    periods: tuple[Period, ...] = ()


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference between a group and the other one, or all others together, that is more than
    chance would give.

    Attributes:
        term: the aspect; None for the texts as a whole.
        side: whose share differs.
        group: the group.
        here, there: the figures in it, and outside.
        p: how probable so large a difference is where there is none.
        adjusted: the same, adjusted for the number of comparisons.
    """

    term: str | None
    side: Side
    group: str
    here: Figures
    there: Figures
    p: float
    adjusted: float

    def to_dict(self) -> dict[str, Any]:
        """The same as data ready for JSON: of the figures only those of the side."""
        data: dict[str, Any] = {"term": self.term, "side": self.side, "group": self.group}
        for name, figures in (("here", self.here), ("there", self.there)):
            count, share = figures.count(self.side), plain(figures.share(self.side))
            data[name] = {"texts": figures.texts, self.side: count, "share": share}
        return data | {"p": self.p, "adjusted": self.adjusted}


class Example(NamedTuple):
    """Where something could not be read, and why."""

    place: str
    reason: str


class Unread(NamedTuple):
    """What could not be read for one reason: how many rows, and the first of them."""

    kind: Kind
    rows: int
    examples: tuple[Example, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """The texts by the values of a column.

    Attributes:
        column: its name.
        groups: those of the most rows, at most 50.
        others: how many more there are, which are not told apart.
        tests: how many pairs of shares were compared.
        differences: those beyond chance, the surest first.
        uncounted: whether there are more than `others`, too many to count.
    """

    column: str
    groups: tuple[Group, ...]
    others: int
    tests: int
    differences: tuple[Difference, ...]
    uncounted: bool = False


@dataclass(frozen=True, slots=True)
class Course:
    """The texts over time: the column of the dates, the unit, and each period in order, those
    without texts too."""

    column: str
    unit: Unit
    periods: tuple[Period, ...]


_KEYS: Final = {
    "name": "group",
    "uncounted": "others_uncounted",
    "rare": "rare_terms",
    "without": "texts_without_terms",
    "of_mentions": "sides_of_mentions",
}
"""Keys that say more than the names of attributes, which stand in a class."""


def plain(value: Any) -> Any:
    """A part of a report as data ready for JSON."""
    if isinstance(value, Difference):
        return value.to_dict()
    if isinstance(value, Figures):
        counts = dict(zip(SIDES.values(), value.counts, strict=True))
        shares = {f"share_{side}": plain(value.share(side)) for side in SIDES.values()}
        return {"texts": value.texts} | counts | shares | {"polarity": plain(value.polarity)}
    if isinstance(value, Interval):
        ends = value._asdict().items()
        return {name: None if end is None else round(end, 6) for name, end in ends}
    if isinstance(value, Quote):
        because = None if value.because is None else value.text[slice(*value.because)]
        said = {"side": SIDES[value.side], "term": value.text[slice(*value.term)]}
        return {"text": value.text} | said | {"because": because, "place": value.place}
    if isinstance(value, Mapping):
        return {name: plain(part) for name, part in value.items()}
    if isinstance(value, date):
        return value.isoformat()
    if is_dataclass(value) or hasattr(value, "_fields"):
        return attributes(value)
    return [plain(part) for part in value] if isinstance(value, tuple) else value


def attributes(value: Any) -> dict[str, Any]:
    """The attributes of a part of a report, by their names or `_KEYS`, as data ready for JSON.
    Figures stand among the attributes of what they are of."""
    names = value._fields if hasattr(value, "_fields") else [field.name for field in fields(value)]
    data: dict[str, Any] = {}
    for name in names:
        part = plain(getattr(value, name))
        data |= part if name == "figures" else {_KEYS.get(name, name): part}
    return data
