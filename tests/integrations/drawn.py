"""Predictions to draw."""

import numpy as np
from predictions import prediction_of

from thinstack.data.trees.brackets import from_brackets

LABELS = ("very negative", "negative", "neutral", "positive", "very positive")


def predict(brackets, labels=LABELS):
    """A prediction that gives the class named in the brackets 0.6, all others an equal share."""
    tree = from_brackets(brackets)
    scores = np.full((len(tree), len(labels)), 0.4 / (len(labels) - 1), np.float32)
    scores[np.arange(len(tree)), [int(label) for label in tree.labels]] = 0.6
    return prediction_of(tree.words, tree.transitions, scores, labels)


def uniform(words, steps, label=3):
    """A prediction that gives this class 0.6 in every phrase, all others 0.1."""
    scores = np.full((len(steps), 5), 0.1, np.float32)
    scores[:, label] = 0.6
    return prediction_of(words, steps, scores, LABELS)
