"""The phrases of an index in the order of their scores for a query, and which of them are hits."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from thinstack.integrations.report.terms import said_phrase
from thinstack.integrations.search.phrase_table import Mentions, PhraseTable
from thinstack.runtime.vectors import SIGN_WEIGHT

_TOGETHER: Final = 512  # vectors, whose floats stay in the processor's cache
_SIGN_AND_REST: Final = np.int32(-0x70002000)  # 0x8fffe000: all but the copies of the sign
_FIRST: Final = 512
"""Phrases that are looked at, before more are sorted."""


def signs(polarity: NDArray[np.float32]) -> NDArray[np.float32]:
    """The column that `encode` adds for polarities (P,), but 0 without one."""
    numbers = np.nan_to_num(polarity)
    column: NDArray[np.float32] = np.sign(numbers) * np.sqrt(np.float32(SIGN_WEIGHT) * abs(numbers))
    return column


def cosines(vectors: NDArray[np.float16], query: NDArray[np.float32]) -> NDArray[np.float32]:
    """The cosine (P,) of each vector (P, D) with a query (D,).

    Halves become floats by their bits, which is three times as fast as numpy's `astype`. Moved by
    13 places, and without copies of the sign, they are the number times 2**-112.
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
    """The places of scores, the highest first, but for -inf. Few are sorted before more are
    needed."""
    first = np.arange(len(scores))
    if len(scores) > _FIRST:
        first = np.sort(np.argpartition(-scores, _FIRST)[:_FIRST])
    for some in (first, np.setdiff1d(np.arange(len(scores)), first, assume_unique=True)):
        order = some[np.argsort(-scores[some], kind="stable")]
        yield from order[scores[order] > -np.inf].tolist()


class Places:
    """The places of hits. None overlaps another, and no two hits say the same."""

    def __init__(self, mentions: Mentions, table: PhraseTable):
        self._mentions, self._table = mentions, table
        self._taken = defaultdict[int, list[tuple[int, int]]](list)
        self._said = set[str]()

    def take(self, number: int) -> tuple[int, int, int] | None:
        """The sentence of the first free mention of a phrase, and its characters in the text. None
        if there is none, or another hit says the same."""
        said = said_phrase(self._table.phrase(number))
        if said in self._said:
            return None
        first, last = self._mentions.starts[number : number + 2].tolist()
        for place in range(first, last):
            sentence, start, end = self._mentions.places[place].tolist()
            if all(end <= begun or ended <= start for begun, ended in self._taken[sentence]):
                self._taken[sentence].append((start, end))
                self._said.update([said] if said else ())
                return sentence, start, end
        return None
