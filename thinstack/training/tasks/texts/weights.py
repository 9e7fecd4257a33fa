"""Fits how much the labels of a table weigh beside one another, before anything is learnt: what is
rare in the start's treebank may be common in the table."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from thinstack.bundle import Bundle
from thinstack.bundle.weights import load_model
from thinstack.core.class_sets import set_matrix, summed
from thinstack.runtime.scored import mean_scores
from thinstack.training.loop.measuring import scores_of
from thinstack.training.recipe import Recipe
from thinstack.training.tasks.texts.reading import Text

MOST_WEIGHED: Final = 2000
"""The most texts that weights are fitted on, evenly spread."""
_TOWARDS_ONE: Final = 1e-3
"""The weight of the squares of their logarithms beside the mean loss of a text."""


def with_weights(recipe: Recipe, items: Sequence[Text], start: Bundle) -> Recipe:
    """A recipe whose labels have the weights that are likeliest for these texts to train on, by the
    scores of the bundle where learning starts."""
    texts, config = items[:: -(-len(items) // MOST_WEIGHED)], recipe.model
    gold = [config.shown_labels.index(text.label) for text in texts]
    words = [text.sentences for text in texts]
    examples = recipe.task.made_examples(words, gold, start.vocabulary(), config)
    source = "self" if config.parses else "gold"
    rows = scores_of(load_model(start), examples, source, sentences=True)
    lengths = np.array([len(sentence) for text in words for sentence in text])
    scores = mean_scores(np.concatenate(rows), lengths, np.array(list(map(len, rows))))
    masses = summed(scores, set_matrix(config.labels, config.class_sets))
    weights = tuple(float(f"{each:.4g}") for each in fit_weights(masses, np.array(gold)).tolist())
    model = config.model_copy(update={"class_weights": weights})
    return recipe.model_copy(update={"model": model})


def fit_weights(masses: NDArray[np.floating], gold: NDArray[np.int64]) -> NDArray[np.float64]:
    """The weights (S,) of labels that make the labels `gold` (T,) of texts likeliest, if a label is
    as probable as its weight times its mass (T, S). Their product is 1."""
    logs = np.log(np.maximum(masses.astype(np.float64), np.finfo(np.float32).tiny))
    shares = np.bincount(gold, minlength=logs.shape[1]) / len(gold)

    def loss(bias: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        raw = logs + bias
        powers = np.exp(raw - raw.max(1, keepdims=True))
        found = powers / powers.sum(1, keepdims=True)
        likely = np.maximum(found[np.arange(len(gold)), gold], np.finfo(np.float64).tiny)
        value = -float(np.log(likely).mean()) + _TOWARDS_ONE * float((bias**2).sum())
        return value, found.mean(0) - shares + 2 * _TOWARDS_ONE * bias

    bias = minimize(loss, np.zeros(logs.shape[1]), jac=True).x
    weights: NDArray[np.float64] = np.exp(bias - bias.mean())
    return weights
