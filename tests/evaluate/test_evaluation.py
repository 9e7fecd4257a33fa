"""Figures of a model that can be worked out by hand: a phrase's class is that of its last word."""

import json
import random

import numpy as np
import pytest
from last_word_model import random_tree, write_last_word_bundle

from thinstack.core.transitions import spans_of
from thinstack.data.trees.brackets import from_brackets
from thinstack.errors import InputError, TreeError
from thinstack.evaluate.treebank_evaluation import bracketing, evaluate_file
from thinstack.runtime.predictor import Predictor

# good -> good (2), awful -> bad (0), film -> so-so (1) and rather positive, a phrase that ends in a
# bracket -> good. Wrong are the first root, the bracket by itself, and the last sentence.
TREES = """
(2 (2 good) (1 film))
(0 (1 film) (0 awful))
(1 (0 awful) (1 film))
(2 (1 film) (1 -LRB-))

(2 awful)
"""
SIDES = ("negative", "so-so", "positive")  # in place of bad, so-so and good
GOLD = {
    "root_accuracy": 100 * 3 / 5,
    "root_binary_accuracy": 100 * 3 / 4,
    "phrase_accuracy": 100 * 10 / 13,
    "phrase_binary_accuracy": 100 * 6 / 7,
    "roots": 5,
    "binary_roots": 4,
    "phrases": 13,
    "binary_phrases": 7,
}


@pytest.fixture(scope="module")
def predictor(tmp_path_factory):
    path = tmp_path_factory.mktemp("bundle") / "model"
    return Predictor(write_last_word_bundle(path, tree_source="left", labels=SIDES))


@pytest.fixture
def write(tmp_path):
    """Writes a file of trees."""

    def call(*trees):
        (tmp_path / "trees.txt").write_text("\n".join(trees), encoding="utf-8")
        return tmp_path / "trees.txt"

    return call


@pytest.fixture
def file(write):
    return write(TREES)


def test_gold_trees(predictor, file):
    figures = evaluate_file(predictor, file)
    assert {key: figures[key] for key in GOLD} == pytest.approx(GOLD)
    json.dumps(figures, allow_nan=False)


def test_a_file_whose_labels_had_other_names_in_training(tmp_path, write):
    more = {"relabel.json": b'{"NEG": "negative", "POS": "positive", "X": ""}'}
    bundle = write_last_word_bundle(tmp_path / "model", labels=SIDES, more=more)
    file = write("(POS (X film) (NEG good))", "(X (NEG awful) (POS film))", "(NEG awful)")
    for text in (False, True):
        figures = evaluate_file(Predictor(bundle), file, source="auto", text=text)
        assert (figures["roots"], figures["root_accuracy"]) == (2, 100.0)
    assert evaluate_file(Predictor(bundle), file)["phrase_accuracy"] == pytest.approx(100 * 2 / 3)
    swapped = evaluate_file(Predictor(bundle), file, relabel={"NEG": "positive", "POS": "negative"})
    assert swapped["root_accuracy"] == 0
    with pytest.raises(InputError, match=r"no label 'negative'; it has 'NEG', 'POS', 'X'"):
        evaluate_file(Predictor(bundle), file, relabel={"NEG": "positive", "negative": "positive"})


def test_raw_text_compares_whole_sentences_only(predictor, file):
    figures = evaluate_file(predictor, file, source="auto", text=True)
    whole = {key: value for key, value in GOLD.items() if "root" in key}
    nothing = dict.fromkeys(("phrase_accuracy", "phrase_binary_accuracy"))
    expected = whole | nothing | {"phrases": 0, "binary_phrases": 0}
    assert {key: figures[key] for key in expected} == pytest.approx(expected)
    assert figures["phrase_calibration_error"] is None


def test_raw_text_is_what_a_user_would_write(predictor, write, monkeypatch):
    file = write("(2 (1 It) (2 (1 's) (2 (2 good) (1 .))))")
    given, real = [], predictor.stream

    def watch(texts, **settings):
        given.extend(texts)
        return real(given, **settings)

    monkeypatch.setattr(predictor, "stream", watch)
    evaluate_file(predictor, file, source="auto", text=True)
    assert given == ["It's good."]


def test_other_trees_are_measured_on_the_phrases_they_share_with_the_gold_tree(predictor, write):
    file = write("(0 (2 good) (1 (1 film) (0 awful)))")
    # `film awful` is labelled so-so, which is wrong; the left tree does not have that phrase.
    gold, left, right, auto = (
        evaluate_file(predictor, file, source=source)
        for source in ("gold", "left", "right", "auto")
    )
    assert (gold["phrases"], gold["phrase_accuracy"]) == (5, pytest.approx(80))
    assert (left["phrases"], left["phrase_accuracy"], left["roots"]) == (4, pytest.approx(100), 1)
    assert right.items() > gold.items()
    assert auto == left
    # Of trees that are not the treebank's own it is told how many phrases they share with those.
    assert (left["span_f1"], left["span_f1_with_root"], "span_f1" in gold) == (0, 50, False)
    assert "span_f1" not in evaluate_file(predictor, file, source="left", text=True)


def test_own_parses_are_measured_as_any_other_trees(parsing, write):
    predictor = Predictor(parsing)
    # The own parse of four words is (((a (b c)) d); `film good` and the first three words are no
    # phrases of the first tree.
    file = write(
        "(1 (0 (1 film) (0 awful)) (2 (2 good) (1 film)))",
        "(1 (2 (0 awful) (2 (1 film) (2 good))) (0 film))",
        "(2 (1 film) (2 good))",
    )
    own, auto, gold = (
        evaluate_file(predictor, file, source=source) for source in ("self", "auto", "gold")
    )
    assert own == auto
    assert own["phrases"] == 5 + 7 + 3
    assert own["phrase_accuracy"] == pytest.approx(100 * 14 / 15)  # wrong: the `film` that is 0
    found = [own[key] for key in ("span_f1", "span_f1_with_root", "exact_trees")]
    assert found == pytest.approx([100 * 2 / 4, 100 * 5 / 7, 50])
    assert [own[key] for key in ("trees", "spans", "spans_with_root")] == [2, 4, 7]
    assert gold["phrases"] == 17
    assert gold["root_accuracy"] == own["root_accuracy"] == 100.0
    text = evaluate_file(predictor, file, source="self", text=True)
    assert (text["roots"], text["root_accuracy"]) == (3, 100.0)


def test_raw_text_has_no_gold_trees(predictor, file):
    with pytest.raises(InputError, match="gold"):
        evaluate_file(predictor, file, text=True)


def test_a_word_of_white_space_is_no_sentence_of_raw_text(predictor, write):
    file = write("(2 good)", "(0 \u00a0)", "(0 awful)")
    figures = evaluate_file(predictor, file, source="auto", text=True)
    assert (figures["roots"], figures["root_accuracy"]) == (2, 100.0)


def test_a_tree_that_is_not_binary_or_has_an_unknown_label_is_placed(predictor, write):
    file = write("(2 good)", "(2 (2 good) (1 film) (2 good))")
    with pytest.raises(TreeError, match=r"trees\.txt: tree 1: node 3 "):
        evaluate_file(predictor, file)
    assert evaluate_file(predictor, file, source="left")["phrases"] == 5
    file = write("(2 good)", "(3 good)")
    with pytest.raises(TreeError, match=r"trees\.txt:2: node 0 .*'3'"):
        evaluate_file(predictor, file)


# -- bracketing, against an example counted by hand, and against sets of phrases


def of_trees(*pairs):
    """Of trees in brackets without labels, each with the treebank's."""
    spans = [[from_brackets(text, labelled=False).spans for text in pair] for pair in pairs]
    return bracketing([found for found, _ in spans], [gold for _, gold in spans])


def test_an_example_counted_by_hand():
    figures = of_trees(
        # `a b` is in both, `a b c` and `c d` are in one; the whole is in both.
        ("( ( ( a b ) c ) d )", "( ( a b ) ( c d ) )"),
        # Of three words, the same tree: one phrase inside.
        ("( a ( b c ) )", "( a ( b c ) )"),
        # Of three words, another tree.
        ("( ( a b ) c )", "( a ( b c ) )"),
        # Of two words or one there is nothing to choose, and only the first has a phrase: itself.
        ("( a b )", "( a b )"),
        ("( a )", "( a )"),
    )
    counts = [figures[key] for key in ("spans", "spans_with_root", "trees")]
    assert counts == [2 + 1 + 1, 3 + 2 + 2 + 1, 3]
    assert figures["span_f1"] == pytest.approx(100 * (1 + 1 + 0) / 4)
    assert figures["span_f1_with_root"] == pytest.approx(100 * (2 + 2 + 1 + 1) / 8)
    assert figures["span_f1_by_sentence"] == pytest.approx(100 * (2 / 3 + 1 + 1 / 2 + 1) / 4)
    assert figures["exact_trees"] == pytest.approx(100 / 3)


def test_of_trees_that_are_not_binary_both_numbers_of_spans_count():
    # The treebank's tree is flat, or has a chain of nodes over the same words, which is one span.
    flat = of_trees(("( ( a b ) ( c d ) )", "( ( a b ) c d )"))
    assert flat["span_f1"] == pytest.approx(100 * 2 * 1 / (2 + 1))
    assert flat["span_f1_with_root"] == pytest.approx(100 * 2 * 2 / 5)
    assert (flat["exact_trees"], flat["spans"], flat["spans_with_root"]) == (0.0, 1, 2)
    found_flat = of_trees(("( a b c )", "( ( a b ) c )"))
    assert (found_flat["span_f1"], found_flat["exact_trees"]) == (0.0, 0.0)
    assert found_flat["span_f1_with_root"] == pytest.approx(100 * 2 * 1 / 3)
    chain = of_trees(("( ( a b ) c )", "( ( ( ( a b ) ) c ) )"))
    assert (chain["span_f1"], chain["exact_trees"], chain["spans_with_root"]) == (100.0, 100.0, 2)


def phrases(steps):
    """The extents of every phrase of two words or more."""
    return {(start, end) for start, end in spans_of(steps).tolist() if end - start > 1}


def test_random_trees_against_sets():
    rng = random.Random(0)
    lengths = [rng.choice([1, 2, 3, 4, 5, 12]) for _ in range(300)]
    pairs = [(random_tree(n, rng), random_tree(n, rng)) for n in lengths]
    figures = bracketing([spans_of(a) for a, _ in pairs], [spans_of(b) for _, b in pairs])
    sets = [(phrases(a), phrases(b)) for a, b in pairs]
    both, gold = sum(len(a & b) for a, b in sets), sum(len(b) for _, b in sets)
    wholes = sum(n > 1 for n in lengths)
    assert (figures["spans_with_root"], figures["spans"]) == (gold, gold - wholes)
    assert figures["span_f1_with_root"] == pytest.approx(100 * both / gold)
    assert figures["span_f1"] == pytest.approx(100 * (both - wholes) / (gold - wholes))
    exact = [a == b for (a, b), n in zip(sets, lengths, strict=True) if n >= 3]
    assert figures["trees"] == len(exact)
    assert 0 < figures["exact_trees"] == pytest.approx(100 * np.mean(exact))


def test_no_case_is_none():
    percentages = ("span_f1", "span_f1_with_root", "span_f1_by_sentence", "exact_trees")
    nothing = dict.fromkeys(percentages) | {"spans": 0, "spans_with_root": 0, "trees": 0}
    assert bracketing([], []) == nothing
    assert of_trees(("( a )", "( a )")) == nothing
    two = of_trees(("( a b )", "( a b )"))
    right = {"span_f1_with_root": 100.0, "span_f1_by_sentence": 100.0, "spans_with_root": 1}
    assert two == nothing | right
    json.dumps(two, allow_nan=False)
