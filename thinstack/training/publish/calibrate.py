"""Fits the temperature of a model on development data, measures its effect, and applies it to the
weights of the head; and fits the weights of labels that are sets of classes."""

import copy
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import minimize, minimize_scalar
from scipy.special import log_softmax

from thinstack.bundle import Bundle
from thinstack.bundle.weights import load_model
from thinstack.core.model.model import Model
from thinstack.core.scale import set_matrix
from thinstack.errors import ExportError
from thinstack.evaluate.accuracy import calibration_error
from thinstack.training.examples.example import Example, forests_of
from thinstack.training.loop.measuring import Answers, tempered, text_scores_of
from thinstack.training.recipe import Recipe

FEWEST: Final = 50
"""Minimum number of sentences, texts or pairs to fit a temperature on."""

BOUNDS: Final = (0.1, 10.0)
"""Minimum and maximum temperature. For a model without errors, the best one would be 0."""

TOLERANCE: Final = 1e-3
"""Maximum difference of scores after applying the temperature to the weights."""

MOST_WEIGHED: Final = 2000
"""Maximum texts that weights are fitted on, evenly spread."""
_TOWARDS_ONE: Final = 1e-3
"""Weight of the squared logarithms of the weights, relative to the mean loss of a text."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """The temperature of a model, and its effect.

    Attributes:
        temperature: the divisor of the logits, fitted on all examples, or None.
        of_halves: the temperatures fitted on the examples with an even and an odd index (from 0).
        trees: the tree source that it was fitted with.
        cases: the number of sentences, texts or pairs that it was fitted on.
        errors: the figures `root_calibration_error` and `phrase_calibration_error`, or
            `calibration_error` for texts and pairs, in percentage points: "before", without a
            temperature, and "after", with the temperature fitted on the other half.
        reason: why there is no temperature, or "".
    """

    temperature: float | None
    of_halves: list[float]
    trees: str
    cases: int
    errors: dict[str, dict[str, float | None]]
    reason: str = ""


class Cases(NamedTuple):
    """K sentences, phrases, pairs or texts whose class is known.

    Attributes:
        at: returns their probabilities (K, C) at a temperature.
        gold: (K,) the classes.
        half: (K,) 0 for cases of examples with an even index, else 1.
    """

    at: Callable[[float], NDArray[np.floating]]
    gold: NDArray[np.int64]
    half: NDArray[np.int64]


def cases_of(answers: Answers) -> Cases:
    """Return a case for each answer."""
    return Cases(partial(tempered, answers.scores), answers.gold, answers.example % 2)


def calibrate(model: Model, examples: Sequence[Example], recipe: Recipe) -> Calibration:
    """Fit a temperature on development examples, with the trees that raw words get if the recipe
    evaluates these.

    There is no temperature for a task without cases, for a head that cannot scale its logits, and
    for fewer than `FEWEST` cases.
    """
    # The first source is the trees of the data, the second those that raw words get.
    source = recipe.measured_trees[:2][-1]
    kinds = recipe.task.cases(model, examples, source)
    if not kinds:
        return Calibration(None, [], source, 0, {}, recipe.task.uncalibrated)
    sizes = [np.bincount(cases.half, minlength=2).tolist() for cases in kinds.values()]
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
    halves = [fit_temperature(kinds.values(), half) for half in (0, 1)]
    for name, cases in kinds.items():
        after = np.where(cases.half[:, np.newaxis], cases.at(halves[0]), cases.at(halves[1]))
        errors[name]["after"] = calibration_error(after, cases.gold)
    return Calibration(fit_temperature(kinds.values()), halves, source, fewest, errors)


def fit_temperature(kinds: Collection[Cases], half: int | None = None) -> float:
    """Return the most likely temperature within `BOUNDS` (Guo et al. 2017, section 4.2), for all
    cases or one half of them: the minimum of the mean over kinds of their mean negative
    log-likelihoods. Each kind has at least one case."""

    def loss(log_temperature: float) -> float:
        total = 0.0
        for cases in kinds:
            scores = cases.at(float(np.exp(log_temperature)))
            right = scores[np.arange(len(scores)), cases.gold]
            right = right if half is None else right[cases.half == half]
            total -= float(np.log(np.maximum(right, np.finfo(np.float32).tiny)).mean())
        return total / len(kinds)

    fitted = minimize_scalar(loss, bounds=np.log(BOUNDS), method="bounded")
    return float(np.exp(fitted.x))


@torch.inference_mode()
def calibrated(model: Model, calibration: Calibration, examples: Sequence[Example]) -> Model:
    """Return a copy of the model with the temperature in the weights of its head, or the model
    itself without a temperature. Raises ExportError if the head's `scale_logits` is wrong."""
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


def with_weights(recipe: Recipe, items: Sequence[Any], start: Bundle) -> Recipe:
    """Add the most likely weights of the labels for these training texts, by the scores of the
    initial bundle: labels may be more or less frequent than in its treebank."""
    texts, config = items[:: -(-len(items) // MOST_WEIGHED)], recipe.model
    gold = [config.shown_labels.index(text.label) for text in texts]
    words = [text.sentences for text in texts]
    examples = recipe.task.made_examples(words, gold, start.vocabulary(), config)
    source = "self" if config.parses else "gold"
    sets = set_matrix(config.labels, config.class_sets)
    masses = text_scores_of(load_model(start), examples, source, sets)(None)
    weights = fit_weights(masses, np.array(gold)).tolist()
    rounded = {"class_weights": tuple(float(f"{weight:.4g}") for weight in weights)}
    return recipe.model_copy(update={"model": config.model_copy(update=rounded)})


def fit_weights(masses: NDArray[np.floating], gold: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the weights (S,), with the product 1, that maximize the likelihood of the labels
    `gold` (T,), if a label is as probable as its weight times its mass (T, S)."""
    logs = np.log(np.maximum(masses.astype(np.float64), np.finfo(np.float32).tiny))
    shares = np.bincount(gold, minlength=logs.shape[1]) / len(gold)

    def loss(bias: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        likely = log_softmax(logs + bias, axis=1)
        value = -likely[np.arange(len(gold)), gold].mean() + _TOWARDS_ONE * (bias**2).sum()
        return float(value), np.exp(likely).mean(0) - shares + 2 * _TOWARDS_ONE * bias

    bias = minimize(loss, np.zeros(logs.shape[1]), jac=True).x
    weights: NDArray[np.float64] = np.exp(bias - bias.mean())
    return weights
