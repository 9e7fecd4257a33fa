"""Views of a model's classes: five classes of sentiment as three or two, and no label if no class
is probable enough."""

from typing import Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from thinstack.core.class_sets import ClassSets, set_matrix
from thinstack.core.scale import FIVE as FIVE
from thinstack.core.scale import Scale
from thinstack.errors import InputError, shown
from thinstack.runtime.prediction import Scored

_LEAST: Final = 1e-30
"""Added to the mass of both sides, so that a phrase that is wholly neutral has even scores."""


class View(NamedTuple):
    """Which classes a user sees.

    Attributes:
        labels: the V classes that are shown.
        abstain: if no class is as probable as this, there is no label.
        places: for each of the model's classes, the shown class that it adds to, or -1 if it is
            left out. None if the model's own classes are shown.
    """

    labels: tuple[str, ...]
    abstain: float = 0.0
    places: tuple[int, ...] | None = None

    @classmethod
    def choose(
        cls,
        labels: tuple[str, ...],
        classes: int | None,
        abstain: float | None,
        class_sets: ClassSets | None = None,
    ) -> Self:
        """The view of a model with these labels. Unless so many `classes` are asked for, the labels
        of its `class_sets` are shown, if it has such.

        Raises InputError unless `classes` is 2, 3, 5 or None, and 0 < `abstain` < 1. Also if the
        model's classes are not a scale of sentiment (`Scale`) that has so many.
        """
        number = isinstance(abstain, float | int | np.floating)
        if abstain is not None and not (number and 0 < abstain < 1):
            value = shown(abstain)
            raise InputError(f"abstain: expected a probability between 0 and 1, found {value}")
        share = 0.0 if abstain is None else float(abstain)
        if classes is None and class_sets:
            sets = set_matrix(labels, class_sets)
            places = np.where(sets.any(0), sets.argmax(0), -1).tolist()
            return cls(tuple(class_sets), share, tuple(places))
        if classes is None:
            return cls(labels, share)
        if classes not in (2, 3, len(FIVE)):
            raise InputError(f"classes: expected 2, 3 or 5, found {classes!r}")
        scale = Scale.of(labels)
        if scale is not None and classes == len(labels) == len({*scale.polarity}):
            return cls(labels, share)
        merged = None if scale is None else scale.merged(classes)
        if merged is None:
            expected = f"a model of the five classes {', '.join(FIVE)}"
            expected += "" if classes == len(FIVE) else ", or another one from negative to positive"
            actual = f"this one has {', '.join(labels):.200}"
            raise InputError(f"classes: expected {expected}; {actual}: leave classes out")
        names, places = merged
        return cls(names, share, places)

    def scores(self, scores: NDArray[np.float32]) -> tuple[NDArray[np.float32], float]:
        """The probabilities (N, V) of the shown classes, from the model's (N, C).

        Also gives how much of the probability of the last row, the sentence, they stand for. It is
        1, unless a class is left out.
        """
        if self.places is None:
            return scores, 1.0
        adds = np.array(self.places)[:, None] == np.arange(len(self.labels))
        masses = scores @ adds.astype(scores.dtype)
        if -1 not in self.places:
            return masses, 1.0
        masses += _LEAST
        totals = masses.sum(axis=1, keepdims=True)
        return masses / totals, float(totals[-1, 0])

    def shown(self, scored: Scored) -> Scored:
        """A sentence with the scores of the shown classes."""
        scores, weight = self.scores(scored.scores)
        return scored._replace(scores=scores, weight=weight)

    def classes(self, known: NDArray[np.int64]) -> NDArray[np.int64]:
        """The shown class for each of the model's classes (K,); -1 for a class that is left out."""
        if self.places is None:
            return known
        return np.array([*self.places, -1], np.int64)[known]
