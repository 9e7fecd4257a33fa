"""Measures a plain rival on pairs of sentences from a table."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from thinstack.data.trees.pairs import Pair
from thinstack.evaluate.figures import Figures
from thinstack.evaluate.pair_figures import entailment, relatedness

__all__ = ["pair_rival"]

CLASS: Final = "always the most frequent class"
OVERLAP: Final = "linear regression on shared words"


def pair_rival(train: Sequence[Pair], dev: Sequence[Pair]) -> tuple[str, Figures]:
    """The name of a plain rival, and its figures on `dev`.

    For classes, the rival always gives the most frequent class of `train`. For ratings, it is a
    linear regression on the share of words that both sentences have: the Jaccard index of their
    lower-cased words.
    """
    gold = [pair.target for pair in dev]
    if isinstance(gold[0], str):
        commonest = Counter(pair.target for pair in train).most_common(1)[0][0]
        right = np.array([target == commonest for target in gold], np.int64)
        return CLASS, entailment(right, np.ones_like(right))
    x, y = _overlaps(train), np.array([pair.target for pair in train], np.float64)
    slope = np.cov(x, y)[0, 1] / variance if (variance := x.var(ddof=1)) else 0.0
    found = y.mean() + slope * (_overlaps(dev) - x.mean())
    return OVERLAP, relatedness(found, np.array(gold, np.float64))


def _overlaps(pairs: Sequence[Pair]) -> NDArray[Any]:
    sides = [[{word.lower() for word in tree.words} for tree in pair.trees] for pair in pairs]
    return np.array([len(a & b) / len(a | b) for a, b in sides])
