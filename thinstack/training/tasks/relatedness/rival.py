"""A plain rival of models of ratings."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thinstack.data.trees.pairs import Pair
from thinstack.evaluate.figures import Figures
from thinstack.evaluate.pair_figures import relatedness

__all__ = ["by_overlap"]


def by_overlap(train: Sequence[Pair], dev: Sequence[Pair]) -> tuple[str, Figures]:
    """The name and the figures on `dev` of a linear regression of ratings on the share of words
    that both sentences have: the Jaccard index of their lower-cased words."""
    x, y = _overlaps(train), np.array([pair.target for pair in train], np.float64)
    slope = np.cov(x, y)[0, 1] / variance if (variance := x.var(ddof=1)) else 0.0
    ratings = y.mean() + slope * (_overlaps(dev) - x.mean())
    gold = np.array([pair.target for pair in dev], np.float64)
    return "linear regression on shared words", relatedness(ratings, gold)


def _overlaps(pairs: Sequence[Pair]) -> NDArray[Any]:
    sides = [[{word.lower() for word in tree.words} for tree in pair.trees] for pair in pairs]
    return np.array([len(a & b) / len(a | b) for a, b in sides])
