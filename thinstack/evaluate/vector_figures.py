"""Figures of vectors against those of a teacher."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from thinstack.evaluate.figures import Figures

NEAR = 10


def nearest_figures(vectors: NDArray[Any], teacher: NDArray[Any]) -> Figures:
    """How like the neighbours by a teacher's vectors (n, W) those by other vectors (n, D) are, both
    of length 1, in per cent: how often the nearest other row by the teacher is the nearest by the
    vectors too (`first`), and how often it is among the ten nearest (`among_ten`)."""
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
