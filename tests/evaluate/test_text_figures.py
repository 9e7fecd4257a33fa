"""Figures of texts against scikit-learn's."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, confusion_matrix, f1_score

from thinstack.evaluate.accuracy import confusion, text_figures


def test_figures_are_those_of_scikit_learn():
    draw = np.random.default_rng(0)
    for classes in (2, 3, 6):
        scores, gold = draw.random((50, classes)), draw.integers(classes, size=50)
        found = text_figures(scores, gold, [f"class {n}" for n in range(classes)])
        guess = scores.argmax(1)
        assert found["accuracy"] == pytest.approx(100 * accuracy_score(gold, guess))
        assert found["macro_f1"] == pytest.approx(100 * f1_score(gold, guess, average="macro"))
        assert (found["binary_accuracy"], found["texts"], found["binary_texts"]) == (None, 50, 0)
        assert np.array_equal(confusion(guess, gold, classes), confusion_matrix(gold, guess))


def test_a_class_that_is_neither_there_nor_found_is_no_case_of_f1():
    scores = np.eye(3)[[0, 1, 1]]
    assert text_figures(scores, np.array([0, 1, 0]), "abc")["macro_f1"] == pytest.approx(200 / 3)


def test_classes_with_sides_have_binary_figures():
    scores = np.array([[0.4, 0.5, 0.1], [0.2, 0.3, 0.5], [0.3, 0.1, 0.6]])
    found = text_figures(scores, np.array([0, 1, 0]), ("negative", "neutral", "positive"))
    assert (found["binary_accuracy"], found["binary_texts"]) == (50, 2)


def test_figures_over_no_text_are_none():
    found = text_figures(np.zeros((0, 2)), np.zeros(0, np.int64), "ab")
    assert (found["accuracy"], found["macro_f1"], found["texts"]) == (None, None, 0)
