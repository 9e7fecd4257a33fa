"""Labels of a user as sets of the five classes of sentiment, so that a model of these classes
learns the user's own labels."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from thinstack.core.scale import Scale, are_numbers, numbers_of

ClassSets = dict[str, tuple[str, ...]]
"""The classes that each label stands for. No class is in two sets; one may be in none."""

RATED: Final = {"rating", "ratings", "score", "scores", "star", "stars", "overall"}
FELT: Final = {"sentiment", "sentiments", "polarity", "valence"}
"""Words of the names of columns whose numbers are a scale of sentiment; 0 and 1 only by `FELT`."""

_LEAST = np.finfo(np.float32).tiny
_WORDS = {"bad": "negative", "good": "positive"}
_OF_SIDES: Final[dict[tuple[int, int], dict[int, tuple[str, ...]]]] = {
    (-1, 1): {1: ("very negative", "negative")},
    (-1, 2): {1: ("negative",), 2: ("very negative",)},
    (0, 1): {1: ("neutral",)},
    (1, 1): {1: ("positive", "very positive")},
    (1, 2): {1: ("positive",), 2: ("very positive",)},
}
"""By a side and the number of its labels: the classes of each of them, from the middle outwards."""


def sentiment_sets(
    labels: Sequence[str], column: str = "", scale: bool | None = None
) -> ClassSets | None:
    """The set of `FIVE` of each label, in their order; None if they are no scale of sentiment of at
    most five steps.

    Names say their side as `Scale` reads them, or are bad and good. Numbers are such a scale if
    they have both signs, if they are stars ("5 stars"), or if a word of the `column` says so.
    Without signs they must be equally far apart. With `scale` any such numbers are one, and
    without (False) nothing is.
    """
    if scale is False:
        return None
    if not are_numbers(labels):
        plain = [re.sub("bad|good", lambda word: _WORDS[word[0]], one.lower()) for one in labels]
        found = Scale.of(plain)
        return None if found is None else _sets(labels, found.polarity)
    numbers = numbers_of(labels)
    if not (scale or _are_of_sentiment(labels, numbers, column)):
        return None
    places = numbers if min(numbers) < 0 < max(numbers) else _centred(numbers)
    return None if places is None else _sets(labels, places)


def check_sets(labels: Sequence[str], sets: Mapping[str, Sequence[str]]) -> None:
    """Raise ValueError unless these are sets of the classes `labels` of a model, or none.

    There must be two or more, each with a class, and no class may be in two of them.
    """
    classes = [each for one in sets.values() for each in one]
    if odd := [each for each in classes if each not in labels]:
        raise ValueError(f"class_sets: expected classes of labels, found {odd[0]!r:.80}")
    if len({*classes}) < len(classes):
        raise ValueError(f"class_sets: expected each class in one set, found {classes!r:.200}")
    if len(sets) == 1 or not all(sets.values()):
        raise ValueError("class_sets: expected two labels or more, each with a class or more")


def set_matrix(
    labels: Sequence[str], sets: Mapping[str, Sequence[str]], weights: Sequence[float] = ()
) -> NDArray[np.float32]:
    """How much each of the C `labels` of a model counts for each of S sets, (S, C).

    It is the weight of the set, 1 by default, or 0 for a class that the set does not hold.
    """
    rows = [[float(label in classes) for label in labels] for classes in sets.values()]
    return np.array(rows, np.float32) * np.array(weights or [1.0], np.float32)[:, None]


def summed(scores: NDArray[np.floating], sets: NDArray[np.float32] | None) -> NDArray[np.floating]:
    """The probabilities (T, S) of labels, from those of classes (T, C). `sets`: (S, C) as
    `set_matrix` gives them; None if the labels are the classes. Of a class in no set nothing
    counts."""
    if sets is None:
        return scores
    masses = scores @ sets.T.astype(scores.dtype)
    shares: NDArray[np.floating] = masses / np.maximum(masses.sum(1, keepdims=True), _LEAST)
    return shares


def _are_of_sentiment(labels: Sequence[str], numbers: Sequence[float], column: str) -> bool:
    words = {*re.findall("[a-z]+", column.lower())}
    if {*numbers} == {0, 1}:
        return bool(words & FELT)
    stars = all(re.search(r"\bstars?\b", label.lower()) for label in labels)
    return stars or min(numbers) < 0 < max(numbers) or bool(words & (RATED | FELT))


def _centred(numbers: Sequence[float]) -> list[float] | None:
    """The numbers less their middle; None if they are not equally far apart."""
    steps = np.diff(sorted(numbers))
    if not np.allclose(steps, steps[0]):
        return None
    middle = (min(numbers) + max(numbers)) / 2
    return [number - middle for number in numbers]


def _sets(labels: Sequence[str], places: Sequence[float]) -> ClassSets | None:
    """The classes of labels that stand at these `places`, below and above 0; None if two stand at
    one, if a side has none, or if it has more than two."""
    sets: ClassSets = {}
    for label, place in zip(labels, places, strict=True):
        side = (place > 0) - (place < 0)
        beside = sorted({abs(other) for other in places if other * side > 0 or other == place})
        classes = _OF_SIDES.get((side, len(beside)), {}).get(beside.index(abs(place)) + 1)
        if classes is None:
            return None
        sets[label] = classes
    both = min(places) < 0 < max(places)
    return sets if both and len({*places}) == len(places) else None
