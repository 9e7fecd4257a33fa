"""How well a model finds the terms of sentences, and says what is said of them."""

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
"""The names of the figures, by key. All are in percent."""

SIDES: Final = (-1, 0, 1)

Term = tuple[int, int, int]
"""The words [start, end) of a term, and its side: -1 negative, 0 neutral, 1 positive."""


class Judged(NamedTuple):
    """A sentence with its k terms.

    Attributes:
        gold: its terms with their sides.
        sides: (k,) the sides that the model gives to these terms.
        phrases: (k,) whether each is a phrase of the model's tree.
        predicted: the terms that the model finds; None if it finds none by itself.
    """

    gold: list[Term]
    sides: list[int]
    phrases: list[bool]
    predicted: list[Term] | None = None


def aspect_figures(sentences: Iterable[Judged]) -> Figures:
    """The figures of `ASPECT_NAMES`, None where nothing counts. The macro-F1 is the mean over the
    three sides. Sentences of both sides have a positive and a negative term, and all their terms
    count. F1 of terms asks for exactly the same words."""
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
    """The side of each term by the data and by the model, (k, 2)."""
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
