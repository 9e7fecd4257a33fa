"""Candidates against counts by hand, and what must hold of choices among them."""

import numpy as np
import pytest
import torch
from core.configured import far_from_zero
from test_beam import all_trees, sentence

from reproduce.beam import Candidates
from reproduce.candidates import Ranked, by_score, cases_of, most_probable, oracles, span_f1
from reproduce.ranker import choose_weight, pairs_to_learn, scores_of
from thinstack.core.transitions import spans_of
from thinstack.evaluate.treebank_evaluation import bracketing

# Over a b c d e; the treebank's tree of `sentence` is right-branching: (a (b (c (d e)))).
RIGHT = (0, 0, 0, 0, 0, 1, 1, 1, 1)
LEFT = (0, 0, 1, 0, 1, 0, 1, 0, 1)  # ((((a b) c) d) e)
MIXED = (0, 0, 1, 0, 0, 0, 1, 1, 1)  # ((a b) (c (d e)))


def ranked(*trees, words=5):
    """Candidates of falling probability."""
    log_probs = -np.arange(1.0, len(trees) + 1)
    return Ranked.of(sentence(words), Candidates(np.array(trees, np.int8), log_probs))


def test_wrong_phrases_by_hand():
    """The gold phrases are b-e, c-e and d-e. `MIXED` has a-b for b-e; `LEFT` has none of them."""
    one = ranked(LEFT, MIXED)
    assert one.wrong.tolist() == [3, 1]
    assert (one.oracle, one.beyond.tolist()) == (1, [2, 0])  # a-c and a-d, but a-b is in both


def test_f1_by_hand():
    sentences = [ranked(LEFT, MIXED), ranked(MIXED), ranked((0, 0, 1), words=2)]
    before, best = cases_of(sentences, [0, 0, 0]), cases_of(sentences, [1, 0, 0])
    assert before.gold.tolist() == [3, 3, 0]
    assert span_f1(before) == pytest.approx(100 * (0 + 2) / 6)
    assert span_f1(best) == pytest.approx(100 * (2 + 2) / 6)
    assert span_f1(best.only(np.array([2]))) is None


def test_f1_is_that_of_bracketing():
    trees = all_trees(5)
    sentences = [ranked(*trees[start : start + 4]) for start in range(0, len(trees), 4)]
    places = [place % len(one.wrong) for place, one in enumerate(sentences)]
    found = [
        spans_of(one.candidates.transitions[place])
        for one, place in zip(sentences, places, strict=True)
    ]
    wanted = bracketing(found, [spans_of(np.array(RIGHT))] * len(found))["span_f1"]
    assert span_f1(cases_of(sentences, places)) == pytest.approx(wanted)


def test_choices_lie_between_the_parsers_and_the_oracles():
    """On the sentences that the weight was chosen on, for it may be 0."""
    random, trees = np.random.default_rng(1), all_trees(5)
    for _ in range(20):
        drawn = [random.permutation(len(trees))[:4] for _ in range(6)]
        sentences = [ranked(*(trees[place] for place in places)) for places in drawn]
        scores = [random.normal(size=4) * 3 for _ in sentences]
        weight = choose_weight(sentences, scores)
        choices = most_probable(sentences), by_score(sentences, scores, weight), oracles(sentences)
        before, after, best = (span_f1(cases_of(sentences, places)) or 0.0 for places in choices)
        assert best >= after >= before
        alone = by_score(sentences, scores, np.inf)
        assert alone == [int(own.argmax()) for own in scores]
        assert by_score(sentences, scores, 0.0) == most_probable(sentences)


def test_a_ranker_scores_each_candidate_by_itself():
    model = far_from_zero(
        {"name": "lexicalized_lstm.v1"}, {"name": "tree_ranker.v1"}, labels=["phrase", "other"]
    )
    sentences = [ranked(LEFT, MIXED, RIGHT), ranked((0, 0, 1), words=2), ranked(MIXED, LEFT)]
    together = scores_of(model, sentences)
    for one, own in zip(sentences, together, strict=True):
        for place, score in enumerate(own):
            with torch.inference_mode():
                found = model(model.inputs(one.forest(place)))
            wanted = found["node_scores"][one.candidates.transitions[place] == 1, 0].sum()
            assert score == pytest.approx(float(wanted), abs=1e-9)


def test_only_the_best_rival_and_the_oracle_are_learnt_from():
    """(22): f + kappa * the phrases that the oracle does not have."""
    sentences = [ranked(LEFT, RIGHT, MIXED), ranked(RIGHT, LEFT)]
    scores = [np.array([-3.0, -1.0, -1.5]), np.array([-1.0, -9.0])]
    # With 0.1: -2.7, -1.0, -1.4, so the oracle is its own best rival. With 0.6: -1.2, -1.0, -0.9.
    assert pairs_to_learn(sentences, scores, 0.1) == []
    assert [place for _, place in pairs_to_learn(sentences, scores, 0.6)] == [2, 1]
    assert [place for _, place in pairs_to_learn(sentences, scores, 3.0)] == [0, 1, 1, 0]
