"""How well a model finds the terms of sentences, and says what is said of them."""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from thinstack.evaluate.figures import Figures, f1

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
    pairs = [
        (term[2], side) for one in judged for term, side in zip(one.gold, one.sides, strict=True)
    ]
    mixed = [
        (term[2], side)
        for one in judged
        if {-1, 1} <= {term[2] for term in one.gold}
        for term, side in zip(one.gold, one.sides, strict=True)
    ]
    finding = [one for one in judged if one.predicted is not None]
    in_tree = [is_phrase for one in judged for is_phrase in one.phrases]
    return {
        "polarity_accuracy": _accuracy(pairs),
        "polarity_f1": _macro_f1(pairs),
        "mixed_accuracy": _accuracy(mixed),
        "term_f1": _f1(
            [({t[:2] for t in one.gold}, {t[:2] for t in one.predicted or ()}) for one in finding]
        ),
        "aspect_f1": _f1([({*one.gold}, {*(one.predicted or ())}) for one in finding]),
        "phrase_terms": 100.0 * sum(in_tree) / len(in_tree) if in_tree else None,
    }


def _accuracy(pairs: list[tuple[int, int]]) -> float | None:
    return 100.0 * sum(gold == side for gold, side in pairs) / len(pairs) if pairs else None


def _macro_f1(pairs: list[tuple[int, int]]) -> float | None:
    if not pairs:
        return None
    return sum(
        f1(
            sum(gold == said == side for gold, said in pairs),
            sum(gold == side for gold, _ in pairs),
            sum(said == side for _, said in pairs),
        )
        or 0.0
        for side in SIDES
    ) / len(SIDES)


def _f1(sets: list[tuple[set[object], set[object]]]) -> float | None:
    return f1(
        sum(len(gold & predicted) for gold, predicted in sets),
        sum(len(gold) for gold, _ in sets),
        sum(len(predicted) for _, predicted in sets),
    )
