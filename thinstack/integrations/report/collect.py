"""Collects what texts say while they stream by, in bounded memory."""

import zlib
from collections import Counter
from collections.abc import Sequence
from datetime import date
from typing import Final

from thinstack.data.tables.alike import likeness
from thinstack.integrations.report.figures import Example, Unread
from thinstack.integrations.report.plan import Plan
from thinstack.integrations.report.rows import Kind, Mention, Span, TextRow, side_of
from thinstack.integrations.report.tally import QUOTES, Figures, Quote, Rank, Tally
from thinstack.integrations.report.terms import (
    by_singular,
    key_of,
    no_topic,
    normalised,
    said_phrase,
    says_more,
    singular,
)

MOST_TERMS: Final = 10_000
"""Terms that are kept in memory; twice as many for a while."""

EXAMPLES: Final = 3
"""Examples of each kind of what could not be read."""

MOST_CHARACTERS: Final = 280
"""Characters of a quote."""

_WORDS: Final = range(5, 31)  # of a sentence that is quoted first
_CLEAR: Final = 0.5  # the polarity of a mention that says clearly what it says
_LONGEST_TERM: Final = 60  # characters
_DOTS: Final = "… "


class Collector:
    """Counts texts, and keeps `quotes` of each side of a term. `plan`: what is known of the table.
    `about`: the terms that a user names, which stay apart, and stay if nobody speaks of them.

    Attributes:
        all: the tally of the texts.
        terms: that of each term that a user names, or by the key (`key_of`) of one that is found.
        courses: by group, the figures of the texts by period.
        low, high, middle: texts with one or two stars, with four or five, and how many with others.
        left_out: terms that are no topics, and how often they are mentioned.
        without: texts that speak of no term.
        missed: how many texts a term may have more than were counted, because rare terms are
            forgotten where there are more than `MOST_TERMS`.
    """

    def __init__(self, plan: Plan, about: Sequence[str] = (), quotes: int = QUOTES):
        self._plan, self._groups = plan, {likeness(name): name for name in plan.groups}
        self._named, self._quotes = bool(about), quotes
        self.all, self.terms = Tally(), {term: Tally(term) for term in about}
        self.courses: dict[str, dict[date, Figures]] = {}
        self.low, self.high, self.middle = Figures(), Figures(), 0
        self.left_out: Counter[str] = Counter()
        self.without = self.missed = 0
        self._examples: dict[Kind, list[Example]] = {}
        self._unread: Counter[Kind] = Counter()

    def add(self, row: TextRow) -> None:
        """Count a row: its text, if it has one, and what could not be read of it."""
        unreadable = row.unreadable
        for fault in row.faults if unreadable is None else [unreadable]:
            self._count_unread(fault.kind, row.place, fault.reason)
        if unreadable is not None:
            return
        group = None if row.group is None else self._groups.get(likeness(row.group))
        calendar = self._plan.calendar
        period = calendar.period(row.day) if calendar and row.day else None
        if row.day and period is None:
            self._count_unread("date", row.place, f"{row.day} is far from the other dates")
        self._count_text(row, group, period)
        mentions_by_term = self._by_term(row.mentions)
        self.without += not mentions_by_term
        for term, mentions in mentions_by_term.items():
            self._count_term(self.terms.setdefault(term, Tally()), mentions, row, group, period)
        if len(self.terms) > 2 * MOST_TERMS:
            self._forget()

    def _count_text(self, row: TextRow, group: str | None, period: date | None) -> None:
        """Count a whole text, and its quote."""
        parts = self.all.parts(group, period)
        rank = _rank(row.text, row.side, row.polarity, row.side != 0)
        quote = _quote(row.text, row.side, row.place)
        for figures in parts:
            figures.add(row.side, row.polarity)
            figures.quote(rank, quote)
        if group is not None and period is not None:
            course = self.courses.setdefault(group, {})
            course.setdefault(period, Figures()).add(row.side, row.polarity)
        if row.stars is not None:
            self.middle += 2 < row.stars < 4
            if not 2 < row.stars < 4:
                (self.low if row.stars <= 2 else self.high).add(row.side, row.polarity)

    def _count_term(
        self,
        tally: Tally,
        mentions: Sequence[Mention],
        row: TextRow,
        group: str | None,
        period: date | None,
    ) -> None:
        """Count a text that speaks of a term, and what it says of it."""
        polarity = sum(mention.polarity for mention in mentions) / len(mentions)
        tally.count(side_of(mentions), polarity, group, period)
        for mention in mentions:
            tally.name(_written(mention))
            text, because = mention.sentence, mention.because
            rank = mention.rank or _rank(text, mention.side, mention.polarity, because is not None)
            quote = _quote(text, mention.side, row.place, mention.place, because)
            tally.figures.quote(rank, quote, self._quotes)
        for side, phrase in {(mention.side, _phrase(mention)) for mention in mentions}:
            if phrase:
                tally.say(side, phrase)

    def _count_unread(self, kind: Kind, place: str, reason: str) -> None:
        self._unread[kind] += 1
        examples = self._examples.setdefault(kind, [])
        if len(examples) < EXAMPLES:
            examples.append(Example(place, reason))

    def _by_term(self, mentions: Sequence[Mention]) -> dict[str, list[Mention]]:
        """The mentions of a text by term: a plural with its singular, if that is known."""
        terms = [_term(mention) for mention in mentions]
        here, by_term = frozenset(terms), dict[str, list[Mention]]()
        for mention, term in zip(mentions, terms, strict=True):
            if not mention.named:
                term = singular(singular(term, here), self.terms)
                if word := no_topic(term):
                    self.left_out[word] += 1
                    continue
            if term:
                by_term.setdefault(term, []).append(mention)
        return by_term

    def _forget(self) -> None:
        """Forget the rarest terms."""
        order = sorted(self.terms, key=lambda term: -self.terms[term].figures.texts)
        self.missed += self.terms[order[MOST_TERMS]].figures.texts
        self.terms = {term: self.terms[term] for term in order[:MOST_TERMS]}

    def tallies(self) -> list[Tally]:
        """The terms as they are written most often, each plural with its singular. The tallies are
        used up."""
        if self._named:
            return [*self.terms.values()]
        tallies = list[Tally]()
        for term, keys in by_singular(self.terms).items():
            tally = self.terms[term]
            spellings = [name for name in tally.names if key_of(name) == term]
            tally.term = min(spellings, key=lambda name: (-tally.names[name], name), default=term)
            for key in keys:
                if key != term:
                    tally.join(self.terms[key])
            tallies.append(tally)
        return tallies

    def unread(self) -> tuple[Unread, ...]:
        """What could not be read, by its kind."""
        return tuple(
            Unread(kind, self._unread[kind], tuple(examples))
            for kind, examples in self._examples.items()
        )


def _term(mention: Mention) -> str:
    return mention.term if mention.named else key_of(mention.term[:_LONGEST_TERM])


def _written(mention: Mention) -> str:
    """A mention as it was written, in lower case."""
    if not mention.named:
        return normalised(mention.term[:_LONGEST_TERM])
    return normalised(mention.sentence[slice(*mention.place)])


def _phrase(mention: Mention) -> str:
    """The phrase that decides for a side, "" if there is none to count, or none beside the term."""
    phrase = said_phrase(mention.said) if mention.said and mention.side else ""
    return phrase if says_more(phrase, _written(mention)) else ""


def _rank(text: str, side: int, polarity: float, because: bool) -> Rank:
    """The place of a quote among others. Sentences of a length that is easily read, which say
    clearly what and why, come first; else it is drawn by lot: by a sum of the text."""
    plain = len(text.split(maxsplit=_WORDS.stop)) in _WORDS
    clear = not side or abs(polarity) >= _CLEAR
    return 3 - plain - clear - because, zlib.crc32(text.encode("utf-8", "surrogatepass"))


def _quote(
    text: str, side: int, place: str, term: Span | None = None, because: Span | None = None
) -> Quote:
    """A quote of about `MOST_CHARACTERS`: of a text its beginning, of a sentence what is around the
    term and, if there is room, what decides."""
    if len(text) <= MOST_CHARACTERS:
        return Quote(text, term, because, side, place)
    first, last = term or (0, 0)
    if because and max(last, because.end) - min(first, because.start) <= MOST_CHARACTERS:
        first, last = min(first, because.start), max(last, because.end)
    else:
        because = None
    room = max(MOST_CHARACTERS - (last - first), 0) // (2 if term else 1)
    start = text.find(" ", max(first - room - 1, 0), first) + 1 or first
    end = text.rfind(" ", last, last + room)
    start, end = 0 if first <= room else start, len(text) if last + room >= len(text) else end
    end = last if end < 0 else end
    cut = f"{_DOTS * (start > 0)}{text[start:end]}{_DOTS[::-1] * (end < len(text))}"
    shift = len(_DOTS) * (start > 0) - start
    term, because = (
        span and Span(span.start + shift, span.end + shift) for span in (term, because)
    )
    return Quote(cut, term, because, side, place)
