"""What is counted of texts while they stream by: sides, polarity, terms, phrases, quotes."""

from collections import Counter
from datetime import date
from typing import Final, NamedTuple, Self

from thinstack.integrations.report.mentions import Span
from thinstack.integrations.report.statistics import Interval, mean_interval

MOST_SAID: Final = 200
"""Phrases of one side that are kept of what is said of a term; half of them where there are
more."""

QUOTES: Final = 3
"""Quotes that are kept of each side of a term."""

Rank = tuple[int, int]
"""The place of a quote among others; the lowest are kept."""


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

    __slots__ = ("_squares", "counts", "mean")

    def __init__(self) -> None:
        self.counts = [0, 0, 0]  # of the sides -1, 0 and 1
        self.mean = self._squares = 0.0

    @property
    def texts(self) -> int:
        """How many there are."""
        return sum(self.counts)

    def add(self, side: int, polarity: float) -> None:
        """Count a text."""
        self.counts[side + 1] += 1
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
        self.counts = [one + two for one, two in zip(self.counts, other.counts, strict=True)]

    def polarity(self) -> Interval | None:
        """The mean with its interval; None without texts."""
        count = self.texts
        if not count:
            return None
        return mean_interval(count, self.mean, self._squares / (count - 1) if count > 1 else 0.0)


class TermTally(Tally):
    """What is counted of a term, or of all texts: the texts that speak of it, also by group and by
    period; its mentions, how it is written, what is said of it, and quotes."""

    __slots__ = ("_quotes", "groups", "mentions", "names", "periods", "said")

    def __init__(self) -> None:
        super().__init__()
        self.groups: dict[str, Tally] = {}
        self.periods: dict[date, Tally] = {}
        self.mentions = 0
        self.names: Counter[str] = Counter()
        self.said: dict[int, Counter[str]] = {}
        self._quotes: dict[int, dict[Rank, Quote]] = {}

    def count(self, side: int, polarity: float, group: str | None, period: date | None) -> None:
        """Count a text of a group and a period, which may be unknown."""
        self.add(side, polarity)
        if group is not None:
            self.groups.setdefault(group, Tally()).add(side, polarity)
        if period is not None:
            self.periods.setdefault(period, Tally()).add(side, polarity)

    def say(self, side: int, phrase: str) -> None:
        """Count a phrase that decides for a side. Where there are too many, the rarest go."""
        said = self.said.setdefault(side, Counter())
        said[phrase] += 1
        if len(said) > MOST_SAID:
            self.said[side] = Counter(dict(said.most_common(MOST_SAID // 2)))

    def quote(self, rank: Rank, quote: Quote) -> None:
        """Keep a quote, one of each rank, if it is among the lowest of its side."""
        quotes = self._quotes.setdefault(quote.side, {})
        if len(quotes) == QUOTES and rank >= max(quotes):
            return
        quotes[rank] = quote
        if len(quotes) > QUOTES:
            del quotes[max(quotes)]

    def quotes(self, side: int) -> list[Quote]:
        """The quotes of a side in order of their ranks."""
        return [quote for _, quote in sorted(self._quotes.get(side, {}).items())]

    def join(self, other: Self) -> None:
        """Count what is counted of another name of the same term too."""
        self.merge(other)
        for name, tally in other.groups.items():
            self.groups.setdefault(name, Tally()).merge(tally)
        for start, tally in other.periods.items():
            self.periods.setdefault(start, Tally()).merge(tally)
        self.mentions += other.mentions
        self.names.update(other.names)
        for side, said in other.said.items():
            self.said.setdefault(side, Counter()).update(said)
        for quotes in other._quotes.values():
            for rank, quote in quotes.items():
                self.quote(rank, quote)
