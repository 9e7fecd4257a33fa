"""The error of a difference for having measured on few examples, against numbers worked out by hand
and chance itself."""

from math import log, sqrt

import numpy as np
import pytest
from tiny_table import tiny

from reproduce.cases import Cases
from reproduce.comparison import compare_rows, error_of_examples
from reproduce.table import Table


def seed_of(right, *, gold=None, whole=None, likelihood=np.nan):
    """Cases of which those with a 1 were said rightly."""
    known = np.array(gold or [7] * len(right))
    given, zeros = np.array(whole or [1] * len(right), bool), np.zeros(len(right))
    predicted, likely = known + 1 - np.array(right), np.full(len(right), likelihood)
    return Cases(known, predicted, zeros, zeros, given, ~given, likely, likely)


@pytest.mark.parametrize(
    ("first", "second", "error"),
    [
        # Differences 1, 0, 0, -1: their sample deviation is sqrt(2/3), and four of them have half
        # of it as the error of their mean.
        ([[1, 1, 0, 0]], [[0, 1, 0, 1]], sqrt(2 / 3) / 2),
        ([[1, 1, 0], [1, 0, 0]], [[0, 0, 0]], 0.5 / sqrt(3)),  # shares 1, 1/2, 0 less 0, 0, 0
        ([[1, 0, 1]], [[1, 0, 1]] * 3, 0.0),  # what both find alike adds nothing
    ],
)
def test_by_hand(first, second, error):
    rows = [[seed_of(right) for right in seeds] for seeds in (first, second)]
    assert error_of_examples(*rows, whole=True) == pytest.approx(100 * error)


def test_sentences_alone_or_all_phrases():
    first, second = ([seed_of(right, whole=[0, 1, 0, 1])] for right in ([0, 1, 0, 0], [1] * 4))
    found = [error_of_examples(first, second, whole=whole) for whole in (True, False)]
    assert found == pytest.approx([100 * sqrt(1 / 2) / sqrt(2), 100 * 0.5 / 2])


@pytest.mark.parametrize("other", [[], [seed_of([1, 0])], [seed_of([1, 0, 1], gold=[7, 7, 8])]])
def test_rows_that_were_not_measured_on_the_same_cases(other):
    assert error_of_examples([seed_of([1, 0, 1])], other, whole=True) is None
    assert error_of_examples(other, [seed_of([1, 0, 1])], whole=True) is None


def test_one_example_says_nothing():
    assert error_of_examples([seed_of([1])], [seed_of([0])], whole=True) is None


def test_it_is_how_far_differences_of_other_samples_spread():
    rng = np.random.default_rng(0)
    differences, errors = [], []
    for _ in range(400):
        ease = rng.random(200)  # both models find the same cases easy
        draws = [(rng.random(200) < ease**power).astype(int).tolist() for power in (1, 1, 2, 2)]
        models = [[seed_of(draw) for draw in draws[:2]], [seed_of(draw) for draw in draws[2:]]]
        shares = [np.mean([seed.gold == seed.predicted for seed in seeds]) for seeds in models]
        differences.append(100 * (shares[0] - shares[1]))
        error = error_of_examples(*models, whole=True)
        errors.append(error)
    assert np.mean(errors) == pytest.approx(np.std(differences), rel=0.1)


def table(key):
    data = tiny() | {"compare": [{"a": "lstm", "b": "rvnn", "key": key}]}
    if key != "root_accuracy":  # which it has
        data["columns"].append({"key": key, "title": "Compared"})
    return Table.parse(data, source="test")


@pytest.mark.parametrize(
    ("key", "asked", "error", "interval"),
    [
        ("root_accuracy", ("", "gold"), 50.0, True),  # of differences 1, 0
        ("left/balanced.phrase_accuracy", ("left", "balanced"), 100 / 3, False),  # 1, 0, 1
        ("accuracy", ("", "gold"), 50.0, True),
        ("mse", ("", "gold"), None, True),
        ("root_binary_accuracy", None, None, False),
    ],
)
def test_the_cases_of_a_column(key, asked, error, interval):
    found = []

    def cases(row, variant, source):
        found.append((row.name, variant, source))
        return [seed_of([1, 0, 1] if row.name == "lstm" else [0, 0, 0], whole=[1, 1, 0])]

    made, figure = table(key), {"mean": 50.0, "std": None, "seeds": [50.0]}
    rows = [{"name": name, "figures": {key: figure}} for name in ("lstm", "rvnn")]
    compared = compare_rows(made, made.compare[0], rows, cases)
    assert found == ([] if asked is None else [("lstm", *asked), ("rvnn", *asked)])
    assert compared["examples_error"] == (None if error is None else pytest.approx(error))
    assert (compared["interval"] is not None) == interval
    assert compared["likelihood"] is None
    assert compare_rows(made, made.compare[0], rows[:1], cases) is None


def test_likelihoods_are_compared_where_both_rows_have_them():
    made, figure = table("root_accuracy"), {"mean": 50.0, "std": None, "seeds": [50.0]}
    rows = [{"name": name, "figures": {"root_accuracy": figure}} for name in ("lstm", "rvnn")]

    def compared(of):
        found = compare_rows(
            made,
            made.compare[0],
            rows,
            lambda row, *_: [seed_of([1, 0, 1], likelihood=value) for value in of[row.name]],
        )
        return found["likelihood"]

    found = compared({"lstm": [0.5, 0.25], "rvnn": [0.5]})
    assert found["difference"] == pytest.approx(log(2) / 2)  # of (ln 2 + ln 4) / 2 less ln 2
    assert found["interval"] == pytest.approx((0, log(2)))  # twice the one seed, or the other
    assert compared({"lstm": [0.5, np.nan], "rvnn": [0.5]}) is None
