"""The counts of streamed texts: sides, polarity, terms, phrases and quotes; and their conversion to
plain data."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import date
from itertools import chain
from math import sqrt
from typing import Any, Final, Literal, NamedTuple, Self

from thinstack.evaluate.figures import Z, wilson
from thinstack.integrations.report.rows import Quote, Rank

Side = Literal["negative", "neutral", "positive"]

SIDES: dict[int, Side] = {-1: "negative", 0: "neutral", 1: "positive"}
"""The names of the sides by number."""

LEVEL: Final = 0.95
"""Confidence level of intervals."""

_LEAST_OF_MEAN: Final = 10  # texts for the confidence interval of a mean

MOST_SAID: Final = 200
"""Maximum number of phrases per side, and of spellings, stored for a term; above it, half are
dropped."""

_SAID: Final = 5  # phrases per side, and spellings, shown for a term

QUOTES: Final = 3
"""Default number of quotes per side of a term."""


class Interval(NamedTuple):
    """An estimate and its 95% confidence interval, which is None for too small a sample."""

    value: float
    low: float | None
    high: float | None


def share_interval(count: int, of: int) -> Interval:
    """Return the share `count / of` with its score interval (`wilson`), for `of` >= 1."""
    return Interval(count / of, *wilson(count / of, of))


@dataclass(slots=True)
class Figures:
    """The number of texts on each side, and their mean polarity. The figures of whole texts and of
    terms also keep quotes."""

    negative: int = 0
    neutral: int = 0
    positive: int = 0
    _sum: float = 0.0
    _squares: float = 0.0
    _quotes: dict[int, dict[Rank, Quote]] | None = None

    @property
    def counts(self) -> tuple[int, int, int]:
        """Number of texts on each side, in the order of `SIDES`."""
        return self.negative, self.neutral, self.positive

    @property
    def texts(self) -> int:
        """Number of texts."""
        return self.negative + self.neutral + self.positive

    @property
    def polarity(self) -> Interval | None:
        """Mean polarity from -1 to 1, with its Student's t interval, which is None below
        `_LEAST_OF_MEAN` texts; None without texts."""
        if (n := self.texts) < _LEAST_OF_MEAN:
            return Interval(self._sum / n, None, None) if n else None
        # The first terms of the expansion of t's quantile at the normal quantile (Fisher and
        # Cornish 1960). The error is below 0.2% above 8 degrees of freedom.
        first, second = (Z**3 + Z) / 4, (5 * Z**5 + 16 * Z**3 + 3 * Z) / 96
        student = Z + first / (n - 1) + second / (n - 1) ** 2
        mean, variance = self._sum / n, max(self._squares - self._sum**2 / n, 0.0) / (n - 1)
        half = student * sqrt(variance / n)
        return Interval(mean, mean - half, mean + half)

    def count(self, side: Side) -> int:
        """Return the number of texts on a side."""
        return int(getattr(self, side))

    def share(self, side: Side) -> Interval | None:
        """Return the share of the texts on a side, with its interval; None without texts."""
        return share_interval(self.count(side), self.texts) if self.texts else None

    def add(self, side: int, polarity: float) -> None:
        """Count a text, whose side is -1, 0 or 1."""
        self.negative += side < 0
        self.neutral += side == 0
        self.positive += side > 0
        self._sum += polarity
        self._squares += polarity**2

    def merge(self, other: "Figures") -> None:
        """Add the counts of other figures."""
        self._sum += other._sum
        self._squares += other._squares
        self.negative += other.negative
        self.neutral += other.neutral
        self.positive += other.positive
        for quotes in (other._quotes or {}).values():
            for rank, quote in quotes.items():
                self.quote(rank, quote)

    def __sub__(self, other: "Figures") -> "Figures":
        """Subtract the counts of a subset."""
        negative, neutral = self.negative - other.negative, self.neutral - other.neutral
        return Figures(negative, neutral, self.positive - other.positive)

    def quote(self, rank: Rank, quote: Quote, most: int = QUOTES) -> None:
        """Store a quote, the first of its rank, if it is among the `most` lowest of its side."""
        self._quotes = self._quotes or {}
        quotes = self._quotes.setdefault(quote.side, {})
        quotes.setdefault(rank, quote)
        if len(quotes) > most:
            del quotes[max(quotes)]

    def quotes(self, *sides: int) -> list[Quote]:
        """Return the quotes of some sides, sorted by rank."""
        some = [(self._quotes or {}).get(side, {}) for side in sides]
        return [quote for _, quote in sorted(chain(*map(dict.items, some)))]


class Said(NamedTuple):
    """A phrase, and how often it occurs."""

    phrase: str
    times: int


@dataclass(slots=True)
class Tally:
    """The counts of all texts, or of those that mention a term. A text that mentions it several
    times counts once, for the side of most of these mentions, or as neutral if these are equally
    many.

    Attributes:
        term: the term in lower case, "" for all texts.
        figures, groups, periods: the figures of the texts, of each group by name, and of each
            period by its first day.
        mentions: the number of mentions in the texts.
        names: the spellings, and how often each occurs.
        said: the phrases that decide for a side, and how often each occurs.
    """

    term: str = ""
    figures: Figures = field(default_factory=Figures)
    groups: dict[str, Figures] = field(default_factory=lambda: defaultdict(Figures))
    periods: dict[date, Figures] = field(default_factory=lambda: defaultdict(Figures))
    mentions: int = 0
    names: Counter[str] = field(default_factory=Counter)
    said: dict[int, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    def parts(self, group: str | None, period: date | None) -> list[Figures]:
        """Return the figures that a text of this group and period counts in."""
        parts = [self.figures]
        parts += [self.groups[group]] if group is not None else []
        return [*parts, self.periods[period]] if period is not None else parts

    @property
    def quotes(self) -> list[Quote]:
        """Select `QUOTES` quotes: one each of praise and criticism, the others of the majority
        side, which comes first."""
        order = sorted(SIDES, key=lambda side: (-self.figures.counts[side + 1], -side))
        quotes = [quote for side in order for quote in self.figures.quotes(side)]
        first = [quote for side in (-1, 1) for quote in self.figures.quotes(side)[:1]]
        chosen = first + [quote for quote in quotes if quote not in first]
        return sorted(chosen[:QUOTES], key=lambda quote: order.index(quote.side))

    @property
    def typical(self) -> dict[Side, tuple[Said, ...]]:
        """The most frequent phrases of either side (`typical`)."""
        return {SIDES[side]: typical(self.said.get(side, {}), _SAID) for side in (-1, 1)}

    @property
    def spellings(self) -> tuple[str, ...]:
        """The spellings of the term, the most frequent first."""
        return tuple(name for name, _ in self.names.most_common(_SAID))

    def join(self, other: Self) -> None:
        """Add the counts of another name of the same term."""
        self.figures.merge(other.figures)
        for name, figures in other.groups.items():
            self.groups[name].merge(figures)
        for start, figures in other.periods.items():
            self.periods[start].merge(figures)
        self.mentions += other.mentions
        self.names.update(other.names)
        for side, said in other.said.items():
            self.said[side].update(said)


def typical(times: Mapping[str, int], most: int, *, least: int = 2) -> tuple[Said, ...]:
    """Return the most frequent phrases, at most `most`, with at least `least` occurrences each.

    No phrase is inside another, by whole words: of two such phrases the more frequent one is kept,
    and the other is counted with it. `times`: the number of occurrences of each.
    """
    chosen: dict[str, int] = {}
    for phrase, count in sorted(times.items(), key=lambda item: (-item[1], len(item[0]), item[0])):
        words = f" {phrase} "
        around = next((one for one in chosen if f" {one} " in words or words in f" {one} "), phrase)
        chosen[around] = chosen.get(around, 0) + count
    phrases = [Said(phrase, count) for phrase, count in chosen.items() if count >= least]
    return tuple(sorted(phrases, key=lambda said: -said.times)[:most])


def counted(times: Counter[str], name: str) -> Counter[str]:
    """Count a phrase or a spelling. If there are too many, the rarest are dropped."""
    times[name] += 1
    return times if len(times) <= MOST_SAID else Counter(dict(times.most_common(MOST_SAID // 2)))


def plain(value: Any) -> Any:
    """Convert a part of a report to JSON-serializable data. Figures become attributes of the object
    that contains them."""
    if isinstance(value, Figures):
        counts = dict(zip(SIDES.values(), value.counts, strict=True))
        shares = {f"share_{side}": plain(value.share(side)) for side in SIDES.values()}
        return {"texts": value.texts} | counts | shares | {"polarity": plain(value.polarity)}
    if isinstance(value, Tally):
        return plain(value.figures) | {
            "term": value.term,
            "names": plain(value.spellings),
            "mentions": value.mentions,
            "said": plain(value.typical),
            "quotes": plain(value.quotes),
            "groups": named(value.groups),
            "periods": named(value.periods),
        }
    if isinstance(value, Interval):
        ends = value._asdict().items()
        return {name: None if end is None else round(end, 6) for name, end in ends}
    if isinstance(value, Quote):
        spans = {"term": value.term, "because": value.because}
        parts = {name: span and value.text[slice(*span)] for name, span in spans.items()}
        return {"text": value.text, "side": SIDES[value.side], "place": value.place} | parts
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {name: plain(part) for name, part in value.items()}
    if is_dataclass(value) or hasattr(value, "_fields"):
        data: dict[str, Any] = {}
        for name in getattr(value, "_fields", None) or [part.name for part in fields(value)]:
            part = plain(getattr(value, name))
            data |= part if name == "figures" else {name: part}
        return data
    return [plain(part) for part in value] if isinstance(value, tuple | list) else value


def named(parts: Mapping[Any, Figures]) -> list[dict[str, Any]]:
    """Convert the figures of groups or periods to dicts, each with its name or first day."""
    return [{"name": plain(name)} | plain(figures) for name, figures in parts.items()]
