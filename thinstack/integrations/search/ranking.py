"""Ranking of the phrases of an index by their scores for a query, exact or with a graph, and the
selection of hits."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from thinstack.errors import needs_extra
from thinstack.integrations.report.terms import said_phrase
from thinstack.integrations.search.phrase_table import Mentions, PhraseTable
from thinstack.runtime.vectors import SIGN_WEIGHT

EXACT: Final = 1_000_000
"""Maximum number of phrases to compare exactly; more use a graph, if usearch is installed."""

_BLOCK: Final = 1 << 16  # phrases added to a graph at once
_TOGETHER: Final = 512  # vectors whose floats fit into the processor's cache
_SIGN_AND_REST: Final = np.int32(-0x70002000)  # 0x8fffe000: all but the copies of the sign
_FIRST: Final = 512
"""Number of phrases to inspect before more are sorted or looked up."""


def signs(polarity: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the column that `encode` appends for polarities (P,), but 0 if there is none."""
    numbers = np.nan_to_num(polarity)
    column: NDArray[np.float32] = np.sign(numbers) * np.sqrt(np.float32(SIGN_WEIGHT) * abs(numbers))
    return column


def cosines(vectors: NDArray[np.float16], query: NDArray[np.float32]) -> NDArray[np.float32]:
    """Compute the cosine (P,) of each vector (P, D) with a query (D,).

    float16 is converted to float32 by bit operations, three times as fast as numpy's `astype`:
    shifted by 13 bits, and without copies of the sign, it is the number times 2**-112.
    """
    cosines = np.empty(len(vectors), np.float32)
    bits = np.empty((_TOGETHER, vectors.shape[1]), np.int32)
    scaled = query * np.float32(2.0**112)
    for start in range(0, len(vectors), _TOGETHER):
        rows = vectors[start : start + _TOGETHER]
        some = bits[: len(rows)]
        np.left_shift(rows.view(np.int16), 13, out=some, casting="same_kind", dtype=np.int32)
        np.bitwise_and(some, _SIGN_AND_REST, out=some)
        cosines[start : start + len(rows)] = some.view(np.float32) @ scaled
    return cosines


def best_first(scores: NDArray[np.float32]) -> Iterator[int]:
    """Yield the indices of scores in descending order, except -inf. Sorts a few first, and more
    only if needed."""
    first = np.arange(len(scores))
    if len(scores) > _FIRST:
        first = np.sort(np.argpartition(-scores, _FIRST)[:_FIRST])
    for some in (first, np.setdiff1d(np.arange(len(scores)), first, assume_unique=True)):
        order = some[np.argsort(-scores[some], kind="stable")]
        yield from order[scores[order] > -np.inf].tolist()


class Graph:
    """A graph over the vectors and signs of phrases for approximate nearest-neighbor search. Raises
    MissingExtraError without usearch."""

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
        """Yield phrases by their inner product with a vector and its sign (D + 1,), descending."""
        count, seen = _FIRST, set[int]()
        while len(seen) < len(self._index):
            keys = self._index.search(query, min(count, len(self._index))).keys.tolist()
            new = [key for key in keys if key not in seen]
            if not new:
                return
            yield from new
            seen.update(new)
            count *= 4


def places_of(
    order: Iterable[int], mentions: Mentions, table: PhraseTable
) -> Iterator[tuple[int, int, int, int]]:
    """Yield the ranked phrases that are hits, each with the sentence of its first free mention and
    its characters in the text. Hits do not overlap and have different words."""
    taken, all_said = defaultdict[int, list[tuple[int, int]]](list), set[str]()
    for number in order:
        said = said_phrase(table.phrase(number))
        if said in all_said:
            continue
        for sentence, start, end in mentions.places[slice(*mentions.starts[number:][:2])].tolist():
            if all(end <= begun or ended <= start for begun, ended in taken[sentence]):
                taken[sentence].append((start, end))
                all_said.update([said] if said else ())
                yield number, sentence, start, end
                break
