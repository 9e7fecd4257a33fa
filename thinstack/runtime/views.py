"""Views of a model's classes: five sentiment classes as three or two, and no label below a
threshold."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from thinstack.core.scale import FIVE as FIVE
from thinstack.core.scale import NO_TERM, ClassSets, Scale, set_matrix
from thinstack.errors import InputError, shown
from thinstack.runtime.scored import Scored

_LEAST: Final = 1e-30
"""Added to each shown class, so that wholly neutral phrases get even scores without neutral."""


class View(NamedTuple):
    """The classes that results show.

    Attributes:
        labels: the V classes that are shown.
        abstain: the threshold: there is no label if the top probability is lower.
        places: for each of the model's classes, the shown class that it adds to, or -1 if it is
            left out. None if the model's own classes are shown.
        polarity: the place of each shown class from -1 (most negative) to 1 (most positive), as in
            `Scale`; for a label that means several classes, their mean. None without a sentiment
            scale.
        weights: factors for the sums of the shown classes; empty if they are all 1.
        no_term: the place of `NO_TERM` among the model's classes, which is not shown but decides
            which nodes are terms. None unless the model is an aspects model.
    """

    labels: tuple[str, ...]
    abstain: float = 0.0
    places: tuple[int, ...] | None = None
    polarity: tuple[float, ...] | None = None
    weights: tuple[float, ...] = ()
    no_term: int | None = None

    @classmethod
    def of(
        cls, labels: tuple[str, ...], abstain: float = 0.0, places: tuple[int, ...] | None = None
    ) -> Self:
        """Build the view that shows these classes."""
        scale = Scale.of(labels)
        return cls(labels, abstain, places, None if scale is None else scale.polarity)

    @classmethod
    def choose(
        cls,
        labels: tuple[str, ...],
        classes: int | None,
        abstain: float | None,
        class_sets: ClassSets | None = None,
        class_weights: tuple[float, ...] = (),
    ) -> Self:
        """Return the view of a model with these labels. Without `classes`, it shows the labels of
        the model's `class_sets`, if any, scaled by their `class_weights`. For an aspects model, it
        shows all classes except `NO_TERM`.

        Raises InputError unless `classes` is 2, 3, 5 or None, and 0 < `abstain` < 1. Also if the
        model's classes are not a sentiment scale (`Scale`) of at least this many, and for either
        argument if the model has no labels.
        """
        if not labels and (classes is not None or abstain is not None):
            cls(labels).need_labels("abstain" if classes is None else "classes")
        number = isinstance(abstain, float | int | np.floating)
        if abstain is not None and not (number and 0 < abstain < 1):
            value = shown(abstain)
            raise InputError(f"abstain: expected a probability between 0 and 1, found {value}")
        share = 0.0 if abstain is None else float(abstain)
        if NO_TERM in labels:
            no_term, rest = labels.index(NO_TERM), [one for one in labels if one != NO_TERM]
            view = cls.choose(tuple(rest), classes, abstain)
            shown_places = [*(range(len(rest)) if view.places is None else view.places)]
            shown_places.insert(no_term, -1)
            return view._replace(places=tuple(shown_places), no_term=no_term)
        if classes is None and class_sets:
            sets, scale, polarity = set_matrix(labels, class_sets), Scale.of(labels), None
            places = tuple(np.where(sets.any(0), sets.argmax(0), -1).tolist())
            if scale is not None:
                polarity = tuple((sets @ np.array(scale.polarity) / sets.sum(1)).tolist())
            return cls(tuple(class_sets), share, places, polarity, class_weights)
        if classes is None:
            return cls.of(labels, share)
        if classes not in (2, 3, len(FIVE)):
            raise InputError(f"classes: expected 2, 3 or 5, found {classes!r}")
        scale = Scale.of(labels)
        if scale is not None and classes == len(labels) == len({*scale.polarity}):
            return cls.of(labels, share)
        merged = None if scale is None else scale.merged(classes)
        if merged is None:
            expected = f"a model with the five classes {', '.join(FIVE)}"
            expected += "" if classes == len(FIVE) else ", or another one from negative to positive"
            actual = f"this one has {', '.join(labels):.200}"
            raise InputError(f"classes: expected {expected}; {actual}: leave classes out")
        names, places = merged
        return cls.of(names, share, places)

    @property
    def scale(self) -> Scale | None:
        """The places of the shown classes, whatever their names; None if they are not a sentiment
        scale."""
        return None if self.polarity is None else _scale_at(self.polarity)

    @property
    def mirror(self) -> tuple[int, ...] | None:
        """The opposite of each shown class; None if they are not a sentiment scale, or a class has
        no opposite."""
        opposite = [-place for place in self.polarity or ()]
        if self.polarity is None or not {*opposite} <= {*self.polarity}:
            return None
        return tuple(map(self.polarity.index, opposite))

    def need_labels(self, purpose: str) -> None:
        """Raise InputError, which names the `purpose`, for a model without labels."""
        if not self.labels:
            raise InputError(
                f"{purpose}: this model gives vectors, not labels: use "
                'thinstack.load("sentiment") or --model sentiment'
            )

    def label(self, row: Sequence[float]) -> str | None:
        """Return the label of a row of scores (V,), as in `best`, or None if it is less probable
        than `abstain`."""
        best = row.index(max(row))
        if self.polarity is not None and self.polarity[best] * (self.mean_place(row) or 0) < 0:
            best = int(self.best(np.array([row]))[0])
        return None if row[best] < self.abstain else self.labels[best]

    def best(self, scores: NDArray[np.floating]) -> NDArray[np.int64]:
        """Return the label's class (N,) for each row of scores (N, V): the most probable one or, if
        that contradicts the sign of the polarity, the most probable one with that sign."""
        best: NDArray[np.int64] = scores.argmax(axis=1)
        if self.polarity is None:
            return best
        places, means = np.array(self.polarity), self.mean_places(scores)
        (odd,) = np.nonzero(places[best] * means < 0)
        if odd.size:
            agree = places * means[odd, None] > 0
            best[odd] = np.where(agree, scores[odd], -1).argmax(axis=1)
        return best

    def mean_places(self, scores: NDArray[np.floating]) -> NDArray[np.float64]:
        """Return the polarity (N,) of rows of scores (N, V) on a sentiment scale."""
        # Add class by class, as `mean_place` does, for identical rounding.
        means = np.zeros(len(scores))
        for column, place in zip(scores.astype(np.float64).T, self.polarity or (), strict=True):
            means += column * place
        return means

    def mean_place(self, row: Sequence[float]) -> float | None:
        """Return the polarity of a row of scores (V,): the mean place of the classes."""
        if self.polarity is None:
            return None
        mean = 0.0  # `sum` rounds differently from Python 3.12 on
        for score, place in zip(row, self.polarity, strict=True):
            mean += score * place
        return mean

    def scores(self, scores: NDArray[np.float32]) -> tuple[NDArray[np.float32], float]:
        """Return the probabilities (N, V) of the shown classes, from the model's (N, C).

        Also return their share of the probability of the last row, the sentence. It is 1 unless a
        class is left out or the shown classes have weights; always 1 for an aspects model, where
        `NO_TERM` for the sentence does not weaken its opinion.
        """
        if self.places is None:
            return scores, 1.0
        adds = np.array(self.places)[:, None] == np.arange(len(self.labels))
        masses = scores @ adds.astype(scores.dtype)
        if self.weights:
            masses *= np.array(self.weights, masses.dtype)
        elif -1 not in self.places:
            return masses, 1.0
        masses += _LEAST
        totals = masses.sum(axis=1, keepdims=True)
        return masses / totals, float(totals[-1, 0]) if self.no_term is None else 1.0

    def shown(self, scored: Scored) -> Scored:
        """Return a sentence with the scores of the shown classes, and its term probabilities."""
        scores, weight = self.scores(scored.scores)
        terms = None if self.no_term is None else 1 - scored.scores[:, self.no_term]
        return scored._replace(scores=scores, weight=weight, terms=terms)

    def classes(self, classes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the shown class for each of the model's classes (K,); -1 for an omitted class."""
        if self.places is None:
            return classes
        return np.array([*self.places, -1], np.int64)[classes]


_scale_at = lru_cache(maxsize=64)(Scale.at)
