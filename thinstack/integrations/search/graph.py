"""A graph of nearest neighbours over the phrases of an index, by usearch."""

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from thinstack.errors import needs_extra
from thinstack.integrations.search.phrase_table import PhraseTable
from thinstack.integrations.search.ranking import signs

EXACT: Final = 1_000_000
"""Phrases that are compared one by one; more are looked up in a graph, if usearch is installed."""

_BLOCK: Final = 1 << 16
_FIRST: Final = 512


class Graph:
    """A graph over the vectors and signs of phrases, which finds most of the nearest without
    comparing all. Raises MissingExtraError without usearch."""

    def __init__(self, width: int):
        with needs_extra("index", "usearch"):
            from usearch.index import Index
        self._index = Index(ndim=width + 1, metric="ip", dtype="f16", expansion_add=64)

    def extend(self, table: PhraseTable) -> None:
        """Add the phrases of a table that are not in the graph yet."""
        column = signs(table.column("polarity"))
        for start in range(len(self._index), len(table), _BLOCK):
            rows = np.hstack([table.vectors[start : start + _BLOCK], column[start:][:_BLOCK, None]])
            self._index.add(np.arange(start, start + len(rows)), rows.astype(np.float16))

    def best_first(self, query: NDArray[np.float32]) -> Iterator[int]:
        """Phrases in descending order of the inner product with a vector and its sign (D + 1,)."""
        count, seen = _FIRST, set[int]()
        while len(seen) < len(self._index):
            keys = self._index.search(query, min(count, len(self._index))).keys.tolist()
            new = [key for key in keys if key not in seen]
            if not new:
                return
            yield from new
            seen.update(new)
            count *= 4
