"""Collects the opinions of streamed texts in bounded memory."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import date
from functools import partial
from typing import Final

from thinstack.data.tables.alike import likeness
from thinstack.integrations.report.plan import Plan
from thinstack.integrations.report.rows import Example, Kind, Mention, Quote, TextRow, Unread
from thinstack.integrations.report.tally import QUOTES, Figures, Tally, counted
from thinstack.integrations.report.terms import (
    key_of,
    no_topic,
    normalised,
    said_phrase,
    says_more,
    singular,
)

MOST_TERMS: Final = 10_000
"""Maximum number of terms in memory; temporarily twice as many."""

EXAMPLES: Final = 3
"""Number of examples of each kind of unreadable row or cell."""

_LONGEST_TERM: Final = 60  # characters


class Collector:
    """Counts texts, and keeps `quotes` quotes per side of a term. `plan`: the plan of the table.
    `about`: the terms of all mentions, which are kept separate, and kept even without mentions. If
    it is empty, the mentions are of terms that a model finds.

    Attributes: those of `Report`, and
        all: the tally of all texts.
        courses: the figures of each group by period.
        terms: the tallies by term if the user names terms, otherwise by `key_of` of the term.
    """

    def __init__(self, plan: Plan, about: Sequence[str] = (), quotes: int = QUOTES):
        self._plan, self._groups = plan, {likeness(name): name for name in plan.groups}
        self._named, self._quotes = bool(about), quotes
        self.all, self.terms = Tally(), {term: Tally(term) for term in about}
        self.courses = defaultdict[str, dict[date, Figures]](partial(defaultdict, Figures))
        self.low, self.high, self.middle = Figures(), Figures(), 0
        self.left_out: Counter[str] = Counter()
        self.without = self.missed = 0
        self._unread: dict[Kind, Unread] = {}

    def add(self, row: TextRow) -> None:
        """Count a row: its text, if present, and its faults."""
        for fault in [row.unreadable] if row.unreadable else row.faults:
            self._count_unread(fault.kind, row.place, fault.reason)
        if row.unreadable:
            return
        group = None if row.group is None else self._groups.get(likeness(row.group))
        calendar = self._plan.calendar
        period = calendar.period(row.day) if calendar and row.day else None
        if row.day and period is None:
            self._count_unread("date", row.place, f"{row.day} is far from the other dates")
        quote = Quote(row.text, None, None, row.side, row.place)
        rank, short = quote.rank(row.polarity), quote.shortened()
        for figures in self.all.parts(group, period):
            figures.add(row.side, row.polarity)
            figures.quote(rank, short)
        if row.stars is not None and 2 < row.stars < 4:
            self.middle += 1
        elif row.stars is not None:
            (self.low if row.stars <= 2 else self.high).add(row.side, row.polarity)
        if group is not None and period is not None:
            self.courses[group][period].add(row.side, row.polarity)
        mentions_by_term = self._by_term(row.mentions)
        self.without += not mentions_by_term
        for term, mentions in mentions_by_term.items():
            tally = self.terms.setdefault(term, Tally())
            self._count_term(tally, mentions, tally.parts(group, period))
        if len(self.terms) > 2 * MOST_TERMS:  # drop the rarest
            order = sorted(self.terms, key=lambda term: -self.terms[term].figures.texts)
            self.missed += self.terms[order[MOST_TERMS]].figures.texts
            self.terms = {term: self.terms[term] for term in order[:MOST_TERMS]}

    def _count_term(
        self, tally: Tally, mentions: Sequence[Mention], parts: Sequence[Figures]
    ) -> None:
        """Count a text that mentions a term, and its opinions about the term."""
        total = sum(mention.quote.side for mention in mentions)
        polarity = sum(mention.polarity for mention in mentions) / len(mentions)
        for figures in parts:
            figures.add((total > 0) - (total < 0), polarity)
        said = dict[tuple[int, str], None]()
        for _, polarity, quote, rank in mentions:
            term = quote.text[slice(*quote.term)] if quote.term else ""
            name = normalised(term if self._named else term[:_LONGEST_TERM])
            tally.mentions, tally.names = tally.mentions + 1, counted(tally.names, name)
            tally.figures.quote(rank or quote.rank(polarity), quote.shortened(), self._quotes)
            if quote.because and quote.side:
                phrase = said_phrase(quote.text[slice(*quote.because)])
                said |= {(quote.side, phrase): None} if says_more(phrase, name) else {}
        for side, phrase in said:
            tally.said[side] = counted(tally.said[side], phrase)

    def _count_unread(self, kind: Kind, place: str, reason: str) -> None:
        _, rows, examples = self._unread.get(kind, (kind, 0, ()))
        examples = (*examples, Example(place, reason))[:EXAMPLES]
        self._unread[kind] = Unread(kind, rows + 1, examples)

    def _by_term(self, mentions: Sequence[Mention]) -> dict[str, list[Mention]]:
        """Group the mentions of a text by term, plurals with their singulars if these are known."""
        terms = [mention.term for mention in mentions]
        if not self._named:
            terms = [key_of(term[:_LONGEST_TERM]) for term in terms]
        here, by_term = frozenset(terms), defaultdict[str, list[Mention]](list)
        for mention, term in zip(mentions, terms, strict=True):
            if not self._named:
                term = singular(singular(term, here), self.terms)
                if word := no_topic(term):
                    self.left_out[word] += 1
                    continue
            if term:
                by_term[term].append(mention)
        return by_term

    def tallies(self) -> list[Tally]:
        """Return the tallies under the most frequent spelling, plurals merged into their singulars.
        Consumes the tallies."""
        if self._named:
            return [*self.terms.values()]
        tallies, keys_of = list[Tally](), defaultdict[str, list[str]](list)
        for key in sorted(self.terms):
            keys_of[singular(key, self.terms)].append(key)
        for term, keys in keys_of.items():
            tally = self.terms[term]
            spellings = [name for name in tally.names if key_of(name) == term]
            tally.term = min(spellings, key=lambda name: (-tally.names[name], name), default=term)
            for key in keys:
                if key != term:
                    tally.join(self.terms[key])
            tallies.append(tally)
        return tallies

    def unread(self) -> tuple[Unread, ...]:
        """List what could not be read, by kind."""
        return tuple(self._unread.values())
