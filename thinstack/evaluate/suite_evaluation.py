"""How much of a suite of polarities (`thinstack.evaluate.suite`) a model of sentiment
understands."""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thinstack.core.config import TreeSource
from thinstack.core.scale import Scale
from thinstack.errors import InputError
from thinstack.evaluate.figures import counts
from thinstack.evaluate.suite import AspectCase, Case
from thinstack.evaluate.suite_aspects import aspect_suite_figures, judged_cases
from thinstack.evaluate.suite_sets import set_figures
from thinstack.evaluate.text_evaluation import text_scores
from thinstack.runtime.predictor import Predictor

NEUTRAL_MARGIN: Final = 0.2
"""A text whose positive and negative mass differ by at most so much takes no side."""
APART: Final = "irony"
"""The kind that is counted by itself, in no total."""


class SuiteFigures(NamedTuple):
    """How much of a suite a model gets right.

    Attributes:
        figures: data ready for JSON. `right`, `total` and `accuracy` (percent) are over all texts
            but irony. `negated_negatives` is their accuracy, if there are any. `kinds`, `irony` and
            `tests` have the same three figures by kind, for irony, and by sort of pair (INV, DIR).
            `sets` has the figures of `set_figures`. Of a suite of aspects they are those of
            `aspect_suite_figures`.
        wrong: the texts that the model gets wrong, in their order.
    """

    figures: dict[str, Any]
    wrong: Sequence[Case | AspectCase]


class Readings(NamedTuple):
    """What a model says of the K texts of a suite.

    Attributes:
        margins: (K,) from -1 to 1: the probability of the positive classes minus that of the
            negative ones.
        sides: (K,) the side of each text's label: -1, 0 for neutral, or 1.
        polarity: (K,) the place of each text from -1 to 1, as `Result.polarity`.
    """

    margins: NDArray[np.floating]
    sides: NDArray[np.integer]
    polarity: NDArray[np.floating]


def evaluate_suite(
    predictor: Predictor, cases: Sequence[Case | AspectCase], *, source: TreeSource = "auto"
) -> SuiteFigures:
    """`polarity_figures` of a model's scores for the texts, which it reads as a user's texts; of a
    suite of aspects, `aspect_suite_figures`.

    Raises InputError for a model that does not score sentiment, and for a source that the model
    does not have; DataError for a text without words.
    """
    if aspects := [case for case in cases if isinstance(case, AspectCase)]:
        sides = _needed(predictor.labels, predictor.view.scale).sides
        judged = judged_cases(predictor, aspects, sides, source=source)
        return SuiteFigures(*aspect_suite_figures(aspects, judged))
    texts = (case.text for case in cases)
    scores = text_scores(predictor, texts, source=source, where="the suite")
    whole = [case for case in cases if isinstance(case, Case)]
    return polarity_figures(whole, scores, predictor.labels, predictor.view.scale)


def polarity_figures(
    cases: Sequence[Case],
    scores: NDArray[np.floating],
    labels: Sequence[str],
    scale: Scale | None = None,
) -> SuiteFigures:
    """`suite_figures` of texts with these scores (K, C). `scale`: where the classes stand; by
    default their names, `labels`, tell. Raises InputError for classes that are not about sentiment.
    """
    scale = _needed(labels, scale or Scale.of(labels))
    sides = np.array(scale.sides)
    polarity = scores @ np.array(scale.polarity)
    return suite_figures(cases, Readings(scores @ sides, sides[scores.argmax(1)], polarity))


def suite_figures(cases: Sequence[Case], readings: Readings) -> SuiteFigures:
    """How many texts are right.

    A positive text is right if its margin is above 0, a negative text if it is below. A neutral
    text is right if its label is neutral, or if the margin is at most `NEUTRAL_MARGIN` on either
    side. An INV pair is right if both texts are right or both are wrong. A DIR pair is right if the
    margin is above the partner's ("up"), or below it ("down"). Pairs have their own figures, and
    their texts also count by themselves.
    """
    margins = readings.margins
    calm = (readings.sides == 0) | (np.abs(margins) <= NEUTRAL_MARGIN)
    rules = {"positive": margins > 0, "negative": margins < 0, "neutral": calm}
    right = [bool(rules[case.polarity][place]) for place, case in enumerate(cases)]
    kinds: dict[str, list[bool]] = {}
    for case, is_right in zip(cases, right, strict=True):
        kinds.setdefault(case.kind, []).append(is_right)
    apart = kinds.pop(APART, [])
    by_kind = {kind: counts(found) for kind, found in kinds.items()}
    figures = counts(found for part in kinds.values() for found in part)
    if "negated_negatives" in by_kind:
        figures["negated_negatives"] = by_kind["negated_negatives"]["accuracy"]
    figures |= {"kinds": by_kind, "irony": counts(apart)}
    figures["tests"] = _pairs(cases, right, margins)
    figures["sets"] = set_figures(cases, readings.sides, readings.polarity)
    return SuiteFigures(
        figures, [case for case, found in zip(cases, right, strict=True) if not found]
    )


def _pairs(
    cases: Sequence[Case], right: Sequence[bool], margins: NDArray[np.floating]
) -> dict[str, dict[str, Any]]:
    places = {case.id: place for place, case in enumerate(cases)}
    passed: dict[str, list[bool]] = {"INV": [], "DIR": []}
    for place, case in enumerate(cases):
        if case.test == "MFT":
            continue
        partner = places[case.partner]
        if case.test == "INV":
            passed["INV"].append(right[place] == right[partner])
        else:
            rise = float(margins[place] - margins[partner])
            passed["DIR"].append(rise > 0 if case.moves == "up" else rise < 0)
    return {test: counts(held) for test, held in passed.items()}


def _needed(labels: Sequence[str], scale: Scale | None) -> Scale:
    if scale is None:
        expected = "a suite of polarities needs a model with negative and positive classes, such as"
        raise InputError(
            f"{expected} negative, neutral, positive; found {', '.join(labels)}; name a model of "
            "sentiment"
        )
    return scale
