"""Trees and targets of an example, by hand."""

from functools import lru_cache

import numpy as np
import pytest
import tiny_recipe
from last_word_model import random_tree

from thinstack.core import Tree
from thinstack.core.transitions import left, spans_of
from thinstack.data.trees.brackets import from_brackets
from thinstack.data.words.vocabulary import WordVocabulary
from thinstack.errors import TreeError
from thinstack.training.examples.example import right_transitions
from thinstack.training.examples.labelled import labelled_chains, labelled_pair, labelled_tree

#        is
#     /      \
#   film    dull
#   /        /
# the      so
PARSED = Tree.from_parents(
    [1, 2, -1, 4, 2],
    ("the", "film", "is", "so", "dull"),
    ["det", "nsubj", "root", "advmod", "acomp"],
)
LABELS = np.array([-1, 1, 0, -1, 0])

# nodes: the, good, film, good film, all
PHRASES = from_brackets("(2 (1 the) (2 (2 good) (1 film)))")

WORDS = WordVocabulary(["the", "good", "film", "is", "so", "dull", "not", "old"])  # ids from 1


def config(trees, **settings):
    cell = "nary_lstm.v1" if trees in ("binary", "constituency") else "child_sum_lstm.v1"
    settings = {"model": {"trees": trees, **settings}, "cell": {"name": cell}, "sources": ()}
    return tiny_recipe.recipe(**settings).model


def over(tree, labels, trees, reads="nodes", **settings):
    return labelled_tree(tree, np.asarray(labels), WORDS, config(trees, **settings), reads)


def filled(given, *others):
    """The fields of the forest that are not empty, but for the words' and `others`."""
    fields = given.forest._asdict().items()
    return {
        name: part.tolist()
        for name, part in fields
        if len(part) and name not in ("token_ids", "sizes", *others)
    }


def lists(given):
    return [given.targets.tolist(), given.whole]


def test_a_dependency_tree_has_its_root_where_the_word_stands():
    given = over(PARSED, LABELS, "dependency", relations=["det", "nsubj"])
    parents, slots, kinds = [1, 2, -1, 4, 2], [0, 0, 0, 0, 1], [2, 3, 1, 1, 1]
    assert filled(given) == {"parents": parents, "slots": slots, "kinds": kinds, "lengths": [5]}
    assert given.forest.token_ids.tolist() == [1, 3, 4, 5, 6]
    assert lists(given) == [[-1, 1, 0, -1, 0], 2]


@pytest.mark.parametrize("reads", ["nodes", "roots"])
def test_a_tree_of_phrases_is_no_dependency_tree(reads):
    with pytest.raises(TreeError, match=r"nodes without a word"):
        over(PHRASES, [1, 2, 1, 2, 2], "dependency", reads)


def test_chains_of_a_head_of_nodes_are_shared_by_phrases_that_start_alike():
    given = labelled_chains(PHRASES, np.array([1, 2, -1, 0, 2]), WORDS, "nodes")
    # "good film", after whose first word "good" ends, and the sentence, after whose first word
    # "the" ends; "film" has no label.
    assert given.forest.token_ids.tolist() == [2, 3, 1, 2, 3]
    assert filled(given) == {"lengths": [2, 3]}
    assert lists(given) == [[2, 0, 1, -1, 2], 4]


def test_a_head_of_roots_is_given_a_chain_for_each_phrase():
    given = labelled_chains(PHRASES, np.array([1, 2, -1, 0, 2]), WORDS, "roots")
    assert given.forest.token_ids.tolist() == [1, 2, 2, 3, 1, 2, 3]
    assert given.forest.sizes.tolist() == given.forest.lengths.tolist() == [1, 1, 2, 3]
    assert lists(given) == [[1, 2, 0, 2], 3]


@pytest.mark.parametrize("reads", ["nodes", "roots"])
def test_a_sentence_without_a_class_is_there_all_the_same(reads):
    given = labelled_chains(PHRASES, np.array([-1, -1, -1, -1, -1]), WORDS, reads)
    assert given.forest.token_ids.tolist() == [1, 2, 3]
    assert given.forest.lengths.tolist() == [3]
    assert set(given.targets.tolist()) == {-1}
    assert given.whole == len(given.targets) - 1


def test_a_pair_is_two_trees_and_one_target():
    pair = PARSED, Tree.from_parents([1, -1], ["not", "dull"], ["neg", "root"])
    given = labelled_pair(pair, 3.6, WORDS, config("dependency", relations=["neg"]))
    assert given.forest.token_ids.tolist() == [1, 3, 4, 5, 6, 7, 6]
    assert filled(given) == {
        "parents": [1, 2, -1, 4, 2, 6, -1],
        "slots": [0, 0, 0, 0, 1, 0, 0],
        "kinds": [1, 1, 1, 1, 1, 2, 1],
        "lengths": [5, 2],
    }
    assert lists(given) == [[np.float32(3.6)], 0]
    assert given.targets.dtype == np.float32


def test_over_another_tree_shared_phrases_keep_their_label():
    tree = from_brackets("(2 (2 (1 the) (1 (2 good) (0 old))) (1 film))")
    soft = np.arange(1, 22, dtype=np.float32).reshape(7, 3)
    gold = over(tree, [1, 2, 0, 1, 2, 1, 2], "binary")._replace(soft=soft)
    other = gold.over(left(4))
    # the, good, the good, old, the good old, film, all: "the good" is no phrase of the gold tree.
    assert filled(other) == {"transitions": [0, 0, 1, 0, 1, 0, 1], "lengths": [4]}
    assert lists(other) == [[1, 2, -1, 0, 2, 1, 2], 6]
    assert other.soft.tolist() == [*soft[:2].tolist(), [0, 0, 0], *soft[[2, 4, 5, 6]].tolist()]
    assert gold.forest.transitions.tolist() == [0, 0, 0, 1, 1, 0, 1]


# -- the dynamic oracle, against all ways there are to go on


def phrases(steps):
    """Of two words or more."""
    return {(start, end) for start, end in spans_of(steps).tolist() if end - start > 1}


@lru_cache(None)
def reachable(stack, front, words, wanted):
    """How many wanted phrases the best way to go on still makes."""
    ways = [0]
    if front < words:
        ways.append(reachable((*stack, (front, front + 1)), front + 1, words, wanted))
    if len(stack) > 1:
        joined = (stack[-2][0], stack[-1][1])
        ways.append((joined in wanted) + reachable((*stack[:-2], joined), front, words, wanted))
    return max(ways)


@pytest.mark.parametrize("seed", range(8))
def test_it_leaves_most_gold_phrases_within_reach(seed):
    random = np.random.default_rng(seed)
    answers = set()
    for _ in range(50):
        words = int(random.integers(3, 8))
        gold, taken = random_tree(words, random), random_tree(words, random)
        wanted = frozenset(phrases(gold))
        stack = ()
        front = 0
        for step, answer in zip(taken, right_transitions(gold, taken), strict=True):
            shifted = (*stack, (front, front + 1))
            joined = (stack[-2][0], stack[-1][1]) if len(stack) > 1 else None
            reduced = (*stack[:-2], joined)
            if front < words and joined:
                by_shift = reachable(shifted, front + 1, words, wanted)
                by_reduce = (joined in wanted) + reachable(reduced, front, words, wanted)
                assert answer == (-1 if by_shift == by_reduce else int(by_reduce > by_shift))
                answers.add(int(answer))
            stack, front = (reduced, front) if step else (shifted, front + 1)
    assert answers == {-1, 0, 1}


def test_along_the_gold_tree_it_is_the_gold_transition():
    random = np.random.default_rng(0)
    for words in range(1, 30):
        gold = random_tree(words, random)
        depth = np.concatenate([[0], np.cumsum(1 - 2 * gold)[:-1]])
        free = (depth > 1) & (np.cumsum(gold == 0) - (gold == 0) < words)
        assert (right_transitions(gold, gold) == gold)[free].all()
