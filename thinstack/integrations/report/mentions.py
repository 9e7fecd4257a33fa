"""What a text says of terms: a mention for each place where it speaks of one."""

from collections.abc import Iterable
from typing import NamedTuple


class Span(NamedTuple):
    """Characters [start, end) of a sentence."""

    start: int
    end: int


class Mention(NamedTuple):
    """A place where a text speaks of a term.

    Attributes:
        term: the term as it was written, or the pattern that a user has asked for.
        named: whether it is such a pattern.
        side: -1, 0 or 1, what is said of it.
        polarity: the same from -1 to 1.
        sentence: the text of the sentence; "" if that is not known.
        place, because: where the term stands in the sentence, and the phrase that decides.
        said: the text of that phrase, or None.
    """

    term: str
    named: bool
    side: int
    polarity: float
    sentence: str
    place: Span
    because: Span | None
    said: str | None


def side_of(mentions: Iterable[Mention]) -> int:
    """The side of a text that speaks of a term several times: that of most mentions; 0 where both
    sides have as many."""
    total = sum(mention.side for mention in mentions)
    return (total > 0) - (total < 0)
