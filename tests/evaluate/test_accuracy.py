"""Accuracies against scikit-learn and against counts made by hand."""

import json

import numpy as np
import pytest
from scipy.stats import pearsonr, spearmanr
from sklearn.metrics import accuracy_score, confusion_matrix, f1_score

from thinstack.core.scale import Scale
from thinstack.data.trees.brackets import from_brackets
from thinstack.evaluate.accuracy import (
    BINS,
    accuracy,
    calibration_error,
    confusion,
    entailment,
    labels_by_span,
    pearson,
    relatedness,
    text_figures,
)
from thinstack.evaluate.figures import interval_line, percent
from thinstack.training.tasks.pairs import Entailment, Relatedness
from thinstack.training.tasks.texts import Texts
from thinstack.training.tasks.treebanks import Phrases, Sentences

SST = ("very negative", "negative", "neutral", "positive", "very positive")

SCALES = {
    2: Scale.of(("negative", "positive")),
    3: Scale.of(("negative", "neutral", "positive")),
    4: Scale.of(("very negative", "negative", "positive", "very positive")),
    5: Scale.of(SST),
}


def random_forest(classes, *, unlabelled):
    generator = np.random.default_rng(classes)
    sizes = generator.integers(1, 9, size=60) * 2 - 1
    scores = [generator.dirichlet(np.ones(classes), size=size).astype(np.float32) for size in sizes]
    labels = [
        np.where(generator.random(size) < unlabelled, -1, generator.integers(classes, size=size))
        for size in sizes
    ]
    return scores, labels


def independent(rows, labels, classes):
    """Fine and binary accuracy of single nodes, each with its number of cases."""
    known = [(row.tolist(), label) for row, label in zip(rows, labels, strict=True) if label != -1]
    fine = accuracy_score([label for _, label in known], [row.index(max(row)) for row, _ in known])
    middle = classes // 2 if classes % 2 else None
    polar = [(row, label) for row, label in known if label != middle]
    truth = [label > (classes - 1) / 2 for _, label in polar]
    found = [sum(row[(classes + 1) // 2 :]) > sum(row[: classes // 2]) for row, _ in polar]
    return 100 * fine, len(known), 100 * accuracy_score(truth, found), len(polar)


@pytest.mark.parametrize("classes", [2, 3, 4, 5])
@pytest.mark.parametrize("unlabelled", [0.0, 0.4])
def test_accuracies_are_those_of_scikit_learn(classes, unlabelled):
    scores, labels = random_forest(classes, unlabelled=unlabelled)
    found = accuracy(scores, labels, scale=SCALES[classes])
    roots = independent(
        [rows[-1] for rows in scores], [int(known[-1]) for known in labels], classes
    )
    flat = [label for known in labels for label in known.tolist()]
    phrases = independent([row for rows in scores for row in rows], flat, classes)
    names = ("{}_accuracy", "{}s", "{}_binary_accuracy", "binary_{}s")
    for part, figures in (("root", roots), ("phrase", phrases)):
        assert [found[name.format(part)] for name in names] == pytest.approx(figures)
    only_roots = accuracy(scores, labels, scale=SCALES[classes], phrases=False)
    nothing = dict.fromkeys(
        ("phrase_accuracy", "phrase_binary_accuracy", "phrase_calibration_error")
    )
    assert only_roots == found | nothing | {"phrases": 0, "binary_phrases": 0}


def test_neutral_roots_are_left_out_and_mass_is_set_against_mass():
    rows = [
        [0.0, 0.4, 0.0, 0.3, 0.3],  # most probable is class 1, but the mass is positive
        [0.3, 0.0, 0.4, 0.2, 0.1],  # most probable is neutral, the mass negative
        [0.9, 0.1, 0.0, 0.0, 0.0],
    ]
    labels = [np.array([3]), np.array([2]), np.array([4])]
    found = accuracy([np.array([row]) for row in rows], labels, scale=SCALES[5])
    assert (found["roots"], found["root_accuracy"]) == (3, pytest.approx(100 / 3))
    assert (found["binary_roots"], found["root_binary_accuracy"]) == (2, 50.0)


def test_no_case_gives_no_figure():
    kinds = ("accuracy", "binary_accuracy", "calibration_error")
    figures = [f"{part}_{kind}" for part in ("root", "phrase") for kind in kinds]
    counts = ("roots", "binary_roots", "phrases", "binary_phrases")
    expected = dict.fromkeys(figures) | dict.fromkeys(counts, 0)
    unknown = [np.ones((1, 5))], [np.array([-1])]
    for nothing in (accuracy([], [], scale=SCALES[5]), accuracy(*unknown, scale=SCALES[5])):
        assert list(nothing.items()) == list(expected.items())
        json.dumps(nothing, allow_nan=False)
    assert [percent(value) for value in (50.126, None)] == ["50.13", "-"]


def test_of_a_unary_chain_the_highest_label_counts():
    gold = from_brackets("(4 (3 (2 (1 (0 a)) (0 b))))")
    assert gold.spans.tolist() == [[0, 1], [0, 1], [1, 2], [0, 2], [0, 2], [0, 2]]
    labels = np.array([0, 1, 0, 2, 3, 4])
    wanted = np.array([[0, 1], [1, 2], [0, 2]])
    assert labels_by_span(gold.spans, labels, wanted).tolist() == [1, 0, 4]


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


def by_the_equation(scores: np.ndarray, gold: np.ndarray) -> float:
    """Guo et al. 2017, (1)-(3), bin by bin."""
    total = 0.0
    for m in range(1, BINS + 1):
        inside = [
            (max(row), int(np.argmax(row)) == label)
            for row, label in zip(scores.tolist(), gold.tolist(), strict=True)
            if (m - 1) / BINS < max(row) <= m / BINS
        ]
        if inside:
            acc = sum(right for _, right in inside) / len(inside)
            conf = sum(top for top, _ in inside) / len(inside)
            total += len(inside) / len(gold) * abs(acc - conf)
    return 100 * total


def test_the_error_is_that_of_the_equation():
    draw = np.random.default_rng(0)
    scores, gold = draw.dirichlet([0.5] * 4, size=500), draw.integers(4, size=500)
    assert BINS == 15
    assert calibration_error(scores, gold) == pytest.approx(by_the_equation(scores, gold))
    assert 10 < calibration_error(scores, gold) < 90


def test_errors_of_one_bin_cancel_and_those_of_two_do_not():
    sure = np.array([[1.0, 0.0], [1.0, 0.0]])
    assert calibration_error(sure, np.array([0, 1])) == pytest.approx(50)
    assert calibration_error(np.array([[0.5, 0.5]] * 2), np.array([0, 1])) == pytest.approx(0)
    edge = np.array([[0.6, 0.4], [0.59, 0.41]])  # 0.6 is the upper edge of the bin of 0.59
    assert calibration_error(edge, np.array([0, 1])) == pytest.approx((59 - 40) / 2)
    apart = np.array([[1.0, 0.0], [0.6, 0.4]])
    assert calibration_error(apart, np.array([1, 0])) == pytest.approx((100 + 40) / 2)
    assert calibration_error(np.zeros((0, 2)), np.zeros(0, np.int64)) is None


def test_the_interval_is_told_of_texts():
    assert interval_line({"accuracy": None, "texts": 0}) == ""
    assert interval_line({"root_accuracy": 50.0}) == ""
    line = interval_line({"accuracy": 100 * 81 / 263, "texts": 263})  # Newcombe 1998, Table I
    assert "on 263 texts" in line
    assert "25.5 to 36.6" in line


# -- figures of pairs


THREE = Scale.of(("negative", "neutral", "positive"))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_relatedness_is_that_of_scipy(dtype):
    generator = np.random.default_rng(0)
    gold = generator.integers(1, 6, 60).astype(np.float64)  # with ties
    predicted = (0.4 * gold + generator.normal(size=60)).astype(dtype)
    exact = predicted.astype(np.float64)
    found = relatedness(predicted, gold)
    assert found["pearson"] == pytest.approx(pearsonr(exact, gold)[0], abs=1e-12)
    assert found["spearman"] == pytest.approx(spearmanr(exact, gold)[0], abs=1e-12)
    assert found["mse"] == pytest.approx(np.mean((exact - gold) ** 2), abs=1e-12)
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
