"""Collects what texts say while they stream by, in bounded memory."""

import zlib
from collections import Counter
from collections.abc import Sequence
from typing import Final

from thinstack.data.tables.alike import likeness
from thinstack.integrations.report.entries import Entry, Kind
from thinstack.integrations.report.figures import Unread
from thinstack.integrations.report.plan import Plan
from thinstack.integrations.report.readings import Mention, Reading
from thinstack.integrations.report.tally import Quote, Span, Tallies, TermTally, side_of
from thinstack.integrations.report.terms import joined, key_of, normalised, said_phrase, singular

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
    """Counts texts, and keeps quotes. `plan`: what is known of the table. `about`: the terms that a
    user names, which stay apart, and stay if nobody speaks of them.

    Attributes:
        all: the tallies of the texts.
        terms: those of each term that a user names, or by the key (`key_of`) of one that is found.
        without: texts that speak of no term.
        missed: how many texts a term may have more than were counted, because rare terms are
            forgotten where there are more than `MOST_TERMS`.
    """

    def __init__(self, plan: Plan, about: Sequence[str] = ()):
        self._plan, self._groups = plan, {likeness(name): name for name in plan.groups}
        self._named = bool(about)
        self.all, self.terms = Tallies(), {term: TermTally() for term in about}
        self.without = self.missed = 0
        self._unread: dict[Kind, list[tuple[str, str]]] = {}
        self._counts: Counter[Kind] = Counter()

    def unread(self, kind: Kind, place: str, reason: str) -> None:
        """Count what could not be read."""
        self._counts[kind] += 1
        examples = self._unread.setdefault(kind, [])
        if len(examples) < EXAMPLES:
            examples.append((place, reason))

    def add(self, entry: Entry, reading: Reading) -> None:
        """Count a text."""
        group = None if entry.group is None else self._groups.get(likeness(entry.group))
        calendar = self._plan.calendar
        period = calendar.period(entry.day) if calendar and entry.day else None
        if entry.day and period is None:
            self.unread("date", entry.place, f"{entry.day} is far from the other dates")
        self.all.count(reading.side, reading.polarity, group, period)
        mentions = self._by_term(reading.mentions)
        self.without += not mentions
        for term, some in mentions.items():
            tally = self.terms.setdefault(term, TermTally())
            side = side_of(mention.side for mention in some)
            polarity = sum(mention.polarity for mention in some) / len(some)
            tally.count(side, polarity, group, period)
            for mention in some:
                self._mention(tally, mention, entry.place)
            for side, said in {*map(_said, some)}:
                tally.say(side, said)
        if len(self.terms) > 2 * MOST_TERMS:
            self._forget()

    def _by_term(self, mentions: Sequence[Mention]) -> dict[str, list[Mention]]:
        """The mentions of a text by term: a plural with its singular, if that is known."""
        terms = [_term(mention) for mention in mentions]
        here, found = frozenset(terms), dict[str, list[Mention]]()
        for mention, term in zip(mentions, terms, strict=True):
            if not mention.named:
                term = singular(singular(term, here), self.terms)
            if term:
                found.setdefault(term, []).append(mention)
        return found

    def _mention(self, tally: TermTally, mention: Mention, place: str) -> None:
        tally.mentions += 1
        tally.names[_written(mention)] += 1
        rank = _rank(mention)
        if mention.sentence and tally.wants(mention.side, rank):
            tally.quote(rank, _quote(mention, place))

    def _forget(self) -> None:
        """Forget the rarest terms."""
        order = sorted(self.terms, key=lambda term: -self.terms[term].texts)
        self.missed += self.terms[order[MOST_TERMS]].texts
        self.terms = {term: self.terms[term] for term in order[:MOST_TERMS]}

    def joined(self) -> dict[str, TermTally]:
        """The terms as they are written most often, each plural with its singular. The tallies are
        used up."""
        if self._named:
            return self.terms
        tallies = dict[str, TermTally]()
        for term, names in joined(self.terms).items():
            tally = self.terms[term]
            own = [name for name in tally.names if key_of(name) == term]
            written = min(own, key=lambda name: (-tally.names[name], name), default=term)
            for name in names:
                if name != term:
                    tally.join(self.terms[name])
            tallies[written] = tally
        return tallies

    def all_unread(self) -> tuple[Unread, ...]:
        """What could not be read, by its kind."""
        return tuple(
            Unread(kind, self._counts[kind], tuple(examples))
            for kind, examples in self._unread.items()
        )


def _term(mention: Mention) -> str:
    return mention.term if mention.named else key_of(mention.term[:_LONGEST_TERM])


def _written(mention: Mention) -> str:
    """A mention as it was written, in lower case."""
    if not mention.named:
        return normalised(mention.term[:_LONGEST_TERM])
    return normalised(mention.sentence[slice(*mention.place)]) or mention.term


def _said(mention: Mention) -> tuple[int, str]:
    """A side and the phrase that decides for it, "" if there is none to count."""
    return mention.side, said_phrase(mention.said) if mention.said and mention.side else ""


def _rank(mention: Mention) -> tuple[int, int]:
    """The place of a quote among others. Sentences of a length that is easily read, which say
    clearly what and why, come first; else it is drawn by lot: by a sum of the text."""
    plain = len(mention.sentence.split()) in _WORDS
    clear = not mention.side or abs(mention.polarity) >= _CLEAR
    lot = zlib.crc32(mention.sentence.encode("utf-8", "surrogatepass"))
    return 3 - plain - clear - (mention.because is not None), lot


def _quote(mention: Mention, place: str) -> Quote:
    """A quote of about `MOST_CHARACTERS`, around the term and, if there is room, what decides."""
    text, term, because = mention.sentence, mention.place, mention.because
    if len(text) <= MOST_CHARACTERS:
        return Quote(text, term, because, mention.side, place)
    first, last = term
    if because and max(last, because.end) - min(first, because.start) <= MOST_CHARACTERS:
        first, last = min(first, because.start), max(last, because.end)
    else:
        because = None
    room = max(MOST_CHARACTERS - (last - first), 0) // 2
    start = text.find(" ", max(first - room - 1, 0), first) + 1 or first
    end = text.rfind(" ", last, last + room)
    start, end = 0 if first <= room else start, len(text) if last + room >= len(text) else end
    end = last if end < 0 else end
    cut = f"{_DOTS * (start > 0)}{text[start:end]}{_DOTS[::-1] * (end < len(text))}"
    shift = len(_DOTS) * (start > 0) - start
    moved = [Span(span.start + shift, span.end + shift) for span in (term, because) if span]
    return Quote(cut, moved[0], moved[1] if because else None, mention.side, place)
