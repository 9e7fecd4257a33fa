"""Quotes: their ranking, and how long ones are shortened."""

import zlib
from typing import Final, NamedTuple, Self

MOST_CHARACTERS: Final = 280
"""Maximum length of a quote in characters, approximately."""

_WORDS: Final = range(5, 31)  # words of a preferred sentence
_CLEAR: Final = 0.5  # minimum polarity of a quote that is clearly positive or negative
_DOTS: Final = "… "

Rank = tuple[int, int]
"""The rank of a quote; those with the lowest ranks are kept."""


class Span(NamedTuple):
    """The characters [start, end) of a text."""

    start: int
    end: int

    def shifted(self, by: int) -> Self:
        """Return the span moved right by so many characters."""
        return self._replace(start=self.start + by, end=self.end + by)


class Quote(NamedTuple):
    """A quoted text, or the sentence that mentions a term.

    Attributes:
        text: the sentence, or a part of it.
        term, because: the spans of the term and of the phrase that decides, if any.
        side: -1, 0 or 1.
        place: the position of the text in its table, such as "line 12".
    """

    text: str
    term: Span | None
    because: Span | None
    side: int
    place: str

    def rank(self, polarity: float) -> Rank:
        """Rank the quote. Clearly positive or negative texts of a readable length, with a deciding
        phrase, come first; the `lot` orders the others."""
        plain = len(self.text.split(maxsplit=_WORDS.stop)) in _WORDS
        clear = not self.side or abs(polarity) >= _CLEAR
        why = self.side != 0 if self.term is None else self.because is not None
        return 3 - plain - clear - why, self.lot

    @property
    def lot(self) -> int:
        """A pseudo-random number for sampling: a checksum of the text."""
        return zlib.crc32(self.text.encode("utf-8", "surrogatepass"))

    def shortened(self) -> Self:
        """Shorten the quote to about `MOST_CHARACTERS`: a text to its beginning, a sentence to the
        words around the term and, if they fit, the deciding phrase."""
        text, because = self.text, self.because
        if len(text) <= MOST_CHARACTERS:
            return self
        first, last = self.term or (0, 0)
        if because and max(last, because.end) - min(first, because.start) <= MOST_CHARACTERS:
            first, last = min(first, because.start), max(last, because.end)
        else:
            because = None
        room = max(MOST_CHARACTERS - (last - first), 0) // (2 if self.term else 1)
        start = text.find(" ", max(first - room - 1, 0), first) + 1 or first
        end = text.rfind(" ", last, last + room)
        start, end = 0 if first <= room else start, len(text) if last + room >= len(text) else end
        end = last if end < 0 else end
        cut = f"{_DOTS * (start > 0)}{text[start:end]}{_DOTS[::-1] * (end < len(text))}"
        shift = len(_DOTS) * (start > 0) - start
        term, why = (span and span.shifted(shift) for span in (self.term, because))
        return self._replace(text=cut, term=term, because=why)
