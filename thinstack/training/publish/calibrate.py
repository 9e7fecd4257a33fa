"""Fits the temperature of a published model on development data, measures what it changes, and
folds it into the weights of the head."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import softmax

from thinstack.core.model.model import Model
from thinstack.core.scale import summed
from thinstack.errors import ExportError
from thinstack.evaluate.accuracy import calibration_error
from thinstack.runtime.scored import mean_scores
from thinstack.training.examples.example import Example, forests_of
from thinstack.training.loop.measuring import Answers
from thinstack.training.recipe import Recipe

FEWEST: Final = 50
"""The least number of sentences, texts or pairs with a class that a temperature is fitted on."""

BOUNDS: Final = (0.1, 10.0)
"""The least and the greatest temperature. Without the least, a model without errors would get 0."""

TOLERANCE: Final = 1e-3
"""How far scores may move when the temperature is folded in."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """The temperature of a model, and what it changes.

    Attributes:
        temperature: the number that logits are divided by, fitted on all examples, or None.
        of_halves: two temperatures, fitted on the examples of even and of odd number (from 0).
        trees: the tree source that it was fitted over.
        cases: the number of sentences, texts or pairs that it was fitted on.
        errors: the figures `root_calibration_error` and `phrase_calibration_error`, or
            `calibration_error` for texts and pairs, in percentage points. "before" is without a
            temperature. "after" is with the temperature of the half that a case is not in.
        reason: why the temperature is None, else "".
    """

    temperature: float | None
    of_halves: list[float]
    trees: str
    cases: int
    errors: dict[str, dict[str, float | None]]
    reason: str = ""


class Cases(NamedTuple):
    """K sentences, phrases, pairs or texts that have a class, with R rows of probabilities.

    Attributes:
        scores: (R, C) the probabilities, one row for a sentence, phrase or pair. A text has a row
            for each of its sentences, in order.
        lengths: (R,) how much each row counts in the mean of a text.
        counts: (K,) the number of rows of each case.
        gold: (K,) the classes.
        half: (K,) 0 for cases of examples of even number, else 1.
        sets: (S, C) the classes that each of S labels stands for, or None if `gold` has classes.
    """

    scores: NDArray[np.floating]
    lengths: NDArray[np.integer]
    counts: NDArray[np.integer]
    gold: NDArray[np.int64]
    half: NDArray[np.int64]
    sets: NDArray[np.float32] | None = None

    def probabilities(self) -> NDArray[np.floating]:
        """Those (K, C) of the C classes, or (K, S) of the labels."""
        return summed(mean_scores(self.scores, self.lengths, self.counts), self.sets)

    def at(self, temperature: float) -> NDArray[np.floating]:
        """The `probabilities` at this temperature."""
        return self._replace(scores=tempered(self.scores, temperature)).probabilities()

    def of(self, half: int) -> "Cases":
        """The cases of one half, 0 or 1."""
        cases = self.half == half
        rows = np.repeat(cases, self.counts)
        parts = (self.scores[rows], self.lengths[rows])
        return Cases(*parts, self.counts[cases], self.gold[cases], self.half[cases], self.sets)


def calibrate(model: Model, examples: Sequence[Example], recipe: Recipe) -> Calibration:
    """Fit a temperature on development examples, which no model was trained on.

    If the recipe measures the trees that raw words get, it is fitted over these trees. There is no
    temperature for a task without cases, for heads that do not scale their logits, and for fewer
    than `FEWEST` cases.
    """
    # The first source is the data's own trees, the second the trees that raw words get.
    source = recipe.measured_trees[:2][-1]
    kinds = recipe.task.cases(model, examples, source)
    if not kinds:
        return Calibration(None, [], source, 0, {}, recipe.task.uncalibrated)
    sizes = [[int((cases.half == half).sum()) for half in (0, 1)] for cases in kinds.values()]
    fewest = sum(sizes[0])
    errors: dict[str, dict[str, float | None]] = {
        name: {"before": calibration_error(cases.at(1.0), cases.gold), "after": None}
        for name, cases in kinds.items()
    }
    reason = ""
    if not recipe.export.calibrate:
        reason = "the recipe has export.calibrate = false"
    elif not copy.deepcopy(model.head).scale_logits(1.0):
        reason = f"the head {recipe.model.head.name} has no scale_logits"
    elif fewest < FEWEST or not np.all(sizes):
        reason = f"there are {fewest} examples with a class, expected {FEWEST}"
    if reason:
        return Calibration(None, [], source, fewest, errors, reason)
    halves = [fit_temperature([cases.of(half) for cases in kinds.values()]) for half in (0, 1)]
    for name, cases in kinds.items():
        scores = [cases.of(half).at(halves[1 - half]) for half in (0, 1)]
        gold = [cases.of(half).gold for half in (0, 1)]
        errors[name]["after"] = calibration_error(np.concatenate(scores), np.concatenate(gold))
    whole = fit_temperature(list(kinds.values()))
    return Calibration(whole, halves, source, fewest, errors)


def fit_temperature(kinds: Sequence[Cases]) -> float:
    """The likeliest temperature within `BOUNDS` (Guo et al. 2017, section 4.2).

    Each kind of cases has a mean negative log-likelihood; the mean of these is the least at this
    temperature. Each kind has at least one case.
    """

    def loss(log_temperature: float) -> float:
        total = 0.0
        for cases in kinds:
            scores = cases.at(float(np.exp(log_temperature)))
            right = scores[np.arange(len(scores)), cases.gold]
            total -= float(np.log(np.maximum(right, np.finfo(np.float32).tiny)).mean())
        return total / len(kinds)

    fitted = minimize_scalar(loss, bounds=np.log(BOUNDS), method="bounded")
    return float(np.exp(fitted.x))


def tempered(scores: NDArray[np.floating], temperature: float) -> NDArray[np.float64]:
    """softmax(z / T) for rows (K, C) that are softmax(z), T > 0 (Guo et al. 2017, equation 9). A
    temperature above 1 makes scores less sure, and keeps their order."""
    logs = np.log(np.maximum(scores, np.finfo(np.float32).tiny).astype(np.float64))
    softer: NDArray[np.float64] = softmax(logs / temperature, axis=1)
    return softer


@torch.inference_mode()
def calibrated(model: Model, calibration: Calibration, examples: Sequence[Example]) -> Model:
    """A copy of the model with the temperature in the weights of its head, or the model itself if
    there is no temperature. Raises ExportError if the head's `scale_logits` does not."""
    if calibration.temperature is None:
        return model
    scaled = copy.deepcopy(model)
    scaled.head.scale_logits(1 / calibration.temperature)
    _, forest = next(forests_of(examples, "gold", FEWEST))
    name = scaled.output_names[0]
    before, after = (one.eval()(one.inputs(forest))[name].numpy() for one in (model, scaled))
    apart = float(np.abs(tempered(before, calibration.temperature) - after).max())
    if apart > TOLERANCE:
        raise ExportError(
            f"after scale_logits(1 / {calibration.temperature:.4f}) the scores of the head "
            f"{type(model.head).__name__} should be the softmax of scaled logits, but differ "
            f"by {apart:.2g}; fix or remove its scale_logits, or set export.calibrate = false"
        )
    return scaled


def cases_of(answers: Answers) -> Cases:
    """A case of one row for each answer."""
    ones = np.ones(len(answers.gold), np.int64)
    return Cases(answers.scores, ones, ones, answers.gold, answers.example % 2)
