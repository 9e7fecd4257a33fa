"""Learning syntactic distances from a treebank: at every node, the gap it is cut at should be the
greatest of its span."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from thinstack.core import Tree
from thinstack.data.distances import WINDOW, DistanceTable, forms

__all__ = ["fit"]

FREQUENT = 1500
EPOCHS = 4
LEARNING_RATE = 0.1


def fit(trees: Sequence[Tree], *, seed: int = 0) -> DistanceTable:
    """A table of distances from binary trees: maximum likelihood of the cuts, each a softmax over
    the gaps of its span.

    AdaGrad, a sentence at a time, over the FREQUENT most frequent words and the forms of all
    others. A word that is spelt as a form, such as "<ing>", has no weights of its own.
    """
    counts = Counter(word.lower() for tree in trees for word in tree.words)
    for form in forms():
        counts.pop(form, None)
    words = [
        word for word, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:FREQUENT]
    ]
    weights = np.zeros((2 * WINDOW, 1 + len(words) + len(forms())))
    squares = np.full_like(weights, 1e-3)
    empty = DistanceTable(words, weights)
    examples = [(empty.features(tree.words), _cuts(tree)) for tree in trees if len(tree.words) > 2]
    generator = np.random.default_rng(seed)
    for _ in range(EPOCHS):
        for number in generator.permutation(len(examples)).tolist():
            _step(weights, squares, *examples[number])
    return DistanceTable(words, weights)


def _cuts(tree: Tree) -> list[tuple[int, int, int]]:
    """First gap, last gap + 1 and the gap of the cut, for every node over at least three words."""
    spans = tree.spans.tolist()
    found = []
    for node, children in enumerate(tree.children):
        start, end = spans[node]
        if end - start > 2:
            found.append((start, end - 1, spans[children[0]][1] - 1))
    return found


def _step(
    weights: NDArray[np.float64],
    squares: NDArray[np.float64],
    features: NDArray[np.int64],
    cuts: Sequence[tuple[int, int, int]],
) -> None:
    places = np.arange(2 * WINDOW)[:, None]
    distances = weights[places, features].sum(axis=0)
    gradient = np.zeros_like(distances)
    for start, end, cut in cuts:
        mass = np.exp(distances[start:end] - distances[start:end].max())
        gradient[start:end] += mass / mass.sum()
        gradient[cut] -= 1
    for place in range(2 * WINDOW):
        used, inverse = np.unique(features[place], return_inverse=True)
        slope = np.bincount(inverse, gradient)
        squares[place, used] += slope**2
        weights[place, used] -= LEARNING_RATE * slope / np.sqrt(squares[place, used])
