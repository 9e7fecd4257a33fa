"""Quotes: what is cited of texts, which are kept, and how long ones are shortened."""

import zlib
from typing import Final, NamedTuple, Self

MOST_CHARACTERS: Final = 280
"""Characters of a quote."""

_WORDS: Final = range(5, 31)  # of a sentence that is quoted first
_CLEAR: Final = 0.5  # the polarity of a quote that says clearly what it says
_DOTS: Final = "… "

Rank = tuple[int, int]
"""The place of a quote among others; the lowest are kept."""


class Span(NamedTuple):
    """Characters [start, end) of a text."""

    start: int
    end: int

    def shifted(self, by: int) -> Self:
        """The same, so many characters further on."""
        return self._replace(start=self.start + by, end=self.end + by)


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

    def rank(self, polarity: float) -> Rank:
        """Its place among others. Texts of a length that is easily read, which say clearly what and
        why, come first; of others the `lot` decides."""
        plain = len(self.text.split(maxsplit=_WORDS.stop)) in _WORDS
        clear = not self.side or abs(polarity) >= _CLEAR
        why = self.side != 0 if self.term is None else self.because is not None
        return 3 - plain - clear - why, self.lot

    @property
    def lot(self) -> int:
        """A number by which it is drawn: a sum of its text."""
        return zlib.crc32(self.text.encode("utf-8", "surrogatepass"))

    def shortened(self) -> Self:
        """The quote in about `MOST_CHARACTERS`: of a text its beginning, of a sentence what is
        around the term and, if there is room, what decides."""
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
