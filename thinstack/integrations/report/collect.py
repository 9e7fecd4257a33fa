"""Collects the opinions of streamed texts in bounded memory."""

import re
from collections import Counter, defaultdict
from collections.abc import Container, Sequence
from datetime import date
from functools import cache, partial
from typing import Final

from thinstack.data.tables.alike import likeness
from thinstack.integrations.report.plan import Plan
from thinstack.integrations.report.rows import Example, Kind, Mention, Quote, TextRow, Unread
from thinstack.integrations.report.tally import QUOTES, Figures, Tally, counted, typical
from thinstack.integrations.show.marks import visible
from thinstack.text.english import rules
from thinstack.text.names import read_plainly, singulars

_BEFORE: Final = frozenset(
    (
        *("a", "an", "the", "this", "that", "these", "those", "some", "any"),
        *("my", "our", "your", "their", "his", "her", "its"),
    )
)
"""Words that are stripped from the start of a term."""

_DEGREES: Final = frozenset(("so", "too", "really", "quite", "very", "just", "also", "even"))
_DENIED: Final = frozenset(("no", "not", "n't", "never", "cannot", "hardly", "barely", "scarcely"))
_PARTICLES: Final = frozenset(("down", "off", "out", "over", "through", "up"))
_EMPTY: Final = _DENIED | {"too"}
_IS_NOT: Final = re.compile(r"\b(?:is|are|was|were) ?n't\b")

_NO_TOPICS: Final = frozenset(
    (
        *("bit", "buy", "buying", "get", "getting", "go", "going", "kind", "like", "lot", "love"),
        *("make", "need", "one", "purchase", "purchased", "stuff", "thing", "try", "trying", "use"),
        *("used", "using", "want", "way", "work", "worked", "working"),
    )
)
"""Single-word terms that models find and that are not topics."""

MOST_WORDS: Final = 6
"""Maximum number of words of a typical phrase; longer ones rarely recur."""

MARKS: Final = " \t.,;:!?\"'`()[]{}*-–—…“”‘’«»"
"""Characters around a term or a phrase that are stripped."""


def normalised(term: str) -> str:
    """Normalize a term: lower case, one line, no leading articles or surrounding punctuation."""
    words = visible(read_plainly(term)).casefold().strip(MARKS).removeprefix("#").split()
    while len(words) > 1 and words[0] in _BEFORE:
        del words[0]
    return " ".join(words)


def no_topic(key: str) -> str:
    """Return the generic word that a term consists of, such as "use" for "uses"; "" for a topic."""
    return next((form for form in (key, *singulars(key)) if form in _NO_TOPICS), "")


def singular(term: str, terms: Container[str]) -> str:
    """Return the singular of a term if it is among the `terms`, otherwise the term: "waiters"
    counts as "waiter" if some text has the singular, and "news" stays."""
    return next((name for name in singulars(term) if name in terms), term)


def said_phrase(phrase: str) -> str:
    """Normalize a phrase: lower case, without surrounding punctuation, and without function words
    other than negations at its ends. "is really friendly." becomes "friendly"; "not bad" and "too
    loud" stay. "" if only negations are left, or more than `MOST_WORDS` words."""
    words = _IS_NOT.sub("not", visible(read_plainly(phrase)).casefold()).strip(MARKS).split()
    while words and words[0] in _left_out():
        del words[0]
    while words and words[-1] in _left_out() - _PARTICLES:
        del words[-1]
    if len(words) > MOST_WORDS or _EMPTY.issuperset(words):
        return ""
    return " ".join(words).strip(MARKS)


@cache
def _left_out() -> frozenset[str]:
    """Return the words that are stripped from the ends of a phrase."""
    return (rules().function_words | _DEGREES | {"'s", "'re"}) - _EMPTY


def says_more(phrase: str, term: str) -> bool:
    """Whether a phrase contains more than the name of a term or a part of it."""
    name = key_of(term)
    words = (word for word in phrase.replace("-", " ").split() if word not in _left_out())
    return any(all(form not in name for form in (word, *singulars(word))) for word in words)


def key_of(term: str) -> str:
    """Return the key of terms that are counted together: `setup`, `set-up` and `set up`."""
    return re.sub(r"[\s-]+", "", normalised(term))


def asked_name(pattern: str) -> str:
    """Format the names that a user has given to one aspect as a heading."""
    return " / ".join(name.strip() for name in pattern.split("|") if name.strip())


_MOST_TERMS: Final = 10_000  # terms in memory; temporarily twice as many
_EXAMPLES: Final = 3  # of each kind of unreadable row or cell
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
        if len(self.terms) > 2 * _MOST_TERMS:  # drop the rarest
            order = sorted(self.terms, key=lambda term: -self.terms[term].figures.texts)
            self.missed += self.terms[order[_MOST_TERMS]].figures.texts
            self.terms = {term: self.terms[term] for term in order[:_MOST_TERMS]}

    def _count_term(
        self, tally: Tally, mentions: Sequence[Mention], parts: Sequence[Figures]
    ) -> None:
        total = sum(mention.quote.side for mention in mentions)
        polarity = sum(mention.polarity for mention in mentions) / len(mentions)
        for figures in parts:
            figures.add((total > 0) - (total < 0), polarity)
        said: dict[int, dict[str, int]] = {-1: {}, 1: {}}
        for _, polarity, quote, rank in mentions:
            term = quote.text[slice(*quote.term)] if quote.term else ""
            name = normalised(term if self._named else term[:_LONGEST_TERM])
            tally.mentions, tally.names = tally.mentions + 1, counted(tally.names, name)
            tally.figures.quote(rank or quote.rank(polarity), quote.shortened(), self._quotes)
            if quote.because and quote.side:
                phrase = said_phrase(quote.text[slice(*quote.because)])
                said[quote.side] |= {phrase: 1} if says_more(phrase, name) else {}
        for side, phrases in said.items():
            for one in typical(phrases, len(phrases), least=1):
                tally.said[side] = counted(tally.said[side], one.phrase)

    def _count_unread(self, kind: Kind, place: str, reason: str) -> None:
        _, rows, examples = self._unread.get(kind, (kind, 0, ()))
        examples = (*examples, Example(place, reason))[:_EXAMPLES]
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
