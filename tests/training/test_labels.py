"""Classes that a table has: their order, and what a person is asked about."""

import pytest

from thinstack.errors import DataError
from thinstack.training.tasks._table import MOST, find_labels


@pytest.mark.parametrize(
    "expected",
    [
        ("1", "2", "10"),
        ("-0.5", "0", "2.5"),
        ("negative", "neutral", "positive"),
        ("Very Negative", "negative", "Very Positive"),
        ("low", "medium", "high"),
        ("LOC", "NUM", "abbr"),
        ("1 star", "2 stars"),
    ],
)
def test_classes_keep_the_order_that_they_have(expected):
    for given in (expected, expected[::-1], expected[1:] + expected[:1]):
        assert find_labels([*given, *given], "t.csv") == expected


@pytest.mark.parametrize(
    ("labels", "problem"),
    [
        ([], "two classes or more, found no row"),
        (["a", "a"], "found only the class 'a';"),
        ([f"text {n}" for n in range(MOST + 1)], "at most 200 classes.*--label-column"),
        (["Good", "bad", "good", "good"], r"'Good' \(1 rows\) and 'good' \(2 rows\).*--labels"),
        (["not good", "not  good ", "x"], "differ by case or spaces only"),
        (["1", "1.0", "0"], r"'1' \(1 rows\) and '1\.0' \(1 rows\) are one number"),
        (["été", "e\u0301te\u0301"], r"'\\xe9t\\xe9' .* and 'e\\u0301te\\u0301' .* look alike"),
        (["up", "down", "up\u2060"], r"'up' .* and 'up\\u2060' .*--labels"),
        (["up", "down", "NULL"], r"the class 'NULL' \(1 rows\) stands for a missing value"),
        (["up", "down", "?"], r"the class '\?' \(1 rows\) stands for a missing value.*--labels"),
    ],
)
def test_what_no_table_of_classes_holds_is_asked_about(labels, problem):
    with pytest.raises(DataError, match=f"t.csv: .*{problem}"):
        find_labels(labels, "t.csv")
