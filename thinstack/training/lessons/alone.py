"""A lesson of phrases without their sentences."""

from typing import ClassVar, Final

import numpy as np
from pydantic import Field

from thinstack.data.trees.subtrees import LabelledTree
from thinstack.training.lesson import Lesson, Treebank

__all__ = ["Alone"]

SHORTEST, LONGEST = 3, 20
MIDDLE_KEPT: Final = 0.4
"""Share of phrases of the middle class that may be drawn, because most phrases are neutral."""


class Alone(Lesson):
    """Labeled phrases of 3 to 20 words as separate sentences, so that a contextual encoder is also
    trained on phrases without context."""

    name: ClassVar[str] = "alone.v1"
    summary: ClassVar[str] = "phrases read as separate sentences"
    anew: ClassVar[bool] = True
    parsed: ClassVar[bool] = True

    share: float = Field(default=1.0, gt=0)
    """Number of phrases per sentence and epoch."""

    def trees(self, treebank: Treebank, draw: np.random.Generator) -> list[LabelledTree]:
        """Return phrases with the labels of their nodes; a sentence may be drawn several times.

        If the number of classes is odd, phrases of the middle class are drawn less often.
        """
        trees, middle = treebank.trees, treebank.classes // 2 if treebank.classes % 2 else -1
        phrases = []
        for place in draw.integers(len(trees), size=round(self.share * len(trees))).tolist():
            spans, labels = trees[place].tree.spans[:-1], trees[place].labels[:-1]
            words = spans[:, 1] - spans[:, 0]
            fits = (words >= SHORTEST) & (words <= LONGEST) & (labels >= 0)
            if middle >= 0:
                fits &= (labels != middle) | (draw.random(len(labels)) < MIDDLE_KEPT)
            if fits.any():
                phrases.append(trees[place].phrase(int(draw.choice(np.flatnonzero(fits)))))
        return phrases
