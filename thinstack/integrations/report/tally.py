"""What is counted of texts while they stream by: sides, polarity, terms, phrases, quotes; and the
same as plain data."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from datetime import date
from itertools import chain
from typing import Any, Final, Literal, Self

from thinstack.integrations.report.quotes import Quote, Rank
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


@dataclass(slots=True)
class Figures:
    """How many texts speak for each side, and the mean of their polarity. Those of whole texts and
    of terms also keep quotes."""

    negative: int = 0
    neutral: int = 0
    positive: int = 0
    _sum: float = 0.0
    _squares: float = 0.0
    _quotes: dict[int, dict[Rank, Quote]] | None = None

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
        if not (count := self.texts):
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
        negative, neutral = self.negative - other.negative, self.neutral - other.neutral
        return Figures(negative, neutral, self.positive - other.positive)

    def quote(self, rank: Rank, quote: Quote, most: int = QUOTES) -> None:
        """Keep a quote, the first of its rank, if it is among the `most` lowest of its side."""
        self._quotes = self._quotes or {}
        quotes = self._quotes.setdefault(quote.side, {})
        quotes.setdefault(rank, quote)
        if len(quotes) > most:
            del quotes[max(quotes)]

    def quotes(self, *sides: int) -> list[Quote]:
        """The quotes of some sides in order of their ranks."""
        some = [(self._quotes or {}).get(side, {}) for side in sides]
        return [quote for _, quote in sorted(chain(*map(dict.items, some)))]


class Tally:
    """What is counted of all texts, or of those that speak of a term. A text that speaks of it
    several times counts once, for the side of most of these mentions; it is neutral if there are as
    many of both.

    Attributes:
        term: the term in lower case, "" of all texts.
        figures, groups, periods: the figures of the texts, of those of each group by its name, and
            of each period by its first day.
        mentions: how often the texts speak of it.
        names: how it is written, and how often.
        said: the phrases that decide for a side, and how often each is said.
    """

    __slots__ = ("figures", "groups", "mentions", "names", "periods", "said", "term")

    def __init__(self, term: str = "") -> None:
        self.term, self.mentions, self.figures = term, 0, Figures()
        self.groups: dict[str, Figures] = defaultdict(Figures)
        self.periods: dict[date, Figures] = defaultdict(Figures)
        self.names: Counter[str] = Counter()
        self.said: dict[int, Counter[str]] = defaultdict(Counter)

    def parts(self, group: str | None, period: date | None) -> list[Figures]:
        """The figures in which a text of this group and period counts."""
        parts = [self.figures]
        parts += [self.groups[group]] if group is not None else []
        return [*parts, self.periods[period]] if period is not None else parts

    def order(self, groups: Iterable[str]) -> None:
        """Put the figures of the groups in this order, and those of periods in theirs."""
        self.groups = {name: self.groups[name] for name in groups if name in self.groups}
        self.periods = dict(sorted(self.periods.items()))

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
        self.names = _counted(self.names, spelling)

    def say(self, side: int, phrase: str) -> None:
        """Count a phrase that decides for a side. Where there are too many, the rarest go."""
        self.said[side] = _counted(self.said[side], phrase)

    def join(self, other: Self) -> None:
        """Count what is counted of another name of the same term too."""
        self.figures.merge(other.figures)
        for name, figures in other.groups.items():
            self.groups[name].merge(figures)
        for start, figures in other.periods.items():
            self.periods[start].merge(figures)
        self.mentions += other.mentions
        self.names.update(other.names)
        for side, said in other.said.items():
            self.said[side].update(said)


def _counted(times: Counter[str], name: str) -> Counter[str]:
    times[name] += 1
    return times if len(times) <= MOST_SAID else Counter(dict(times.most_common(MOST_SAID // 2)))


def plain(value: Any) -> Any:
    """A part of a report as data ready for JSON. Figures stand among the attributes of what they
    are of."""
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
        figures = any(isinstance(part, Figures) for part in value.values())
        return named(value) if figures else {name: plain(part) for name, part in value.items()}
    if is_dataclass(value) or hasattr(value, "_fields"):
        fields_of = getattr(value, "_fields", None) or [field.name for field in fields(value)]
        data: dict[str, Any] = {}
        for name in fields_of:
            part = plain(getattr(value, name))
            data |= part if name == "figures" else {name: part}
        return data
    return [plain(part) for part in value] if isinstance(value, tuple | list) else value


def named(parts: Mapping[Any, Figures]) -> list[dict[str, Any]]:
    """The figures of groups or periods, each with its name or first day."""
    return [{"name": plain(name)} | plain(figures) for name, figures in parts.items()]
