"""What the names of classes say, against a table written by hand, which the tests of `js/` read
too."""

import json
from pathlib import Path

import numpy as np
import pytest

from thinstack.core.scale import Scale, are_numbers, in_order, ordered
from thinstack.evaluate.accuracy import NAMES, binary_right
from thinstack.evaluate.figures import figure_names

TABLE = json.loads(Path(__file__).with_name("scales.json").read_text(encoding="utf-8"))
SCALES = [(row["labels"], row) for row in TABLE["scales"]]


@pytest.mark.parametrize(("labels", "expected"), SCALES)
def test_classes_of_sentiment_stand_where_their_names_say(labels, expected):
    scale = Scale.of(labels)
    assert [list(scale.sides), list(scale.polarity), list(scale.tones)] == [
        expected["sides"],
        expected["polarity"],
        expected["tones"],
    ]
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
