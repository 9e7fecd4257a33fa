"""Figures of a suite, counted by hand."""

import json

import numpy as np
import pytest
from last_word_model import expected, write_last_word_bundle

from thinstack.core.scale import Scale
from thinstack.errors import DataError, InputError
from thinstack.evaluate.suite import Case
from thinstack.evaluate.suite_evaluation import (
    case_sets,
    evaluate_suite,
    markdown,
    polarity_figures,
    suite_rows,
)
from thinstack.runtime.predictor import Predictor

FIVE = ("very negative", "negative", "neutral", "positive", "very positive")


def case(name, polarity, text="", kind="no", **pair):
    given = {"test": "MFT", "partner": "-", "moves": "-"} | pair
    return Case(name, "open", kind, polarity, text=text or name, **given)


def test_right_is_the_side_with_more_mass_and_neutral_the_middle():
    rows = {
        # positive mass 0.45, negative 0.4, but the most probable class is negative
        "slight": [0.0, 0.4, 0.15, 0.25, 0.2],
        # the most probable class is neutral, and the margin -0.3
        "calm": [0.2, 0.2, 0.5, 0.1, 0.0],
        "even": [0.4, 0.05, 0.1, 0.05, 0.4],
        "good": [0.0, 0.1, 0.2, 0.3, 0.4],
        "bad": [0.5, 0.2, 0.1, 0.2, 0.0],
    }
    scores = np.array(list(rows.values()), np.float32)
    right = {
        "positive": {"slight", "good"},
        "negative": {"calm", "bad"},
        "neutral": {"slight", "calm", "even"},
    }
    for polarity, names in right.items():
        cases = [case(name, polarity) for name in rows]
        figures, wrong = polarity_figures(cases, scores, FIVE)
        assert {one.id for one in wrong} == rows.keys() - names
        assert (figures["right"], figures["total"]) == (len(names), 5)
        assert figures["accuracy"] == pytest.approx(20 * len(names))


def test_without_a_neutral_class_the_margin_tells_what_is_neutral():
    scores = np.array([[0.45, 0.55], [0.58, 0.42], [0.35, 0.65], [0.7, 0.3]])
    cases = [case(name, "neutral") for name in "abcd"]
    _, wrong = polarity_figures(cases, scores, ("negative", "positive"))
    assert [one.id for one in wrong] == ["c", "d"]


def test_kinds_totals_and_irony():
    cases = [
        case("a", "positive", kind="negated_negatives"),
        case("b", "positive", kind="negated_negatives"),
        case("c", "negative", kind="books"),
        case("d", "negative", kind="irony"),
        case("e", "negative", kind="irony"),
    ]
    scores = np.array([[0.2, 0.8], [0.9, 0.1], [0.7, 0.3], [0.3, 0.7], [0.6, 0.4]])
    figures, wrong = polarity_figures(cases, scores, ("negative", "positive"))
    assert figures["kinds"] == {
        "negated_negatives": {"right": 1, "total": 2, "accuracy": 50.0},
        "books": {"right": 1, "total": 1, "accuracy": 100.0},
    }
    assert (figures["right"], figures["total"]) == (2, 3)
    assert figures["accuracy"] == pytest.approx(200 / 3)
    assert figures["negated_negatives"] == 50.0
    assert figures["irony"] == {"right": 1, "total": 2, "accuracy": 50.0}
    assert figures["tests"]["INV"] == {"right": 0, "total": 0, "accuracy": None}
    assert [one.id for one in wrong] == ["b", "d"]
    assert json.loads(json.dumps(figures, allow_nan=False)) == figures
    rows = {row.name: row.cells for row in suite_rows({"mine": figures})}
    assert rows == {
        "total": ("2", "3", "66.67", "-", "-", "-"),
        "negated negatives": ("1", "2", "50.00", "-", "-", "-"),
        "books": ("1", "1", "100.00", "-", "-", "-"),
        "irony, in no total": ("1", "2", "50.00", "-", "-", "-"),
    }


def test_pairs_agree_or_move():
    cases = [
        case("a", "positive"),
        case("b", "positive", test="INV", partner="a"),
        case("c", "positive", test="INV", partner="a"),
        case("d", "negative", test="DIR", partner="a", moves="down"),
        case("e", "positive", test="DIR", partner="d", moves="up"),
        case("f", "negative", test="DIR", partner="a", moves="down"),
        case("g", "positive", test="DIR", partner="a", moves="up"),
        case("h", "positive", test="DIR", partner="a", moves="up"),
    ]
    # d is wrong by its side and yet moves down; f and h do not move.
    positive = np.array([0.8, 0.6, 0.4, 0.7, 0.9, 0.8, 0.7, 0.8])
    scores = np.stack([1 - positive, positive], axis=1)
    figures, wrong = polarity_figures(cases, scores, ("negative", "positive"))
    assert figures["tests"] == {
        "INV": {"right": 1, "total": 2, "accuracy": 50.0},
        "DIR": {"right": 2, "total": 5, "accuracy": 40.0},
    }
    assert [one.id for one in wrong] == ["c", "d", "f"]
    both_wrong, _ = polarity_figures(cases[:2], scores[:, ::-1], ("negative", "positive"))
    assert both_wrong["tests"]["INV"]["right"] == 1


THREE = ("negative", "neutral", "positive")
SETS = [
    case("a", "positive"),
    case("b", "positive", test="INV", partner="a"),
    case("c", "positive", test="INV", partner="b"),
    case("d", "neutral", kind="facts"),
    case("e", "neutral", kind="facts", test="INV", partner="d"),
    case("f", "negative", test="DIR", partner="a", moves="down"),
    case("g", "neutral", kind="facts", test="INV", partner="h"),
    case("h", "neutral", kind="facts"),
]


def test_sets_are_texts_and_their_changes():
    assert case_sets(SETS) == [("no", [0, 1, 2]), ("facts", [3, 4]), ("facts", [6, 7])]
    each_other = [case("a", "positive", test="INV", partner="b"), SETS[1]]
    assert case_sets(each_other) == [("no", [0, 1])]


def test_a_set_has_one_side_if_all_labels_do():
    # c's label is neutral; d and e are of other sides and both wrong; g and h agree.
    negative = [0.1, 0.2, 0.2, 0.8, 0.1, 0.8, 0.3, 0.1]
    positive = [0.7, 0.7, 0.3, 0.1, 0.8, 0.1, 0.3, 0.3]
    scores = np.array([negative, 1 - np.add(negative, positive), positive]).T
    figures = polarity_figures(SETS, scores, THREE).figures
    assert figures["tests"]["INV"]["right"] == 4
    expected = {"right": 1, "total": 3, "accuracy": 100 / 3, "spread": (0.5 + 1.4 + 0.2) / 3}
    no = {"right": 0, "total": 1, "accuracy": 0, "spread": 0.5}
    facts = {"right": 1, "total": 2, "accuracy": 50, "spread": 0.8}
    found = figures["sets"]
    assert found.keys() == {*expected, "kinds"}
    assert {name: found[name] for name in expected} == pytest.approx(expected)
    assert found["kinds"] == {"no": pytest.approx(no), "facts": pytest.approx(facts)}
    rows = {row.name: row.cells[3:] for row in suite_rows({"mine": figures})}
    assert rows["total"] == ("3", "33.33", "0.700")
    assert rows["facts"] == ("2", "50.00", "0.800")
    assert rows["pairs that agree (INV)"] == ("-", "-", "-")
    assert "| `mine` | facts | 2 | 4 | 50.00 | 2 | 50.00 | 0.800 |" in markdown({"mine": figures})


def test_classes_of_any_number_have_sides():
    pair = SETS[:2]
    for labels, rows, spread in (
        (("negative", "positive"), [[0.4, 0.6], [0.6, 0.4]], 0.4),
        (("positive", "negative"), [[0.6, 0.4], [0.4, 0.6]], 0.4),
        (FIVE, [[0, 0.1, 0.3, 0.4, 0.2], [0.4, 0.3, 0.1, 0.1, 0.1]], 0.35 + 0.4),
    ):
        sets = polarity_figures(pair, np.array(rows), labels).figures["sets"]
        assert (sets["right"], sets["total"], sets["spread"]) == (0, 1, pytest.approx(spread))
    scale = Scale.at((-1.0, 1.0))
    sets = polarity_figures(pair, np.array([[0.4, 0.6]] * 2), ("a", "b"), scale).figures["sets"]
    assert (sets["right"], sets["spread"]) == (1, 0)


@pytest.fixture(scope="module")
def predictor(tmp_path_factory):
    path = tmp_path_factory.mktemp("bundle") / "model"
    labels = ("negative", "so-so", "positive")
    return Predictor(write_last_word_bundle(path, labels=labels))


def test_texts_are_read_as_users_give_them(predictor):
    # Two words and four: the mean of the sentences, weighted by their words, decides.
    text = "So good! Film of an awful"
    margins = [expected(word, 2)["good"] - expected(word, 2)["bad"] for word in ("!", "awful")]
    mean = (3 * margins[0] + 4 * margins[1]) / 7
    assert margins[0] > 0 > mean
    cases = [case("a", "negative", text), case("b", "positive", "It is good")]
    figures, wrong = evaluate_suite(predictor, cases)
    assert (figures["right"], wrong) == (2, [])


def test_what_cannot_be_measured_is_refused(predictor, tmp_path):
    other = Predictor(write_last_word_bundle(tmp_path / "other"))
    with pytest.raises(InputError, match="bad, so-so, good"):
        evaluate_suite(other, [case("a", "positive")])
    with pytest.raises(DataError, match="text 1"):
        evaluate_suite(predictor, [case("a", "positive"), case("b", "positive", "\u00a0")])
