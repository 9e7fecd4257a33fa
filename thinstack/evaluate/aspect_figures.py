"""Accuracy of aspects: detection of terms, and polarity of the opinions about them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thinstack.evaluate.figures import Figures, f1, percentage

ASPECT_NAMES: Final[Mapping[str, str]] = {
    "polarity_accuracy": "polarity of terms",
    "polarity_f1": "macro-F1",
    "mixed_accuracy": "in sentences with both polarities",
    "term_f1": "F1 of terms",
    "aspect_f1": "F1 of terms with polarity",
    "phrase_terms": "terms that are phrases",
}
"""{key: printed name} of the figures. All are in percent."""

SIDES: Final = (-1, 0, 1)

Term = tuple[int, int, int]
"""The words [start, end) of a term, and its polarity sign: -1 negative, 0 neutral, 1 positive."""


class Judged(NamedTuple):
    """A sentence with its k terms.

    Attributes:
        gold: the terms, with their polarity signs.
        sides: (k,) the predicted signs of these terms.
        phrases: (k,) whether each is a phrase of the model's tree.
        predicted: the terms that the model detects; None if it does not detect terms.
    """

    gold: list[Term]
    sides: list[int]
    phrases: list[bool]
    predicted: list[Term] | None = None


def aspect_figures(sentences: Iterable[Judged]) -> Figures:
    """Return the figures of `ASPECT_NAMES`; None for those without cases. The macro-F1 is the mean
    over the three signs. Mixed sentences have a positive and a negative term, and all their terms
    count. The F1 of terms requires an exact match of the words."""
    judged = list(sentences)
    both = [one for one in judged if {-1, 1} <= {side for *_, side in one.gold}]
    sides, sides_of_both = _pairs(judged), _pairs(both)
    finding = [one for one in judged if one.predicted is not None]
    words = [({t[:2] for t in one.gold}, {t[:2] for t in one.predicted or ()}) for one in finding]
    phrases = np.array([is_phrase for one in judged for is_phrase in one.phrases], np.bool_)
    return {
        "polarity_accuracy": percentage(sides[:, 0] == sides[:, 1]),
        "polarity_f1": _macro_f1(sides),
        "mixed_accuracy": percentage(sides_of_both[:, 0] == sides_of_both[:, 1]),
        "term_f1": _f1(words),
        "aspect_f1": _f1([({*one.gold}, {*(one.predicted or ())}) for one in finding]),
        "phrase_terms": percentage(phrases),
    }


def _pairs(judged: Sequence[Judged]) -> NDArray[np.int64]:
    """Return the gold and the predicted sign of each term, (k, 2)."""
    pairs = [
        (gold, side) for one in judged for (*_, gold), side in zip(one.gold, one.sides, strict=True)
    ]
    return np.array(pairs, np.int64).reshape(-1, 2)


def _macro_f1(pairs: NDArray[np.int64]) -> float | None:
    if not len(pairs):
        return None
    of_sides = [
        f1(int((pairs == side).all(1).sum()), *(pairs == side).sum(0).tolist()) for side in SIDES
    ]
    return sum(one or 0.0 for one in of_sides) / len(SIDES)


def _f1(sets: Sequence[tuple[set[Any], set[Any]]]) -> float | None:
    return f1(
        sum(len(gold & predicted) for gold, predicted in sets),
        sum(len(gold) for gold, _ in sets),
        sum(len(predicted) for _, predicted in sets),
    )
