"""Marks of pairs and of sentences, against lists made by hand."""

import numpy as np
import tiny_tree_pairs
from test_measured_cases import some_cases
from tiny_table import tiny, write_all
from tiny_tree_pairs import TinyPair, write_snli

from reproduce.marks import Marks, marks_of
from reproduce.table import Table

PAIRS = (
    ("good " * 20, "a film", False, False, True),
    ("good " * 19, "no film", True, False, False),
    ("film " * 25, "it is not so", True, True, True),
    ("not so", "it is n't", False, False, False),
    ("never so", "it is not", False, True, False),
    ("a film", "good " * 30, False, False, False),
)
"""First and second sentence; whether negated, negated by "not", and of a long premise."""


def test_pairs_are_marked(tmp_path):
    found = [TinyPair(a.split(), b.split(), 1.0, "neutral") for a, b, *_ in PAIRS]
    for name in ("train", "dev"):
        write_snli(tmp_path / f"{name}.jsonl", found)
    marks = marks_of(tiny_tree_pairs.recipe("entailment", snli=True), tmp_path)
    assert [tuple(row) for row in np.stack(marks, 1).tolist()] == [row[2:] for row in PAIRS]


def test_sentences_have_no_premise(tmp_path):
    path, data = write_all(tmp_path, tiny())
    (data / "dev.txt").write_text("(2 (1 not) (2 good))\n(2 good)\n", encoding="utf-8")
    marks = marks_of(next(iter(Table.read(path).runs())).recipe, data)
    assert [column.tolist() for column in marks] == [[True, False], [False] * 2, [False] * 2]


def test_figures_of_the_marks():
    rows = np.array([[1, 1, 0], [0, 0, 0], [0, 1, 1]], bool)  # the first and the last are right
    assert Marks(*rows).figures(some_cases()) == {
        "negation_accuracy": 50.0,
        "negations": 2,
        "not_accuracy": None,
        "nots": 0,
        "long_accuracy": 50.0,
        "long_premises": 2,
    }
