"""Labels of users as sets of the five classes of sentiment."""

import numpy as np
import pytest

from thinstack.core.scale import FIVE, check_sets, sentiment_sets, set_matrix, summed

LOW, HIGH = (0, 1), (3, 4)


@pytest.mark.parametrize(
    ("labels", "column", "classes"),
    [
        (("negative", "neutral", "positive"), "", (LOW, (2,), HIGH)),
        (("POS", "NEG"), "", (HIGH, LOW)),
        (("bad", "neutral", "good"), "", (LOW, (2,), HIGH)),
        (("negative", "positive", "very positive"), "", (LOW, (3,), (4,))),
        (FIVE, "", ((0,), (1,), (2,), (3,), (4,))),
        (
            ("1 star", "2 stars", "3 stars", "4 stars", "5 stars"),
            "",
            ((0,), (1,), (2,), (3,), (4,)),
        ),
        (("1", "2", "3", "4", "5"), "review_stars", ((0,), (1,), (2,), (3,), (4,))),
        (("1", "2", "3"), "Rating", (LOW, (2,), HIGH)),
        (("1", "2", "3", "4"), "rating", ((0,), (1,), (3,), (4,))),
        (("0", "4"), "polarity", (LOW, HIGH)),
        (("0", "1"), "sentiment", (LOW, HIGH)),
        (("-1", "0", "1"), "label", (LOW, (2,), HIGH)),
    ],
)
def test_what_is_a_scale_of_sentiment(labels, column, classes):
    expected = {
        label: tuple(FIVE[place] for place in one)
        for label, one in zip(labels, classes, strict=True)
    }
    assert sentiment_sets(labels, column) == expected
    assert sentiment_sets(labels, column, False) is None
    check_sets(FIVE, expected)


@pytest.mark.parametrize(
    ("labels", "column"),
    [
        (("1", "2", "3", "4", "5"), "label"),
        (("0", "1"), "rating"),
        (("0", "1"), "label"),
        (tuple(map(str, range(1, 11))), "rating"),
        (("1", "2", "4"), "stars"),
        (("3", "4", "5"), "stars"),
        (("4 stars", "5 stars"), ""),
        (("low", "medium", "high"), "sentiment"),
        (("negative", "neutral", "mixed", "positive"), ""),
        (("positive", "very positive"), ""),
    ],
)
def test_what_is_none(labels, column):
    assert sentiment_sets(labels, column) is None


def test_who_says_so_has_numbers_taken_for_one():
    assert sentiment_sets(("1", "2"), "label", True) == {"1": FIVE[:2], "2": FIVE[3:]}
    assert sentiment_sets(("low", "high"), "label", True) is None


def test_the_probability_of_a_label_is_that_of_its_classes():
    scores = np.array([[0.1, 0.2, 0.4, 0.25, 0.05]])
    sets = set_matrix(FIVE, {"good": FIVE[3:], "bad": FIVE[:2]})
    assert summed(scores, sets)[0] == pytest.approx([0.5, 0.5])
    assert summed(scores, None) is scores


@pytest.mark.parametrize(
    ("sets", "problem"),
    [
        ({"a": ("x",), "b": ("z",)}, "'z'"),
        ({"a": ("x",), "b": ("x", "y")}, "one set"),
        ({"a": ("x",), "b": ()}, "a class or more"),
        ({"a": ("x",)}, "two labels"),
    ],
)
def test_sets_that_are_none(sets, problem):
    with pytest.raises(ValueError, match=problem):
        check_sets(("x", "y"), sets)


def test_a_label_of_more_weight_is_more_probable():
    scores = np.array([[0.1, 0.2, 0.4, 0.25, 0.05]])
    sets = set_matrix(FIVE, {"good": FIVE[3:], "bad": FIVE[:2]}, (3.0, 1.0))
    assert summed(scores, sets)[0] == pytest.approx([0.75, 0.25])
