"""Where the tree of a sentence comes from when there are only its words."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from thinstack.core import transitions
from thinstack.data.distances import DistanceTable
from thinstack.errors import InputError

__all__ = ["TreeMaker", "tree_maker"]

TreeMaker = Callable[[Sequence[str]], NDArray[np.int8]]
"""From the n >= 1 words of a sentence to the transitions (2n-1,) of its tree."""

SHAPES = {"balanced": transitions.balanced, "left": transitions.left, "right": transitions.right}


def tree_maker(source: str, distances: DistanceTable | None = None) -> TreeMaker:
    """What makes the trees of `source`: "balanced", "left", "right", or "distances" by the table given.

    Raises InputError for any other source, or if there is no table.
    """
    if source == "distances" and distances is not None:
        return distances.transitions
    if source not in SHAPES:
        known = (*SHAPES, *(("distances",) if distances else ()))
        raise InputError(f"unknown tree source {source!r}; this model has {', '.join(known)}")
    shape = SHAPES[source]
    return lambda words: shape(len(words))
