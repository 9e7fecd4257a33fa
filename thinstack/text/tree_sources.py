"""Chooses where the tree of a sentence comes from when there are only its words."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from thinstack.core import transitions
from thinstack.errors import InputError, shown
from thinstack.text.distance_table import DistanceTable

__all__ = ["TreeMaker", "tree_maker"]

TreeMaker = Callable[[Sequence[str]], NDArray[np.int8]]
"""Takes the n >= 1 words of a sentence, and gives the transitions (2n-1,) of its tree."""

SHAPES = {"balanced": transitions.balanced, "left": transitions.left, "right": transitions.right}


def tree_maker(
    source: str, distances: DistanceTable | None = None, parser: TreeMaker | None = None
) -> TreeMaker:
    """The function that makes the trees of `source`: "balanced", "left" or "right", "distances" by
    the table `distances`, or "self" by `parser`.

    Raises InputError for any other source, and if there is no such table or parser.
    """
    if not isinstance(source, str):
        raise InputError(f"expected the name of a tree source, found {shown(source)}")
    if source in SHAPES:
        shape = SHAPES[source]
        return lambda words: shape(len(words))
    makers = {"distances": None if distances is None else distances.transitions, "self": parser}
    if (maker := makers.get(source)) is None:
        known = ", ".join([*SHAPES, *(name for name, there in makers.items() if there)])
        problem = "no parser for the" if source == "self" else "unknown"
        raise InputError(f"{problem} tree source {source!r}; this model has {known}")
    return maker
