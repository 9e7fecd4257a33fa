"""Figures of vectors against those of a teacher."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from thinstack.evaluate.figures import Figures

NEAR = 10


def nearest_figures(vectors: NDArray[Any], teacher: NDArray[Any]) -> Figures:
    """How often the nearest row by a teacher's vectors (n, W) is near by other vectors (n, D) too,
    in per cent. All have length 1, and a row is no neighbour of itself.

    `first` is how often it is the nearest, `among_ten` how often it is among the ten nearest.
    """
    n = len(vectors)
    theirs, ours = teacher @ teacher.T, vectors @ vectors.T
    np.fill_diagonal(theirs, -np.inf)
    np.fill_diagonal(ours, -np.inf)
    nearest = theirs.argmax(axis=1)
    nearer = (ours > ours[np.arange(n), nearest][:, None]).sum(axis=1)
    return {
        "first": 100 * float((nearer < 1).mean()),
        "among_ten": 100 * float((nearer < NEAR).mean()),
    }
