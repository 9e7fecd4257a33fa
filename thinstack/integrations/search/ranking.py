"""The phrases of an index in the order of their scores for a query: exactly, or by a graph of
nearest neighbours."""

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from thinstack.errors import needs_extra
from thinstack.integrations.search.phrase_table import PhraseTable, VectorBlocks
from thinstack.runtime.vectors import SIGN_WEIGHT

EXACT: Final = 1_000_000
"""Phrases that are compared one by one; more are looked for in a graph, if there is one."""

_TOGETHER: Final = 512  # vectors, whose floats stay in the processor's cache
_SIGN_AND_REST: Final = np.int32(-0x70002000)  # 0x8fffe000: all but the copies of the sign
_FIRST: Final = 512
"""Phrases that are looked at, before more are sorted."""


def signs(polarity: NDArray[np.float32]) -> NDArray[np.float32]:
    """The column that `encode` adds for polarities (P,), but 0 without one."""
    numbers = np.nan_to_num(polarity)
    column: NDArray[np.float32] = np.sign(numbers) * np.sqrt(np.float32(SIGN_WEIGHT) * abs(numbers))
    return column


def cosines(vectors: VectorBlocks, query: NDArray[np.float32]) -> NDArray[np.float32]:
    """The cosine (P,) of each vector with a query (D,).

    Halves become floats by their bits, which is three times as fast as numpy's `astype`. Moved by
    13 places, and without copies of the sign, they are the number times 2**-112.
    """
    cosines = np.empty(len(vectors), np.float32)
    bits = np.empty((_TOGETHER, vectors.width), np.int32)
    scaled, place = query * np.float32(2.0**112), 0
    for block in vectors:
        for start in range(0, len(block), _TOGETHER):
            rows = block[start : start + _TOGETHER]
            some = bits[: len(rows)]
            np.left_shift(rows.view(np.int16), 13, out=some, casting="same_kind", dtype=np.int32)
            np.bitwise_and(some, _SIGN_AND_REST, out=some)
            cosines[place : place + len(rows)] = some.view(np.float32) @ scaled
            place += len(rows)
    return cosines


def best_first(scores: NDArray[np.float32]) -> Iterator[int]:
    """The places of scores, the highest first, but for -inf. Few are sorted before more are
    needed."""
    first = np.arange(len(scores))
    if len(scores) > _FIRST:
        first = np.sort(np.argpartition(-scores, _FIRST)[:_FIRST])
    for some in (first, np.setdiff1d(np.arange(len(scores)), first, assume_unique=True)):
        order = some[np.argsort(-scores[some], kind="stable")]
        yield from order[scores[order] > -np.inf].tolist()


class Graph:
    """A graph over the vectors and signs of phrases, which finds most of the nearest without
    looking at all. Raises MissingExtraError without usearch."""

    def __init__(self, width: int):
        with needs_extra("index", "usearch"):
            from usearch.index import Index
        self._index = Index(ndim=width + 1, metric="ip", dtype="f16", expansion_add=64)

    def extend(self, table: PhraseTable) -> None:
        """Take in the phrases that a table has beyond those that are in."""
        column, stop = signs(table.column("polarity")), 0
        for block in table.vectors:
            start, stop = max(stop, len(self._index)), stop + len(block)
            if start < stop:
                rows = np.hstack([block[start - stop :], column[start:stop, None]])
                self._index.add(np.arange(start, stop), rows.astype(np.float16))

    def best_first(self, query: NDArray[np.float32]) -> Iterator[int]:
        """Phrases, the highest inner products with a vector and its sign (D + 1,) first."""
        count, seen = _FIRST, set[int]()
        while len(seen) < len(self._index):
            keys = self._index.search(query, min(count, len(self._index))).keys.tolist()
            new = [key for key in keys if key not in seen]
            if not new:
                return
            yield from new
            seen.update(new)
            count *= 4
