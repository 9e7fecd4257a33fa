"""The meaning of class names: whether they form a sentiment scale, the place of each class on it,
and the order of classes. Also the sets of sentiment classes that user labels represent, for
fine-tuning a five-class model on them."""

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

FIVE: Final = ("very negative", "negative", "neutral", "positive", "very positive")
"""The classes of the Stanford Sentiment Treebank."""
NUMBERS: Final = ("0", "1", "2", "3", "4")
"""Their numbers in its files, which are accepted as names."""
NO_TERM: Final = "no term"
"""The class of an aspects model for nodes that are not a term. Its other classes are sentiment
classes; divided by their sum, they score the opinion about a node."""

_SIDES = {"negative": -1, "neg": -1, "neutral": 0, "neu": 0, "mixed": 0, "positive": 1, "pos": 1}
_NOT = {"not", "non", "no"}
_DEGREES = dict.fromkeys(("slightly", "somewhat", "weakly", "mildly", "moderately"), 0)
_DEGREES |= dict.fromkeys(("very", "strongly", "extremely", "highly", "strong"), 2)
_WORDED = (
    ("very low", "low", "medium", "high", "very high"),
    ("bad", "neutral", "good"),
    ("never", "rarely", "sometimes", "often", "always"),
)
NEUTRAL_TONE: Final = 2
_VIEWS = {
    3: (("negative", "neutral", "positive"), {-1: 0, 0: 1, 1: 2}),
    2: (("negative", "positive"), {-1: 0, 0: -1, 1: 1}),
}


class Scale(NamedTuple):
    """The places of C sentiment classes on the scale from negative to positive.

    Attributes:
        sides: (C,) -1 for a negative class, 0 for a neutral one, 1 for a positive one.
        polarity: (C,) the place of the class from -1 (most negative) to 1 (most positive).
        tones: (C,) the same in five steps, for colors and signs: 0 (very negative) to 4.
    """

    sides: tuple[int, ...]
    polarity: tuple[float, ...]
    tones: tuple[int, ...]

    @classmethod
    def of(cls, labels: Sequence[str]) -> Self | None:
        """Return the scale of these classes, in any order; None if they are not about sentiment.

        Each name must contain negative, neutral, mixed or positive, or neg, neu or pos, and both
        polarities must occur. Words such as "very" and "somewhat" order classes of one polarity.
        The numbers "0" to "4" together mean `FIVE`.
        """
        numbers = len(labels) == len(FIVE) and {*labels} == {*NUMBERS}
        names = [FIVE[int(label)] if numbers else label for label in labels]
        places = [place for name in names if (place := _place(name))]
        if len(places) < len(labels) or not {-1, 1} <= {side for side, _ in places}:
            return None
        return cls.at(tuple(_polarity(place, places) for place in places))

    @classmethod
    def at(cls, polarity: tuple[float, ...]) -> Self:
        """Return the scale of classes with these places from -1 to 1."""
        sides = tuple((place > 0) - (place < 0) for place in polarity)
        return cls(sides, polarity, tuple(_tone(one, polarity) for one in polarity))

    @property
    def neutral(self) -> int | None:
        """The first neutral class, or None."""
        return self.tones.index(NEUTRAL_TONE) if NEUTRAL_TONE in self.tones else None

    def merged(self, classes: int) -> tuple[tuple[str, ...], tuple[int, ...]] | None:
        """Return the names of 3 or 2 classes, and for each of the C classes the one that it adds
        to, or -1 if omitted. None for any other number, and for 3 if no class is neutral."""
        if classes not in _VIEWS or (classes == 3 and self.neutral is None):
            return None
        names, places = _VIEWS[classes]
        return names, tuple(places[side] for side in self.sides)


def ordered(labels: Sequence[str]) -> tuple[str, ...]:
    """Sort classes by their numbers, or else by a known scale, or else alphabetically."""
    if are_numbers(labels):
        return tuple(sorted(labels, key=lambda label: _number(label) or 0.0))
    rank = _ranks(labels)
    return tuple(sorted(labels, key=lambda label: (rank.get(label, ()), label)))


def in_order(labels: Sequence[str]) -> bool:
    """Return whether at least three class names go from one end of a scale to the other in distinct
    steps; "mixed" is not a step between "neutral" and "positive". Not for numbers, which may be
    mere codes."""
    rank = _ranks(labels)
    places = [rank[label] for label in labels if label in rank]
    return len({*places}) == len(labels) > 2 and places == sorted(places)


def are_numbers(labels: Sequence[str]) -> bool:
    """Return whether all classes are distinct numbers, or start with one, as in "5 stars"."""
    numbers = [_number(label) for label in labels]
    return None not in numbers and len({*numbers}) == len(numbers)


def numbers_of(labels: Sequence[str]) -> list[float]:
    """Return the numbers of classes that `are_numbers`."""
    return [number for label in labels if (number := _number(label)) is not None]


def _number(label: str) -> float | None:
    try:
        number = float(label)
    except ValueError:
        match = re.match(r"\s*([+-]?\d{1,15}(\.\d{1,15})?)\b", label, re.ASCII)
        return float(match[1]) if match else None
    return number if abs(number) < float("inf") else None


def _words(name: str) -> list[str]:
    return re.findall("[a-z]+", re.sub("(?<=[a-z])(?=[A-Z])", " ", name).lower())


def _place(name: str) -> tuple[int, int] | None:
    """Return the sign of a class and its degree, from 0 to 2; None if its name has no polarity."""
    words = _words(name)
    sides = {0} if words == ["so", "so"] else {_SIDES[word] for word in words if word in _SIDES}
    if len(sides) != 1 or _NOT & {*words}:
        return None
    degrees = [_DEGREES[word] for word in words if word in _DEGREES]
    return sides.pop(), degrees[0] if degrees else 1


def _polarity(place: tuple[int, int], places: Sequence[tuple[int, int]]) -> float:
    side, degree = place
    degrees = sorted({other for beside, other in places if beside == side})
    return side * (degrees.index(degree) + 1) / len(degrees)


def _tone(polarity: float, all_of_them: Sequence[float]) -> int:
    several = len({one for one in all_of_them if one * polarity > 0}) > 1
    side = (polarity > 0) - (polarity < 0)
    return NEUTRAL_TONE + side * (2 if several and abs(polarity) > 0.5 else 1)


def _ranks(labels: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """Return the place of each class on a scale of names, possibly shared; empty if missing."""
    ranks: dict[str, tuple[int, ...]] = {
        label: (place[0], place[0] * place[1]) for label in labels if (place := _place(label))
    }
    if ranks.keys() == {*labels}:
        return ranks
    plain = {label: " ".join(label.casefold().replace("_", " ").split()) for label in labels}
    for scale in _WORDED:
        if {*plain.values()} <= {*scale}:
            return {label: (scale.index(name),) for label, name in plain.items()}
    return {}


ClassSets = dict[str, tuple[str, ...]]
"""{label: its classes}. No class is in two sets; some may be in none."""

RATED: Final = {"rating", "ratings", "score", "scores", "star", "stars", "overall"}
FELT: Final = {"sentiment", "sentiments", "polarity", "valence"}
"""Words in column names whose numbers are a sentiment scale; 0 and 1 are one only for `FELT`."""

_LEAST = np.finfo(np.float32).tiny
_OF_SIDES: Final[dict[tuple[int, int], dict[int, tuple[str, ...]]]] = {
    (-1, 1): {1: ("very negative", "negative")},
    (-1, 2): {1: ("negative",), 2: ("very negative",)},
    (0, 1): {1: ("neutral",)},
    (1, 1): {1: ("positive", "very positive")},
    (1, 2): {1: ("positive",), 2: ("very positive",)},
}
"""By sign and number of labels with it: the classes of each, from the middle outwards."""


def sentiment_sets(
    labels: Sequence[str], column: str = "", scale: bool | None = None
) -> ClassSets | None:
    """Return the set of `FIVE` of each label, in order; None if the labels are not a sentiment
    scale of at most five steps.

    Names have a polarity as in `Scale`, or are bad and good. Numbers are such a scale if they have
    both signs, if they are stars ("5 stars"), or if a word of the `column` indicates it. Unsigned
    numbers must begin at 0 or 1, and be evenly spaced. With `scale` True, any such numbers are one;
    with False, no labels are.
    """
    if scale is False:
        return None
    if not are_numbers(labels):
        names = (label.lower().replace("bad", "negative") for label in labels)
        scale_of_names = Scale.of([name.replace("good", "positive") for name in names])
        return None if scale_of_names is None else _sets(labels, scale_of_names.polarity)
    numbers = numbers_of(labels)
    if not (scale or _are_of_sentiment(labels, numbers, column)):
        return None
    places = numbers if min(numbers) < 0 < max(numbers) else _centred(numbers)
    return None if places is None else _sets(labels, places)


def check_sets(labels: Sequence[str], sets: Mapping[str, Sequence[str]]) -> None:
    """Raise ValueError unless these are sets of a model's classes `labels`, or empty.

    There must be two or more, each with a class, and no class may be in two of them.
    """
    classes = [label for classes in sets.values() for label in classes]
    if odd := [label for label in classes if label not in labels]:
        raise ValueError(f"class_sets: expected classes from labels, found {odd[0]!r:.80}")
    if len({*classes}) < len(classes):
        raise ValueError(f"class_sets: each class must be in one set only, found {classes!r:.200}")
    if len(sets) == 1 or not all(sets.values()):
        raise ValueError("class_sets: expected at least two sets, each with at least one class")


def set_matrix(
    labels: Sequence[str], sets: Mapping[str, Sequence[str]], weights: Sequence[float] = ()
) -> NDArray[np.float32]:
    """Return the weight of each of the C `labels` of a model in each of S sets, (S, C).

    It is the weight of the set, 1 by default, or 0 for a class that is not in the set.
    """
    rows = [[float(label in classes) for label in labels] for classes in sets.values()]
    return np.array(rows, np.float32) * np.array(weights or [1.0], np.float32)[:, None]


def summed(scores: NDArray[np.floating], sets: NDArray[np.float32] | None) -> NDArray[np.floating]:
    """Return the probabilities (T, S) of labels, from those of classes (T, C). `sets`: (S, C) from
    `set_matrix`; None if the labels are the classes. Classes in no set are ignored."""
    if sets is None:
        return scores
    masses = scores @ sets.T.astype(scores.dtype)
    shares: NDArray[np.floating] = masses / np.maximum(masses.sum(1, keepdims=True), _LEAST)
    return shares


def _are_of_sentiment(labels: Sequence[str], numbers: Sequence[float], column: str) -> bool:
    words = {*_words(column)}
    if {*numbers} == {0, 1}:
        return bool(words & FELT)
    if min(numbers) > 1:  # in 3 to 5 stars, 3 is not negative: nobody gave 1 or 2
        return False
    stars = all(re.search(r"\bstars?\b", label.lower()) for label in labels)
    return stars or min(numbers) < 0 < max(numbers) or bool(words & (RATED | FELT))


def _centred(numbers: Sequence[float]) -> list[float] | None:
    """Subtract the midpoint from the numbers; None if they are not evenly spaced."""
    steps = np.diff(sorted(numbers))
    if not np.allclose(steps, steps[0]):
        return None
    middle = (min(numbers) + max(numbers)) / 2
    return [number - middle for number in numbers]


def _sets(labels: Sequence[str], places: Sequence[float]) -> ClassSets | None:
    """Return the classes of labels at these `places`, below and above 0; None if two are at the
    same place, if a sign has no label, or if it has more than two."""
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
