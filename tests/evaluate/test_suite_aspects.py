"""Figures of a suite of aspects, counted by hand."""

import json

import pytest
from aspect_models import write_aspect_bundle
from last_word_model import write_last_word_bundle

from thinstack.errors import InputError
from thinstack.evaluate.suite import AspectCase, terms_of
from thinstack.evaluate.suite_evaluation import evaluate_suite, markdown, suite_rows
from thinstack.runtime.predictor import Predictor


def case(name, kind, terms, text):
    return AspectCase(name, "open", kind, terms_of(terms, text, name), text)


# In the model of aspects a battery is good, the staff bad, a screen neutral, and each is a term.
# Any other word is neutral and none, so that the phrase around "film" that ends in "good" judges
# it. In the model without terms, only what ends in "good" or "awful" has a side.
CASES = [
    case("a", "both", "0-7 positive; 8-13 negative", "Battery staff"),
    case("b", "both", "4-11 negative; 12-17 negative", "Our battery staff"),
    case("c", "facts", "0-6 neutral; 7-11 neutral", "Screen door"),
    case("d", "none", "-", "We left"),
    case("e", "none", "-", "No staff"),
    case("f", "judged", "4-8 positive", "The film good"),
]
NO_CASE = {"right": 0, "total": 0, "accuracy": None}


def counted(right, total):
    return {"right": right, "total": total, "accuracy": pytest.approx(100 * right / total)}


def test_a_model_of_aspects_is_asked_for_polarity_and_for_terms(tmp_path):
    predictor = Predictor(write_aspect_bundle(tmp_path / "model"))
    figures, wrong = evaluate_suite(predictor, CASES)
    assert {name: figures[name] for name in NO_CASE} == counted(6, 7)
    kinds = {"both": counted(3, 4), "facts": counted(2, 2), "judged": counted(1, 1)}
    assert figures["kinds"] == kinds
    assert figures["no_terms"] == counted(1, 2)
    # Gold are 7 terms. Found are 6: in a and b two each, in c the screen, in e the staff. Of these
    # 5 are gold, and 4 have the right polarity.
    assert figures["aspects"] == {
        "polarity_accuracy": pytest.approx(600 / 7),
        # positive: 2 right, 2 gold, 3 said; neutral: 2, 2, 2; negative: 2, 3, 2
        "polarity_f1": pytest.approx((400 / 5 + 100 + 400 / 5) / 3),
        "mixed_accuracy": 100,
        "term_f1": pytest.approx(1000 / 13),
        "aspect_f1": pytest.approx(800 / 13),
        "phrase_terms": 100,
    }
    assert [one.id for one in wrong] == ["b", "c", "e", "f"]
    assert json.loads(json.dumps(figures, allow_nan=False)) == figures
    rows = {row.name: row.cells for row in suite_rows({"mine": figures})}
    dashes = ("-",) * 3
    assert rows == {
        "total": ("6", "7", "85.71", *dashes),
        "both": ("3", "4", "75.00", *dashes),
        "facts": ("2", "2", "100.00", *dashes),
        "judged": ("1", "1", "100.00", *dashes),
        "no term, none found": ("1", "2", "50.00", *dashes),
        "macro-F1": ("-", "-", "86.67", *dashes),
        "in sentences with both polarities": ("-", "-", "100.00", *dashes),
        "F1 of terms": ("-", "-", "76.92", *dashes),
        "F1 of terms with polarity": ("-", "-", "61.54", *dashes),
        "terms that are phrases": ("-", "-", "100.00", *dashes),
    }


def test_another_model_is_asked_for_the_polarity_of_given_terms(tmp_path):
    labels = ("negative", "so-so", "positive")
    predictor = Predictor(write_last_word_bundle(tmp_path / "model", labels=labels))
    terms = "0-4 negative; 11-16 negative; 22-26 positive"
    cases = [*CASES[2:], case("g", "judged", terms, "Film awful films! The film good")]
    figures, wrong = evaluate_suite(predictor, cases)
    # Of g, the balanced tree is ((Film awful) (films !)), and "!" is neutral.
    assert figures["kinds"] == {"facts": counted(2, 2), "judged": counted(3, 4)}
    assert [one.id for one in wrong] == ["g"]
    assert figures["no_terms"] == NO_CASE
    assert [figures["aspects"][name] for name in ("term_f1", "aspect_f1")] == [None, None]
    assert "F1 of terms" not in markdown({"mine": figures})


def test_a_model_that_scores_only_sentences_has_dashes(tmp_path):
    labels = ("negative", "neutral", "positive")
    predictor = Predictor(write_last_word_bundle(tmp_path / "model", labels=labels))
    predictor.phrases = False
    figures, wrong = evaluate_suite(predictor, CASES)
    unknown = {"right": None, "accuracy": None}
    assert figures["kinds"]["both"] == unknown | {"total": 4}
    assert (figures["right"], figures["total"], figures["accuracy"]) == (None, 7, None)
    assert wrong == CASES
    assert {*figures["aspects"].values()} == {None}
    rows = {row.name: row.cells[:3] for row in suite_rows({"mine": figures})}
    assert rows == {
        "total": ("-", "7", "-"),
        "both": ("-", "4", "-"),
        "facts": ("-", "2", "-"),
        "judged": ("-", "1", "-"),
    }


def test_classes_without_sides_are_refused(tmp_path):
    predictor = Predictor(write_last_word_bundle(tmp_path / "model"))
    with pytest.raises(InputError, match="bad, so-so, good"):
        evaluate_suite(predictor, CASES)
