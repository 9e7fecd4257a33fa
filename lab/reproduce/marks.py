"""What development examples are marked with, beside their classes: negations, long premises."""

from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reproduce.cases import NOT, Cases, negated
from thinstack.evaluate.figures import Figures
from thinstack.training.examples.datasets import read_items
from thinstack.training.recipe import Recipe
from thinstack.training.tasks.pairs import Pair

LONG: Final = 20
"""Words of a long premise (Bowman et al. 2016, 4.4)."""


class Marks(NamedTuple):
    """Of E development examples; every array is (E,).

    Attributes:
        negated: whether there is a negation, as `Cases` has it.
        with_not: the same of "not" and "n't" only; of sentences nothing.
        long: whether the first sentence of a pair has `LONG` words or more; of sentences nothing.
    """

    negated: NDArray[np.bool_]
    with_not: NDArray[np.bool_]
    long: NDArray[np.bool_]

    def figures(self, cases: Cases) -> Figures:
        """The figures of section 4.4 of Bowman et al. 2016 from the cases of all E pairs, in
        percent, and the numbers of pairs."""
        return {
            **cases.figures_at("negation_accuracy", "negations", self.negated),
            **cases.figures_at("not_accuracy", "nots", self.with_not),
            **cases.figures_at("long_accuracy", "long_premises", self.long),
        }


def marks_of(recipe: Recipe, data: Path) -> Marks:
    """The marks of the development examples of a recipe, with files in the folder `data`. Raises
    what reading them raises."""
    items = read_items(recipe, data)[2]
    if not isinstance(items[0], Pair):
        marked = np.array([negated(tree.words) for tree, _ in items])
        return Marks(marked, *np.zeros((2, len(marked)), bool))
    pairs = [(a.words, b.words) for a, b in (pair.trees for pair in items)]
    return Marks(
        np.array([negated(b) and not negated(a) for a, b in pairs]),
        np.array([negated(b, NOT) and not negated(a, NOT) for a, b in pairs]),
        np.array([len(a) >= LONG for a, _ in pairs]),
    )
