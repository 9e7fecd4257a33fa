"""What is counted of texts while they stream by: sides, polarity, terms, phrases, quotes."""

from collections import Counter
from collections.abc import Iterable
from datetime import date
from typing import Final, NamedTuple, Self

from thinstack.integrations.report.statistics import Interval, mean_interval

SIDES: Final = (-1, 0, 1)

MOST_SAID: Final = 200
"""Phrases of one side that are kept of what is said of a term; half of them where there are
more."""

QUOTES: Final = 3
"""Quotes that are kept of each side of a term."""


class Span(NamedTuple):
    """Characters [start, end) of a sentence."""

    start: int
    end: int


class Quote(NamedTuple):
    """A sentence that speaks of a term.

    Attributes:
        text: the sentence, or a part of it.
        term, because: where the term stands in it, and the phrase that decides, if there is one.
        side: -1, 0 or 1.
        place: where the text is in its table, such as "line 12".
    """

    text: str
    term: Span
    because: Span | None
    side: int
    place: str


class Tally:
    """How many texts speak for each side, and the mean of their polarity, by Welford's method."""

    __slots__ = ("_squares", "mean", "negative", "neutral", "positive")

    def __init__(self) -> None:
        self.negative = self.neutral = self.positive = 0
        self.mean = self._squares = 0.0

    @property
    def texts(self) -> int:
        """How many there are."""
        return self.negative + self.neutral + self.positive

    def add(self, side: int, polarity: float) -> None:
        """Count a text."""
        self.negative += side < 0
        self.neutral += side == 0
        self.positive += side > 0
        before = polarity - self.mean
        self.mean += before / self.texts
        self._squares += before * (polarity - self.mean)

    def merge(self, other: "Tally") -> None:
        """Count the texts of another tally too (Chan, Golub and LeVeque 1983)."""
        mine, theirs = self.texts, other.texts
        if theirs:
            between = other.mean - self.mean
            self.mean += between * theirs / (mine + theirs)
            self._squares += other._squares + between**2 * mine * theirs / (mine + theirs)
        self.negative += other.negative
        self.neutral += other.neutral
        self.positive += other.positive

    def polarity(self) -> Interval | None:
        """The mean with its interval; None without texts."""
        count = self.texts
        if not count:
            return None
        return mean_interval(count, self.mean, self._squares / (count - 1) if count > 1 else 0.0)


class Tallies(Tally):
    """A tally of all texts, and one for each group and each period that they are of."""

    __slots__ = ("groups", "periods")

    def __init__(self) -> None:
        super().__init__()
        self.groups: dict[str, Tally] = {}
        self.periods: dict[date, Tally] = {}

    def count(self, side: int, polarity: float, group: str | None, period: date | None) -> None:
        """Count a text of a group and a period, which may be unknown."""
        self.add(side, polarity)
        if group is not None:
            self.groups.setdefault(group, Tally()).add(side, polarity)
        if period is not None:
            self.periods.setdefault(period, Tally()).add(side, polarity)

    def join(self, other: Self) -> None:
        """Count what another one has counted too."""
        self.merge(other)
        for name, tally in other.groups.items():
            self.groups.setdefault(name, Tally()).merge(tally)
        for start, tally in other.periods.items():
            self.periods.setdefault(start, Tally()).merge(tally)


class TermTally(Tallies):
    """What is counted of a term: the texts that speak of it, its mentions, what is said, quotes."""

    __slots__ = ("_quotes", "mentions", "names", "said")

    def __init__(self) -> None:
        super().__init__()
        self.mentions = 0
        self.names: Counter[str] = Counter()
        self.said: dict[int, Counter[str]] = {}
        self._quotes: dict[int, dict[tuple[int, int], Quote]] = {}

    def say(self, side: int, phrase: str) -> None:
        """Count a phrase that decides for a side, if it is one. Where there are too many, the
        rarest go."""
        if not phrase:
            return
        said = self.said.setdefault(side, Counter())
        said[phrase] += 1
        if len(said) > MOST_SAID:
            self.said[side] = Counter(dict(said.most_common(MOST_SAID // 2)))

    def wants(self, side: int, rank: tuple[int, int]) -> bool:
        """Whether a quote of this rank would be kept: the lowest are, and one of each rank."""
        kept = self._quotes.get(side, {})
        return len(kept) < QUOTES or rank < max(kept)

    def quote(self, rank: tuple[int, int], quote: Quote) -> None:
        """Keep a quote that `wants` has asked for."""
        kept = self._quotes.setdefault(quote.side, {})
        kept[rank] = quote
        if len(kept) > QUOTES:
            del kept[max(kept)]

    def quotes(self, side: int) -> list[Quote]:
        """The quotes of a side in order of their ranks."""
        return [quote for _, quote in sorted(self._quotes.get(side, {}).items())]

    def join(self, other: Self) -> None:
        """Count what is counted of another name of the same term too."""
        super().join(other)
        self.mentions += other.mentions
        self.names.update(other.names)
        for side, said in other.said.items():
            self.said.setdefault(side, Counter()).update(said)
        for side, quotes in other._quotes.items():
            for rank, quote in quotes.items():
                if self.wants(side, rank):
                    self.quote(rank, quote)


def side_of(sides: Iterable[int]) -> int:
    """The side of a text that speaks of a term several times: that of most mentions; 0 where both
    sides have as many."""
    total = sum(sides)
    return (total > 0) - (total < 0)
