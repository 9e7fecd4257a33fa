"""Figures of pairs against their formulas, written out."""

import math

import numpy as np
import pytest

from thinstack.core.scale import Scale
from thinstack.evaluate.accuracy import accuracy
from thinstack.evaluate.pair_figures import entailment, pearson, relatedness
from thinstack.training.tasks.pairs import Entailment, Relatedness
from thinstack.training.tasks.texts import Texts
from thinstack.training.tasks.treebanks import Phrases, Sentences

THREE = Scale.of(("negative", "neutral", "positive"))


def correlation(a, b):
    a, b = a - a.sum() / len(a), b - b.sum() / len(b)
    return float((a * b).sum() / math.sqrt((a * a).sum() * (b * b).sum()))


def ranks(values):
    """From 1; those that are equal share the mean of theirs."""
    return np.array(
        [1 + (values < value).sum() + ((values == value).sum() - 1) / 2 for value in values]
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_relatedness_is_its_formulas(dtype):
    generator = np.random.default_rng(0)
    gold = generator.integers(1, 6, 60).astype(np.float64)  # with ties
    predicted = (0.4 * gold + generator.normal(size=60)).astype(dtype)
    exact = predicted.astype(np.float64)
    found = relatedness(predicted, gold)
    assert found["pearson"] == pytest.approx(correlation(exact, gold), abs=1e-12)
    assert found["spearman"] == pytest.approx(correlation(ranks(exact), ranks(gold)), abs=1e-12)
    assert found["mse"] == pytest.approx(
        sum((p - g) ** 2 for p, g in zip(exact, gold, strict=True)) / 60, abs=1e-12
    )
    assert found["pairs"] == 60
    assert abs(found["pearson"] - found["spearman"]) > 1e-3
    assert set(found) == {"pearson", "spearman", "mse", "pairs"}


@pytest.mark.parametrize(
    ("predicted", "gold", "mse"),
    [
        # An untrained model, or one that has died.
        ([3.3, 3.3, 3.3], [1.0, 2, 3], (2.3**2 + 1.3**2 + 0.3**2) / 3),
        ([1.0, 2, 3], [4.0, 4, 4], (9 + 4 + 1) / 3),
        ([2.0], [5.0], 9.0),
        ([], [], None),
    ],
)
def test_what_is_undefined_is_none(predicted, gold, mse):
    found = relatedness(np.array(predicted), np.array(gold))
    assert (found["pearson"], found["spearman"], found["pairs"]) == (None, None, len(gold))
    assert found["mse"] == (None if mse is None else pytest.approx(mse))


def test_all_but_constant_ratings_give_no_warning():
    predicted = 3 + np.array([0, 1e-15, 0, 1e-15])
    assert pearson(predicted, np.array([1.0, 2, 1, 2])) == pytest.approx(1, abs=0.3)


def test_entailment_counts_what_is_right():
    predicted, gold = np.array([0, 1, 2, 2, 1, 0, 0]), np.array([0, 1, 1, 2, 2, 1, 0])
    assert entailment(predicted, gold) == {"accuracy": pytest.approx(100 * 4 / 7), "pairs": 7}


def test_accuracy_over_no_pair_is_none():
    none = np.zeros(0, np.int64)
    assert entailment(none, none) == {"accuracy": None, "pairs": 0}


def test_selection_takes_the_figures_of_the_task():
    figures = {"root_accuracy": 50.0, "root_binary_accuracy": 85.0, "phrase_accuracy": 80.5}
    figures |= {"phrase_binary_accuracy": 90.0, "accuracy": 81.0, "negation_accuracy": 60.0}
    figures |= {"pearson": 0.87, "spearman": 0.8, "mse": 0.25, "pairs": 500}
    sums = {Phrases: 215.5, Sentences: 50.0, Texts: 81.0, Relatedness: 0.87, Entailment: 81.0}
    for task, expected in sums.items():
        assert sum(figures[name] for name in task.watched) == expected


def test_selection_of_phrases_leaves_out_what_has_no_case():
    neutral = accuracy([np.array([[0.1, 0.8, 0.1]])], [np.array([1])], scale=THREE)
    assert neutral["root_binary_accuracy"] is None
    assert Phrases().selection(neutral) == 200
    assert Phrases().selection(accuracy([], [], scale=THREE)) == 0


def test_an_undefined_figure_counts_as_no_correlation():
    ratings = Relatedness(format="table.v1")
    assert ratings.selection({"pearson": None}) == 0
    assert ratings.selection({"pearson": -0.1}) < 0
