"""The figures of a report, as plain data."""

from dataclasses import dataclass
from datetime import date
from typing import Any, Literal, NamedTuple

from thinstack.integrations.report.entries import Kind
from thinstack.integrations.report.periods import Unit
from thinstack.integrations.report.statistics import Interval, wilson
from thinstack.integrations.report.tally import Quote, Tally
from thinstack.integrations.report.terms import Said

Side = Literal["negative", "neutral", "positive"]

NAMES: dict[int, Side] = {-1: "negative", 0: "neutral", 1: "positive"}
"""The sides by their numbers."""


@dataclass(frozen=True, slots=True)
class Figures:
    """How many texts speak for each side, and the mean of their polarity from -1 to 1; None without
    texts."""

    negative: int
    neutral: int
    positive: int
    polarity: Interval | None

    @classmethod
    def of(cls, tally: Tally) -> "Figures":
        """The figures of what was counted."""
        return cls(tally.negative, tally.neutral, tally.positive, tally.polarity())

    @property
    def texts(self) -> int:
        """How many there are."""
        return self.negative + self.neutral + self.positive

    def count(self, side: Side) -> int:
        """How many speak for a side."""
        count: int = getattr(self, side)
        return count

    def share(self, side: Side) -> Interval | None:
        """The share of the texts that speak for a side, with its interval; None without texts."""
        return wilson(self.count(side), self.texts) if self.texts else None

    def to_dict(self) -> dict[str, Any]:
        """The counts, the shares and the polarity, with their intervals."""
        data: dict[str, Any] = {"texts": self.texts}
        data |= {side: self.count(side) for side in NAMES.values()}
        data |= {f"share_{side}": _interval(self.share(side)) for side in NAMES.values()}
        return data | {"polarity": _interval(self.polarity)}


def _interval(found: Interval | None) -> dict[str, float | None] | None:
    if found is None:
        return None
    return {name: end if end is None else round(end, 6) for name, end in found._asdict().items()}


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
        positive, negative: the phrases that decide, and how often each is said.
        quotes: sentences, of the sides as they are shared out.
        groups, periods: the same by group and by period, of those in which someone speaks of it.
    """

    term: str
    names: tuple[str, ...]
    mentions: int
    figures: Figures
    positive: tuple[Said, ...] = ()
    negative: tuple[Said, ...] = ()
    quotes: tuple[Quote, ...] = ()
    groups: tuple[Group, ...] = ()
    periods: tuple[Period, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The same as data ready for JSON."""
        return {
            "term": self.term,
            "names": list(self.names),
            "mentions": self.mentions,
            **self.figures.to_dict(),
            "said": {
                "positive": [said._asdict() for said in self.positive],
                "negative": [said._asdict() for said in self.negative],
            },
            "quotes": [_quote(quote) for quote in self.quotes],
            "groups": group_dicts(self.groups),
            "periods": period_dicts(self.periods),
        }


def _quote(quote: Quote) -> dict[str, Any]:
    because = None if quote.because is None else quote.text[slice(*quote.because)]
    return {
        "text": quote.text,
        "side": NAMES[quote.side],
        "term": quote.text[slice(*quote.term)],
        "because": because,
        "place": quote.place,
    }


def group_dicts(groups: tuple[Group, ...]) -> list[dict[str, Any]]:
    """Groups as data ready for JSON."""
    return [{"group": name} | figures.to_dict() for name, figures in groups]


def period_dicts(periods: tuple[Period, ...]) -> list[dict[str, Any]]:
    """Periods as data ready for JSON."""
    return [{"start": start.isoformat()} | figures.to_dict() for start, figures in periods]


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
        """The same as data ready for JSON."""
        sides = {"here": self.here, "there": self.there}
        return {
            "term": self.term,
            "side": self.side,
            "group": self.group,
            **{name: _of_side(figures, self.side) for name, figures in sides.items()},
            "p": self.p,
            "adjusted": self.adjusted,
        }


def _of_side(figures: Figures, side: Side) -> dict[str, Any]:
    share = _interval(figures.share(side))
    return {"texts": figures.texts, side: figures.count(side), "share": share}


class Unread(NamedTuple):
    """What could not be read for one reason: how many rows, and the first of them."""

    kind: Kind
    rows: int
    examples: tuple[tuple[str, str], ...]

    def to_dict(self) -> dict[str, Any]:
        """The same as data ready for JSON."""
        examples = [{"place": place, "reason": reason} for place, reason in self.examples]
        return {"kind": self.kind, "rows": self.rows, "examples": examples}


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

    def to_dict(self) -> dict[str, Any]:
        """The same as data ready for JSON."""
        return {
            "column": self.column,
            "groups": group_dicts(self.groups),
            "others": self.others,
            "others_uncounted": self.uncounted,
            "tests": self.tests,
            "differences": [each.to_dict() for each in self.differences],
        }


@dataclass(frozen=True, slots=True)
class Course:
    """The texts over time: the column of the dates, the unit, and each period in order, those
    without texts too."""

    column: str
    unit: Unit
    periods: tuple[Period, ...]

    def to_dict(self) -> dict[str, Any]:
        """The same as data ready for JSON."""
        periods = period_dicts(self.periods)
        return {"column": self.column, "unit": self.unit, "periods": periods}
