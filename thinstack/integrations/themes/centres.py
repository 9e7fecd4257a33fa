"""Greedy, deterministic clustering of clauses by meaning, with outliers."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from thinstack.runtime.scored import unit

_NEAR: Final = 0.52  # minimum cosine of two clauses that are neighbors
_MERGED: Final = 0.7  # minimum cosine of the centroids of two groups that are merged

OUTSIDE: Final = -1
"""The group number of outliers."""

_LOOSER: Final = 0.1  # below _NEAR, to join an existing group
_TIGHTER: Final = 0.1  # above _NEAR, per level at which a large group is split
_TIGHTEST: Final = 0.8
_RIDGE: Final = 10.0
_BLOCK: Final = 1 << 10

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]


def polarity_direction(vectors: Floats, polarity: Floats) -> Floats:
    """Return the unit direction (D,) in vectors (n, D) that predicts their polarity (n,), by ridge
    regression."""
    rows = vectors - vectors.mean(axis=0)
    square = rows.T @ rows + _RIDGE * np.eye(rows.shape[1], dtype=np.float32)
    return unit(np.linalg.solve(square, rows.T @ (polarity - polarity.mean())))


def without(vectors: NDArray[np.floating], directions: Floats) -> Floats:
    """Project `directions` (k, D) out of the vectors (n, D) and normalize them."""
    rows = unit(vectors)
    if not len(directions):
        return rows
    basis = np.linalg.qr(directions.T)[0].astype(np.float32)
    return unit(rows - (rows @ basis) @ basis.T)


def centres_of(vectors: Floats, groups: Ints) -> Floats:
    """Compute the centroid of each group: the normalized mean of its vectors (K, D)."""
    sums = np.zeros((groups.max(initial=OUTSIDE) + 1, vectors.shape[1]), np.float32)
    inside = groups != OUTSIDE
    np.add.at(sums, groups[inside], vectors[inside])
    return unit(sums)


def grouped(vectors: Floats, texts: Ints, *, least: int, most: int) -> Ints:
    """Return the group of each of n clauses, or `OUTSIDE`.

    `vectors`: (n, D), unit vectors. `texts`: (n,), the text of each. A group contains clauses from
    at least `least` texts. Groups with near centroids are merged, and a group of more than `most`
    texts is split, if possible.
    """
    groups = _greedy(vectors, texts, least, _NEAR)
    return _split(vectors, texts, _merged(vectors, texts, groups, most), least, most, _NEAR)


def _greedy(vectors: Floats, texts: Ints, least: int, near: float) -> Ints:
    """Repeatedly group the clause that has the most neighbors with these. The remaining clauses
    join the group with the nearest centroid, if it is near enough."""
    is_near = np.empty((len(vectors), len(vectors)), np.bool_)
    for start in range(0, len(vectors), _BLOCK):
        rows = slice(start, start + _BLOCK)
        np.greater_equal(vectors[rows] @ vectors.T, near, out=is_near[rows])
    groups, free, number = np.full(len(vectors), OUTSIDE), np.ones(len(vectors), np.bool_), 0
    degrees = is_near.sum(axis=1)
    while free.any():
        best = int(np.where(free, degrees, -1).argmax())
        if degrees[best] < least:
            break
        taken = is_near[best] & free
        taken[best] = True
        free &= ~taken
        degrees -= is_near[taken].sum(axis=0)
        if _count(texts[taken]) >= least:
            groups[taken] = number
            number += 1
    if not number:
        return groups
    cosines = vectors @ centres_of(vectors, groups).T
    joins = (groups == OUTSIDE) & (cosines.max(axis=1) >= near - _LOOSER)
    return np.where(joins, cosines.argmax(axis=1), groups)


def _merged(vectors: Floats, texts: Ints, groups: Ints, most: int) -> Ints:
    """Repeatedly merge the two groups with the nearest centroids, as long as these are near and the
    groups have at most `most` texts together."""
    while True:
        centres = centres_of(vectors, groups)
        cosines = np.triu(centres @ centres.T, 1)
        pairs = np.argwhere(cosines >= _MERGED)
        for one, other in pairs[np.argsort(-cosines[tuple(pairs.T)], kind="stable")]:
            both = (groups == one) | (groups == other)
            if _count(texts[both]) <= most:
                groups = np.where(both, one, groups - (groups > other))
                break
        else:
            return groups


def _split(vectors: Floats, texts: Ints, groups: Ints, least: int, most: int, near: float) -> Ints:
    """Split groups that are too large by clustering them again with a higher threshold."""
    near += _TIGHTER
    number = groups.max(initial=OUTSIDE) + 1
    for group in range(number if near <= _TIGHTEST else 0):
        (members,) = np.nonzero(groups == group)
        if _count(texts[members]) <= most:
            continue
        some = vectors[members], texts[members]
        parts = _split(*some, _greedy(*some, least, near), least, most, near)
        if parts.max(initial=OUTSIDE) > 0:
            moved = np.where(parts > 0, parts + number - 1, group)
            groups[members] = np.where(parts == OUTSIDE, OUTSIDE, moved)
            number += parts.max()
    return groups


def _count(texts: Ints) -> int:
    return len(np.unique(texts))
