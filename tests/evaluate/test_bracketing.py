"""Bracketing against an example counted by hand, and against sets of phrases."""

import json
import random

import numpy as np
import pytest
from last_word_model import random_tree

from thinstack.core.transitions import spans_of
from thinstack.data.trees.brackets import from_brackets
from thinstack.evaluate.treebank_evaluation import bracketing


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
