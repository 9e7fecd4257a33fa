"""What is counted of texts while they stream by: sides, polarity, terms, phrases, quotes; and the
same as plain data."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import date
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


Part = str | date | tuple[str, date] | None
"""Some of the texts: of a group, of a period by its first day, of both; None is all of them."""


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
        """Keep a quote, the first of its rank, if it is among the `most` lowest of its side."""
        self._quotes = {} if self._quotes is None else self._quotes
        quotes = self._quotes.setdefault(quote.side, {})
        quotes.setdefault(rank, quote)
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
        parts: the figures of the texts (by the key None), of those of each group (by its name) and
            of each period (by its first day), and of both together.
        mentions: how often the texts speak of it.
        names: how it is written, and how often.
        said: the phrases that decide for a side, and how often each is said.
    """

    __slots__ = ("mentions", "names", "parts", "said", "term")

    def __init__(self, term: str = "") -> None:
        self.term, self.mentions = term, 0
        self.parts: dict[Part, Figures] = defaultdict(Figures)
        self.names: Counter[str] = Counter()
        self.said: dict[int, Counter[str]] = defaultdict(Counter)

    def count(self, side: int, polarity: float, parts: Iterable[Part]) -> None:
        """Count a text in some parts."""
        for part in parts:
            self.parts[part].add(side, polarity)

    @property
    def figures(self) -> Figures:
        """The figures of the texts."""
        return self.parts[None]

    @property
    def groups(self) -> dict[str, Figures]:
        """The figures by group."""
        return {part: figures for part, figures in self.parts.items() if isinstance(part, str)}

    @property
    def periods(self) -> dict[date, Figures]:
        """The figures by the first day of each period, in order."""
        parts = ((part, figures) for part, figures in self.parts.items() if isinstance(part, date))
        return dict(sorted(parts))

    @property
    def courses(self) -> dict[str, dict[date, Figures]]:
        """The figures of each group by period."""
        courses = defaultdict[str, dict[date, Figures]](dict)
        for part, figures in self.parts.items():
            if isinstance(part, tuple):
                courses[part[0]][part[1]] = figures
        return courses

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
        for part, figures in other.parts.items():
            self.parts[part].merge(figures)
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
