"""What is counted of texts while they stream by: sides, polarity, terms, phrases, quotes."""

from collections import Counter
from datetime import date
from typing import Final, Literal, NamedTuple, Self

from thinstack.integrations.report.rows import Span
from thinstack.integrations.report.statistics import Interval, mean_interval, share_interval
from thinstack.integrations.report.terms import Said, typical

Side = Literal["negative", "neutral", "positive"]

SIDES: dict[int, Side] = {-1: "negative", 0: "neutral", 1: "positive"}
"""The names of the sides by their numbers."""

MOST_SAID: Final = 200
"""Phrases of one side that are kept of what is said of a term, and spellings of it; half of them
where there are more."""

SAID: Final = 5
"""Phrases of each side that are shown of what is said of a term, and spellings of it."""

QUOTES: Final = 3
"""Quotes that are kept of each side of a term, unless a user says how many."""

Rank = tuple[int, int]
"""The place of a quote among others; the lowest are kept."""


class Quote(NamedTuple):
    """What a text says, or the sentence of it that speaks of a term.

    Attributes:
        text: the sentence, or a part of it.
        term, because: where the term stands in it, and the phrase that decides, if there are such.
        side: -1, 0 or 1.
        place: where the text is in its table, such as "line 12".
    """

    text: str
    term: Span | None
    because: Span | None
    side: int
    place: str


class Figures:
    """How many texts speak for each side, and the mean of their polarity. Those of whole texts and
    of terms also keep quotes."""

    __slots__ = ("_quotes", "_squares", "_sum", "negative", "neutral", "positive")

    def __init__(self, negative: int = 0, neutral: int = 0, positive: int = 0) -> None:
        self.negative, self.neutral, self.positive = negative, neutral, positive
        self._sum = self._squares = 0.0
        self._quotes: dict[int, dict[Rank, Quote]] | None = None

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
        around = max(self._squares - self._sum**2 / count, 0.0)
        return mean_interval(count, self._sum / count, around / max(count - 1, 1))

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
        self._sum += polarity
        self._squares += polarity**2

    def merge(self, other: "Figures") -> None:
        """Count the texts of others too."""
        self._sum += other._sum
        self._squares += other._squares
        self.negative += other.negative
        self.neutral += other.neutral
        self.positive += other.positive
        for quotes in (other._quotes or {}).values():
            for rank, quote in quotes.items():
                self.quote(rank, quote)

    def __sub__(self, other: "Figures") -> "Figures":
        """The counts without those of others that are among them."""
        pairs = zip(self.counts, other.counts, strict=True)
        return Figures(*(mine - theirs for mine, theirs in pairs))

    def quote(self, rank: Rank, quote: Quote, most: int = QUOTES) -> None:
        """Keep a quote, one of each rank, if it is among the `most` lowest of its side."""
        self._quotes = {} if self._quotes is None else self._quotes
        quotes = self._quotes.setdefault(quote.side, {})
        if len(quotes) >= most and (not most or rank >= max(quotes)):
            return
        quotes[rank] = quote
        if len(quotes) > most:
            del quotes[max(quotes)]

    def quotes(self, *sides: int) -> list[Quote]:
        """The quotes of some sides in order of their ranks."""
        quotes = self._quotes or {}
        return [
            quote for _, quote in sorted(p for side in sides for p in quotes.get(side, {}).items())
        ]


class Tally:
    """What is counted of all texts, or of those that speak of a term. A text that speaks of it
    several times counts once, for the side of most of these mentions; it is neutral if there are as
    many of both.

    Attributes:
        term: the term in lower case, "" of all texts.
        figures: those of the texts.
        groups, periods: the same by group and by the first day of each period.
        mentions: how often the texts speak of it.
        names: how it is written, and how often.
        said: the phrases that decide for a side, and how often each is said.
    """

    __slots__ = ("figures", "groups", "mentions", "names", "periods", "said", "term")

    def __init__(self, term: str = "") -> None:
        self.term, self.figures, self.mentions = term, Figures(), 0
        self.groups: dict[str, Figures] = {}
        self.periods: dict[date, Figures] = {}
        self.names: Counter[str] = Counter()
        self.said: dict[int, Counter[str]] = {}

    def count(self, side: int, polarity: float, group: str | None, period: date | None) -> None:
        """Count a text of a group and a period, which may be unknown."""
        for figures in self.parts(group, period):
            figures.add(side, polarity)

    def parts(self, group: str | None, period: date | None) -> list[Figures]:
        """The figures that a text of a group and a period counts for."""
        parts = [self.figures]
        if group is not None:
            parts.append(self.groups.setdefault(group, Figures()))
        if period is not None:
            parts.append(self.periods.setdefault(period, Figures()))
        return parts

    @property
    def quotes(self) -> list[Quote]:
        """`QUOTES` of the texts: one of each side that praises or criticises, the others of the
        side of most texts, which comes first."""
        order = sorted(SIDES, key=lambda side: (-self.figures.counts[side + 1], -side))
        quotes = [quote for side in order for quote in self.figures.quotes(side)]
        first = [quote for side in (-1, 1) for quote in self.figures.quotes(side)[:1]]
        chosen = first + [quote for quote in quotes if quote not in first]
        return sorted(chosen[:QUOTES], key=lambda quote: order.index(quote.side))

    @property
    def typical(self) -> dict[Side, tuple[Said, ...]]:
        """The phrases that are said most often of either side (`terms.typical`)."""
        return {SIDES[side]: typical(self.said.get(side, {}), SAID) for side in (-1, 1)}

    @property
    def spellings(self) -> tuple[str, ...]:
        """How the term is written, the most frequent first."""
        return tuple(name for name, _ in self.names.most_common(SAID))

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
