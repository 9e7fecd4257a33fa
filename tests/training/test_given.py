"""Trees and targets of an example, by hand."""

from typing import Any

import numpy as np
import pytest
import tiny_recipe

from thinstack.config import ModelConfig
from thinstack.core import Tree
from thinstack.core.transitions import left
from thinstack.data.brackets import from_brackets
from thinstack.errors import TreeError
from thinstack.training.given import Given, given_chains, given_pair, given_tree

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

PHRASES = from_brackets(
    "(2 (1 the) (2 (2 good) (1 film)))"
)  # nodes: the, good, film, good film, all


def config(trees: str, **settings: Any) -> ModelConfig:
    cell = {"binary": "nary_lstm.v1", "constituency": "nary_lstm.v1"}.get(
        trees, "child_sum_lstm.v1"
    )
    return tiny_recipe.recipe(
        model={"trees": trees, **settings}, cell={"name": cell}, sources=()
    ).model


def lists(given: Given) -> tuple[dict[str, list[int]], list[int], int, list[float], list[float]]:
    structure = {name: part.tolist() for name, part in given.structure.items()}
    return (
        structure,
        given.targets.tolist(),
        given.whole,
        given.words.tolist(),
        given.depths.tolist(),
    )


def test_a_dependency_tree_has_its_root_where_the_word_stands() -> None:
    given = given_tree(PARSED, LABELS, config("dependency", relations=["det", "nsubj"]), "nodes")
    structure = {"parents": [1, 2, -1, 4, 2], "slots": [0, 0, 0, 0, 1], "kinds": [2, 3, 1, 1, 1]}
    assert lists(given) == (structure, [-1, 1, 0, -1, 0], 2, [1, 2, 5, 1, 2], [0, 1, 2, 0, 1])


def test_a_head_of_roots_is_given_the_class_of_the_sentence() -> None:
    given = given_tree(PARSED, LABELS, config("dependency"), "roots")
    assert lists(given)[1:] == ([0], 0, [5], [2])
    assert given.structure["parents"].tolist() == [1, 2, -1, 4, 2]


def test_a_constituency_tree_is_told_by_parents() -> None:
    tree = from_brackets("(2 (1 the) (2 good) (1 film))")
    structure, *rest = lists(
        given_tree(tree, np.array([1, 2, 1, 2]), config("constituency"), "nodes")
    )
    assert structure == {"parents": [3, 3, 3, -1], "slots": [0, 1, 2, 0], "kinds": [1, 1, 1, 1]}
    assert rest == [[1, 2, 1, 2], 3, [1, 1, 1, 3], [0, 0, 0, 1]]


@pytest.mark.parametrize("reads", ["nodes", "roots"])
def test_a_tree_of_phrases_is_no_dependency_tree(reads: str) -> None:
    with pytest.raises(TreeError, match=r"nodes without a word"):
        given_tree(PHRASES, np.array([1, 2, 1, 2, 2]), config("dependency"), reads)


def test_chains_of_a_head_of_nodes_are_shared_by_phrases_that_start_alike() -> None:
    positions, given = given_chains(PHRASES, np.array([1, 2, -1, 0, 2]), "nodes")
    # "good film", after whose first word "good" ends, and the sentence, after whose first word
    # "the" ends; "film" has no label.
    assert positions.tolist() == [1, 2, 0, 1, 2]
    targets, words, depths = [2, 0, 1, -1, 2], [1, 2, 1, 2, 3], [0, 1, 0, -1, 2]
    assert lists(given) == ({"lengths": [2, 3]}, targets, 4, words, depths)


def test_a_head_of_roots_is_given_a_chain_for_each_phrase() -> None:
    positions, given = given_chains(PHRASES, np.array([1, 2, -1, 0, 2]), "roots")
    assert positions.tolist() == [0, 1, 1, 2, 0, 1, 2]
    assert lists(given) == ({"lengths": [1, 1, 2, 3]}, [1, 2, 0, 2], 3, [1, 1, 2, 3], [0, 0, 1, 2])


@pytest.mark.parametrize("reads", ["nodes", "roots"])
def test_a_sentence_without_a_class_is_there_all_the_same(reads: str) -> None:
    positions, given = given_chains(PHRASES, np.array([-1, -1, -1, -1, -1]), reads)
    assert positions.tolist() == [0, 1, 2]
    assert given.structure["lengths"].tolist() == [3]
    assert (given.targets.tolist()[-1], set(given.targets.tolist())) == (-1, {-1})
    assert (given.whole, given.words[-1], given.depths[-1]) == (len(given.targets) - 1, 3, 2)


PAIR = (PARSED, Tree.from_parents([1, -1], ["not", "dull"], ["neg", "root"]))


def test_a_pair_is_two_trees_and_one_target() -> None:
    given = given_pair(PAIR, 3.6, config("dependency", relations=["neg"]))
    structure = {
        "parents": [1, 2, -1, 4, 2, 6, -1],
        "slots": [0, 0, 0, 0, 1, 0, 0],
        "kinds": [1, 1, 1, 1, 1, 2, 1],
    }
    assert lists(given) == (structure, [np.float32(3.6)], 0, [3.5], [1.5])
    assert given.targets.dtype == np.float32


def test_pairs_of_binary_trees_and_of_sentences() -> None:
    pair = (PHRASES, from_brackets("(2 (1 the) (2 (2 (1 good) (2 good)) (1 film)))"))
    given = given_pair(pair, 2, config("binary"))
    assert lists(given) == (
        {"transitions": [0, 0, 0, 1, 1, 0, 0, 0, 1, 0, 1, 1]},
        [2],
        0,
        [3.5],
        [2.5],
    )
    assert given.targets.dtype == np.int64
    assert lists(given_pair(pair, 1, config("sequence")))[:2] == ({"lengths": [3, 4]}, [1])


def test_over_another_tree_shared_phrases_keep_label_and_depth() -> None:
    tree = from_brackets("(2 (2 (1 the) (1 (2 good) (0 old))) (1 film))")
    gold = given_tree(tree, np.array([1, 2, 0, 1, 2, 1, 2]), config("binary"), "nodes")
    # the, good, the good, old, the good old, film, all: "the good" is no phrase of the gold tree.
    structure = {"transitions": [0, 0, 1, 0, 1, 0, 1]}
    words, depths = [1, 1, 2, 1, 3, 1, 4], [0, 0, -1, 0, 2, 0, 3]
    assert lists(gold.over(left(4))) == (structure, [1, 2, -1, 0, 2, 1, 2], 6, words, depths)
    assert gold.structure["transitions"].tolist() == [0, 0, 0, 1, 1, 0, 1]


def test_over_another_tree_sentences_and_pairs_stay_what_they_are() -> None:
    alone = given_tree(PHRASES, np.array([1, 2, 1, 2, 0]), config("binary"), "roots").over(left(3))
    assert lists(alone) == ({"transitions": [0, 0, 1, 0, 1]}, [0], 0, [3], [2])
    steps = np.concatenate([left(3), left(3)])
    pair = given_pair((PHRASES, PHRASES), 4.5, config("binary")).over(steps)
    assert lists(pair) == ({"transitions": steps.tolist()}, [4.5], 0, [3], [2])
    assert (pair.targets.dtype, pair.structure["transitions"].dtype) == (np.float32, np.int64)
