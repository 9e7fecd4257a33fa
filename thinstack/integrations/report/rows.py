"""The rows of a table for a report: the text, group and date, faults, and quotes that mention
terms."""

import zlib
from collections.abc import Callable, Iterator
from datetime import date
from typing import Any, Final, Literal, NamedTuple, Self

from thinstack.errors import escaped

Kind = Literal["row", "empty", "language", "failed", "group", "date", "stars"]
"""Kinds of faults: a bad row; a text that is missing, without words, in another language, or that
the model could not score; an unreadable group, date or rating."""

REASONS: Final[dict[Kind, str]] = {
    "row": "cannot be read",
    "empty": "have no text",
    "language": "may not be in English",
    "failed": "could not be scored",
    "group": "have no value in the group column",
    "date": "have no readable date",
    "stars": "have no rating from 1 to 5 stars",
}
"""Message for a number of rows, by kind."""

MOST_CHARACTERS: Final = 280
"""Maximum length of a quote in characters, approximately."""

_WORDS: Final = range(5, 31)  # words of a preferred sentence
_CLEAR: Final = 0.5  # minimum polarity of a quote that is clearly positive or negative
_DOTS: Final = "… "

Rank = tuple[int, int]
"""The rank of a quote; those with the lowest ranks are kept."""


class ReportOptions(NamedTuple):
    """The options of a report.

    Attributes:
        model, finder: the names of the models that score whole texts, and that find and score
            terms.
        text, by, over, stars: the columns of texts, groups, dates and the authors' ratings in
            stars. In a frame, a column name may be a number, a tuple, or another object.
        dates: the date format; None for the default formats.
        min_mentions: the minimum number of texts that mention an aspect.
        advice: the advice in the error for a missing column.
    """

    source: str
    model: str = ""
    text: Any = "text"
    by: Any = None
    over: Any = None
    dates: str | None = None
    about: tuple[str, ...] = ()
    min_mentions: int = 5
    stars: Any = None
    finder: str = ""
    advice: str = "set the columns with --text, --by, --over and --stars (in Python text= ...)"

    @property
    def parts(self) -> dict[Kind, Any]:
        """The columns other than that of the texts, by kind."""
        columns: dict[Kind, Any] = {"group": self.by, "date": self.over, "stars": self.stars}
        return {kind: column for kind, column in columns.items() if column is not None}

    @property
    def columns(self) -> list[Any]:
        """The columns to read, without duplicates."""
        return list(dict.fromkeys((self.text, *self.parts.values())))


def column_name(name: object) -> str | None:
    """Return the name of a column as a report shows it; several levels are joined on one line."""
    if name is None:
        return None
    parts = name if isinstance(name, tuple) else (name,)
    return escaped(", ".join(str(part) for part in parts if part != ""))


class Fault(NamedTuple):
    """Why something could not be read; for a group or a date with the cell, "" if missing."""

    kind: Kind
    reason: str
    cell: str = ""


class Example(NamedTuple):
    """The position of something that could not be read, and why."""

    place: str
    reason: str


class Unread(NamedTuple):
    """The rows that could not be read for one reason: their number and the first of them."""

    kind: Kind
    rows: int
    examples: tuple[Example, ...]


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


class Mention(NamedTuple):
    """A mention of a term in a text.

    Attributes:
        term: the term as written, or the pattern that a user requested.
        polarity: the polarity of the opinion about it, from -1 to 1.
        quote: the whole sentence, with the term and the deciding phrase.
        rank: the rank of the quote; by default clear sentences come first.
    """

    term: str
    polarity: float
    quote: Quote
    rank: Rank | None = None


class TextRow(NamedTuple):
    """A row of a table, and the opinions in its text once it is scored.

    Attributes:
        place: the position of the row, such as "line 12".
        text: its text; "" if it cannot be read.
        group, day, stars, faults: the values of these columns, and why some cannot be read.
        unreadable: why the text does not count, or None if it does.
        side, polarity: the polarity of the text as -1, 0 or 1, and from -1 to 1.
    """

    place: str
    text: str
    group: str | None = None
    day: date | None = None
    stars: float | None = None
    faults: tuple[Fault, ...] = ()
    unreadable: Fault | None = None
    side: int = 0
    polarity: float = 0.0
    mentions: tuple[Mention, ...] = ()


Source = Callable[[], Iterator[TextRow]]
"""A function that returns the rows of a table, from the first at each call."""
