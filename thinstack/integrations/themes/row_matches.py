"""Which themes each row of a table has, and the phrases that say so."""

from array import array
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Match(NamedTuple):
    """A theme of a text, with the phrase of it that says so: its characters [start, end), and its
    similarity to the theme."""

    theme: str
    phrase: str
    start: int
    end: int
    similarity: float


class RowMatches(NamedTuple):
    """The M themes of rows, as columns, those of a row best first.

    Attributes:
        ends: of each row, how many there are up to and with it.
        themes: the places of the themes; -1 for one that is not shown.
        spans: 2 M numbers, the characters [start, end) of the phrases.
        similarity: of these.
    """

    ends: "array[int]"
    themes: "array[int]"
    spans: "array[int]"
    similarity: "array[float]"

    @classmethod
    def empty(cls) -> "RowMatches":
        return cls(array("q"), array("i"), array("i"), array("f"))

    def of(self, row: int) -> Iterator[tuple[int, int, int, float]]:
        """The theme, the characters and the similarity of each shown theme of a row."""
        for place in range(self.ends[row - 1] if row else 0, self.ends[row]):
            if self.themes[place] >= 0:
                start, end = self.spans[2 * place : 2 * place + 2]
                yield self.themes[place], start, end, self.similarity[place]

    def add(self, theme: int, start: int, end: int, similarity: float) -> None:
        """Store a theme of a row."""
        self.themes.append(theme)
        self.spans.extend((start, end))
        self.similarity.append(similarity)

    def end_row(self, count: int) -> None:
        """Store that the next row has so many of the themes."""
        self.ends.append((self.ends[-1] if self.ends else 0) + count)

    def show(self, order: Sequence[int], count: int) -> None:
        """Give the themes, of which there are `count`, the places that they have in `order`."""
        places = np.full(count, -1, np.int32)
        places[[*order]] = np.arange(len(order))
        self.themes[:] = array("i", places[np.array(self.themes, np.int64)].tobytes())

    def shown(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The row and the theme of each that is shown."""
        themes, ends = np.array(self.themes, np.int64), np.array(self.ends, np.int64)
        rows = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
        return rows[themes >= 0], themes[themes >= 0]
