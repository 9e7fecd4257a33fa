"""What is counted of texts while they stream by: sides, polarity, terms, phrases, quotes."""

from collections import Counter
from datetime import date
from typing import Final, Literal, NamedTuple, Self

from thinstack.integrations.report.rows import Span
from thinstack.integrations.report.statistics import Interval, mean_interval, share_interval

Side = Literal["negative", "neutral", "positive"]

SIDES: dict[int, Side] = {-1: "negative", 0: "neutral", 1: "positive"}
"""The names of the sides by their numbers."""

MOST_SAID: Final = 200
"""Phrases of one side that are kept of what is said of a term, and spellings of it; half of them
where there are more."""

QUOTES: Final = 3
"""Quotes that are kept of each side of a term, unless a user says how many."""

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


class Figures:
    """How many texts speak for each side, and the mean of their polarity, by Welford's method."""

    __slots__ = ("_mean", "_squares", "negative", "neutral", "positive")

    def __init__(self) -> None:
        self.negative = self.neutral = self.positive = 0
        self._mean = self._squares = 0.0

    @property
    def counts(self) -> tuple[int, int, int]:
        """How many speak for each side, in the order of `SIDES`."""
        return self.negative, self.neutral, self.positive

    @property
    def texts(self) -> int:
        """How many there are."""
        return self.negative + self.neutral + self.positive

    @property
    def polarity(self) -> Interval | None:
        """The mean from -1 to 1, with its interval; None without texts."""
        count = self.texts
        if not count:
            return None
        return mean_interval(count, self._mean, self._squares / (count - 1) if count > 1 else 0.0)

    def count(self, side: Side) -> int:
        """How many speak for a side."""
        count: int = getattr(self, side)
        return count

    def share(self, side: Side) -> Interval | None:
        """The share of the texts that speak for a side, with its interval; None without texts."""
        return share_interval(self.count(side), self.texts) if self.texts else None

    def add(self, side: int, polarity: float) -> None:
        """Count a text, whose side is -1, 0 or 1."""
        self.negative += side < 0
        self.neutral += side == 0
        self.positive += side > 0
        before = polarity - self._mean
        self._mean += before / self.texts
        self._squares += before * (polarity - self._mean)

    def merge(self, other: "Figures") -> None:
        """Count the texts of others too (Chan, Golub and LeVeque 1983)."""
        mine, theirs = self.texts, other.texts
        if theirs:
            between = other._mean - self._mean
            self._mean += between * theirs / (mine + theirs)
            self._squares += other._squares + between**2 * mine * theirs / (mine + theirs)
        self.negative += other.negative
        self.neutral += other.neutral
        self.positive += other.positive


class Tally:
    """What is counted of a term, or of all texts: the texts that speak of it, also by group and by
    period; its mentions, how it is written, what is said of it, and quotes."""

    __slots__ = (
        *("_most_quotes", "_quotes", "figures", "groups", "mentions", "names", "periods", "said"),
    )

    def __init__(self, most_quotes: int = QUOTES) -> None:
        self._most_quotes = most_quotes
        self.figures, self.mentions = Figures(), 0
        self.groups: dict[str, Figures] = {}
        self.periods: dict[date, Figures] = {}
        self.names: Counter[str] = Counter()
        self.said: dict[int, Counter[str]] = {}
        self._quotes: dict[int, dict[Rank, Quote]] = {}

    def count(self, side: int, polarity: float, group: str | None, period: date | None) -> None:
        """Count a text of a group and a period, which may be unknown."""
        self.figures.add(side, polarity)
        if group is not None:
            self.groups.setdefault(group, Figures()).add(side, polarity)
        if period is not None:
            self.periods.setdefault(period, Figures()).add(side, polarity)

    def name(self, spelling: str) -> None:
        """Count a mention, as it is written. Where there are too many spellings, the rarest go."""
        self.mentions += 1
        self.names[spelling] += 1
        if len(self.names) > MOST_SAID:
            self.names = Counter(dict(self.names.most_common(MOST_SAID // 2)))

    def say(self, side: int, phrase: str) -> None:
        """Count a phrase that decides for a side. Where there are too many, the rarest go."""
        said = self.said.setdefault(side, Counter())
        said[phrase] += 1
        if len(said) > MOST_SAID:
            self.said[side] = Counter(dict(said.most_common(MOST_SAID // 2)))

    def quote(self, rank: Rank, quote: Quote) -> None:
        """Keep a quote, one of each rank, if it is among the lowest of its side."""
        quotes = self._quotes.setdefault(quote.side, {})
        if len(quotes) == self._most_quotes and rank >= max(quotes):
            return
        quotes[rank] = quote
        if len(quotes) > self._most_quotes:
            del quotes[max(quotes)]

    def quotes(self, *sides: int) -> list[Quote]:
        """The quotes of some sides in order of their ranks."""
        ranked = [pair for side in sides for pair in self._quotes.get(side, {}).items()]
        return [quote for _, quote in sorted(ranked)]

    def join(self, other: Self) -> None:
        """Count what is counted of another name of the same term too."""
        self.figures.merge(other.figures)
        for name, figures in other.groups.items():
            self.groups.setdefault(name, Figures()).merge(figures)
        for start, figures in other.periods.items():
            self.periods.setdefault(start, Figures()).merge(figures)
        self.mentions += other.mentions
        self.names.update(other.names)
        for side, said in other.said.items():
            self.said.setdefault(side, Counter()).update(said)
        for quotes in other._quotes.values():
            for rank, quote in quotes.items():
                self.quote(rank, quote)
