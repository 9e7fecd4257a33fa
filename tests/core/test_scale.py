"""What the names of classes say, against a table written by hand, which the tests of `js/` read
too, and labels of users as sets of the five classes of sentiment."""

import json
from pathlib import Path

import numpy as np
import pytest

from thinstack.core.scale import (
    FIVE,
    Scale,
    are_numbers,
    check_sets,
    in_order,
    ordered,
    sentiment_sets,
    set_matrix,
    summed,
)
from thinstack.evaluate.accuracy import NAMES, binary_right
from thinstack.evaluate.figures import figure_names

TABLE = json.loads(Path(__file__).with_name("scales.json").read_text(encoding="utf-8"))
SCALES = [(row["labels"], row) for row in TABLE["scales"]]


@pytest.mark.parametrize(("labels", "expected"), SCALES)
def test_classes_of_sentiment_stand_where_their_names_say(labels, expected):
    scale = Scale.of(labels)
    for column in ("sides", "polarity", "tones"):
        assert list(getattr(scale, column)) == expected[column]
    assert Scale.at(scale.polarity) == scale
    assert "binary_accuracy" in figure_names(NAMES, labels)
    for classes in (2, 3):
        places = expected.get(f"places{classes}")
        merged = scale.merged(classes)
        assert (merged and list(merged[1])) == places


@pytest.mark.parametrize("labels", TABLE["none"])
def test_other_classes_are_no_scale_of_sentiment(labels):
    assert Scale.of(labels) is None
    assert "binary_accuracy" not in figure_names(NAMES, labels)


@pytest.mark.parametrize(("labels", "expected"), SCALES)
def test_the_order_of_the_classes_changes_nothing(labels, expected):
    (there, back), places = (Scale.of(labels), Scale.of(labels[::-1])), range(len(labels))
    for column, reversed_column in zip(there, back, strict=True):
        assert column == reversed_column[::-1]
    scores = np.random.default_rng(3).dirichlet(np.ones(len(labels)), len(labels) * 9)
    gold = np.array([*places] * 9)
    mirrored = binary_right(scores[:, ::-1], len(labels) - 1 - gold, back)
    assert binary_right(scores, gold, there).tolist() == mirrored.tolist()


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (("negative", "neutral", "positive"), True),
        (("neg", "neu", "pos"), True),
        (("negative", "mixed", "positive"), True),
        (("negative", "neutral", "mixed", "positive"), False),
        (("Positive", "Mixed", "Neutral", "Negative"), False),
        (("never", "sometimes", "always"), True),
        (("Low", "medium", "HIGH"), True),
        (("positive", "neutral", "negative"), False),
        (("1", "2", "3"), False),
        (("0", "1", "2", "3", "4"), False),
        (("negative", "positive"), False),
        (("food negative", "staff negative", "positive"), False),
        (("ABBR", "DESC", "ENTY"), False),
    ],
)
def test_only_names_say_that_classes_are_in_order(labels, expected):
    assert in_order(labels) == expected


def test_numbers_are_sorted_as_numbers_but_are_no_scale():
    assert ordered(["10", "9", "-1"]) == ("-1", "9", "10")
    assert ordered(["10 stars", "2 stars", "1 star"]) == ("1 star", "2 stars", "10 stars")
    assert are_numbers(["1.5", "2"])
    assert not are_numbers(["1", "two"])
    assert not are_numbers(["1", "inf"])
    assert not are_numbers(["1 red", "1 blue"])


@pytest.mark.parametrize(
    ("labels", "column", "classes"),
    [
        ("negative|neutral|positive", "", "01 2 34"),
        ("POS|NEG", "", "34 01"),
        ("bad|neutral|good", "", "01 2 34"),
        ("negative|positive|very positive", "", "01 3 4"),
        ("|".join(FIVE), "", "0 1 2 3 4"),
        ("1 star|2 stars|3 stars|4 stars|5 stars", "", "0 1 2 3 4"),
        ("1|2|3|4|5", "review_stars", "0 1 2 3 4"),
        ("1|2|3", "Rating", "01 2 34"),
        ("1|2|3|4", "rating", "0 1 3 4"),
        ("0|4", "polarity", "01 34"),
        ("0|1", "sentiment", "01 34"),
        ("-1|0|1", "label", "01 2 34"),
    ],
)
def test_what_is_a_scale_of_sentiment(labels, column, classes):
    names = labels.split("|")
    sets = [tuple(FIVE[int(place)] for place in places) for places in classes.split()]
    expected = dict(zip(names, sets, strict=True))
    assert sentiment_sets(names, column) == expected
    assert sentiment_sets(names, column, False) is None
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
        ({"a": ("x",), "b": ()}, "at least one class"),
        ({"a": ("x",)}, "two sets"),
    ],
)
def test_sets_that_are_none(sets, problem):
    with pytest.raises(ValueError, match=problem):
        check_sets(("x", "y"), sets)


def test_a_label_of_more_weight_is_more_probable():
    scores = np.array([[0.1, 0.2, 0.4, 0.25, 0.05]])
    sets = set_matrix(FIVE, {"good": FIVE[3:], "bad": FIVE[:2]}, (3.0, 1.0))
    assert summed(scores, sets)[0] == pytest.approx([0.75, 0.25])
