"""Which themes each row of a table has, and the phrases that say so."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from thinstack.integrations.themes.centres import Floats, Ints


class Match(NamedTuple):
    """A theme of a text, with the phrase of it that says so: its characters [start, end), and its
    similarity to the theme."""

    theme: str
    phrase: str
    start: int
    end: int
    similarity: float


class RowMatches(NamedTuple):
    """The M themes of rows, as columns, in the order of the rows, those of a row best first.

    Attributes:
        rows, themes: (M,) the places of both.
        spans: (M, 2) the characters [start, end) of the phrases.
        similarity: (M,) of these.
    """

    rows: Ints
    themes: Ints
    spans: NDArray[np.int32]
    similarity: Floats

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """The themes of all rows, from those of some at a time."""
        nothing = np.zeros(0, np.int64)
        none = cls(nothing, nothing, np.zeros((0, 2), np.int32), np.zeros(0, np.float32))
        return cls._make(map(np.concatenate, zip(none, *parts, strict=True)))

    def of(self, row: int) -> Iterator[tuple[int, int, int, float]]:
        """The theme, the characters and the similarity of each theme of a row."""
        for place in range(*np.searchsorted(self.rows, (row, row + 1))):
            start, end = self.spans[place].tolist()
            yield int(self.themes[place]), start, end, float(self.similarity[place])

    def shown(self, order: Sequence[int], count: int) -> Self:
        """Those of the themes in `order`, out of `count`, by their places there."""
        places = np.full(count, -1)
        places[[*order]] = np.arange(len(order))
        shown = self._replace(themes=places[self.themes])
        there = shown.themes >= 0
        return shown._replace(
            rows=shown.rows[there],
            themes=shown.themes[there],
            spans=shown.spans[there],
            similarity=shown.similarity[there],
        )
