"""Inputs that exports are tried on, and the cases stored beside them."""

import numpy as np
import pytest
from export_models import C, V, make_model
from plain_parts import PlainCell, plain_model, plain_spinn

from thinstack.core import transitions
from thinstack.core.encoder import Encoder, Layer
from thinstack.core.head import Reads
from thinstack.export.samples import (
    eager_scores,
    forest_size,
    join_inputs,
    makes_trees,
    sample_shapes,
    sample_trees,
    sampled,
    without_trees,
)
from thinstack.models import TreeModel
from thinstack.models.tree_model import Structure


def small_model(
    structure: Structure, arity: int, reads: Reads = "nodes", *, whole: bool = False, kinds: int = 3
) -> TreeModel:
    """`whole`: every node has a word."""
    cell = PlainCell(arity, inner=whole, kinds=kinds)
    return plain_model(Encoder([Layer(cell)], words_at_leaves=not whole), structure, reads)


MODELS = {
    "transitions": small_model("transitions", 2),
    "candidates": small_model("transitions", 2, "candidates"),
    "lengths": small_model("lengths", 1, whole=True),
    "constituency, any arity": small_model("parents", 0),
    "constituency, arity 2": small_model("parents", 2),
    "constituency, arity 3": small_model("parents", 3),
    "dependency, any arity": small_model("parents", 0, whole=True),
    "dependency, arity 1": small_model("parents", 1, whole=True, kinds=1),
    "dependency, arity 2": small_model("parents", 2, whole=True),
    "pairs": small_model("parents", 0, "pairs", whole=True),
    "pairs of transitions": small_model("transitions", 2, "pairs"),
}


def test_shapes_are_trees_of_all_sizes() -> None:
    batches = list(sample_shapes(np.random.default_rng(0)))
    for trees in batches:
        for tree in trees:
            assert transitions.spans_of(transitions.validate(tree))[-1].tolist() == [
                0,
                (len(tree) + 1) // 2,
            ]
    assert sorted({len(trees) for trees in batches}) == [0, 1, 3, 32]
    singles = [trees[0] for trees in batches if len(trees) == 1]
    assert sorted({(len(tree) + 1) // 2 for tree in singles}) == [1, 2, 7, 64, 512]
    for shape in (transitions.left, transitions.right, transitions.balanced):
        assert any(np.array_equal(tree, shape(512)) for tree in singles)
    assert any(len(tree) == 1 for tree in batches[-1])


def roots_of(parents: np.ndarray) -> np.ndarray:
    """The root of each node; -1 if there is none, for a cycle."""
    found = np.arange(len(parents))
    for _ in range(len(parents)):
        found = np.where(parents[found] < 0, found, parents[found])
    return np.where(parents[found] < 0, found, -1)


@pytest.mark.parametrize("kind", MODELS)
def test_batches_are_valid_inputs_of_all_sizes(kind: str) -> None:
    model = MODELS[kind]
    batches = list(sampled(model, longest=64))
    assert len(batches) == 16
    per_tree = 2 if model.head.reads == "pairs" else 1
    assert sorted({forest_size(inputs)[0] for inputs in batches}) == [
        0,
        per_tree,
        3 * per_tree,
        32 * per_tree,
    ]
    for inputs in batches:
        assert list(inputs) == model.input_names
        assert {array.dtype for array in inputs.values()} == {np.dtype(np.int64)}
        check_inputs(model, inputs)
    again = list(sampled(model, longest=64))
    assert all(
        np.array_equal(a[name], b[name]) for a, b in zip(batches, again, strict=True) for name in a
    )
    eager_scores(model, batches[-1])


def check_inputs(model: TreeModel, inputs: dict[str, np.ndarray]) -> None:
    trees, nodes = forest_size(inputs)
    words = nodes
    if "transitions" in inputs:
        steps = transitions.validate(inputs["transitions"])
        assert nodes == len(steps)
        assert trees == nodes - 2 * steps.sum()
        words = (nodes + trees) // 2
    elif "lengths" in inputs:
        assert (inputs["lengths"] > 0).all()
        assert (trees, nodes) == (len(inputs["lengths"]), inputs["lengths"].sum())
    else:
        parents = inputs["parents"]
        assert (roots_of(parents) >= 0).all()
        assert (trees, nodes) == ((parents < 0).sum(), len(parents))
        has_parent = parents >= 0
        if model.arity:
            slots = inputs.get("slots", np.zeros_like(parents))
            assert ((slots >= 0) & (slots < model.arity)).all()
            edges = list(zip(parents[has_parent].tolist(), slots[has_parent].tolist(), strict=True))
            assert len(edges) == len(set(edges))
        if model.encoder.words_at_leaves:
            words = nodes - len(set(parents[has_parent].tolist()))
    assert len(inputs["token_ids"]) == words
    assert ((inputs["token_ids"] >= 0) & (inputs["token_ids"] < V)).all()
    for name, (low, high) in {"kinds": (1, 3), "constituents": (0, C - 1)}.items():
        if name in inputs:
            assert len(inputs[name]) == nodes
            assert nodes < 50 or (inputs[name].min(), inputs[name].max()) == (low, high)


def test_children_stand_in_all_slots_and_leave_some_empty() -> None:
    *_, last = sampled(MODELS["constituency, arity 3"], longest=7)
    edges = zip(last["parents"].tolist(), last["slots"].tolist(), strict=True)
    below: dict[int, set[int]] = {}
    for parent, slot in edges:
        below.setdefault(parent, set()).add(slot)
    del below[-1]
    assert {tuple(sorted(slots)) for slots in below.values()} == {
        (0,),
        (1,),
        (2,),
        (0, 1),
        (0, 2),
        (1, 2),
    }


def test_pieces_belong_to_words() -> None:
    inputs = join_inputs(
        sample_trees(make_model("wordpieces"), [transitions.left(5)] * 9, np.random.default_rng(0))
    )
    assert list(inputs) == ["piece_ids", "pieces_per_word", "transitions"]
    assert (len(inputs["pieces_per_word"]), len(inputs["piece_ids"])) == (
        45,
        inputs["pieces_per_word"].sum(),
    )
    assert inputs["pieces_per_word"].min() == 1 < inputs["pieces_per_word"].max()


def test_a_batch_is_its_trees_end_to_end() -> None:
    first = {
        "token_ids": np.array([5, 6, 7]),
        "parents": np.array([1, -1, 1]),
        "slots": np.array([0, 0, 1]),
    }
    second = {
        "token_ids": np.array([8, 9]),
        "parents": np.array([-1, 0]),
        "slots": np.array([0, 1]),
    }
    none = {name: np.zeros(0, np.int64) for name in first}
    joined = join_inputs([none, first, none, second, first])
    assert {name: array.tolist() for name, array in joined.items()} == {
        "token_ids": [5, 6, 7, 8, 9, 5, 6, 7],
        "parents": [1, -1, 1, -1, 3, 6, -1, 6],
        "slots": [0, 0, 1, 0, 1, 0, 0, 1],
    }
    assert forest_size(joined) == (3, 8)
    assert forest_size({"lengths": np.array([4, 1])}) == (2, 5)
    assert forest_size({"transitions": np.array([0, 0, 1, 0, 0, 0, 1, 1])}) == (2, 8)


@pytest.mark.parametrize("reads", ["nodes", "pairs"])
def test_a_parser_gets_sentences_with_and_without_trees(reads: Reads) -> None:
    model, per_tree = plain_spinn(PlainCell(2, inner=True), reads), 2 if reads == "pairs" else 1
    batches = list(sampled(model, longest=64))
    given, own = (
        [inputs for inputs in batches if makes_trees(inputs) == made] for made in (False, True)
    )
    assert (len(given), len(own)) == (16, 7)
    assert sorted({forest_size(inputs)[0] for inputs in given}) == [
        0,
        per_tree,
        3 * per_tree,
        32 * per_tree,
    ]
    for inputs in batches:
        assert list(inputs) == ["token_ids", "lengths", "transitions"]
        assert (inputs["lengths"] > 0).all()
        assert len(inputs["token_ids"]) == inputs["lengths"].sum()
        assert forest_size(inputs) == (len(inputs["lengths"]), (2 * inputs["lengths"] - 1).sum())
    for inputs in given:
        steps = (
            np.split(inputs["transitions"], np.cumsum(2 * inputs["lengths"] - 1)[:-1])
            if len(inputs["lengths"])
            else []
        )
        assert [
            transitions.spans_of(transitions.validate(tree))[-1, 1] for tree in steps
        ] == inputs["lengths"].tolist()
    assert all(len(inputs["transitions"]) == 0 for inputs in own)
    assert [inputs["lengths"].tolist() for inputs in own[:4]] == [
        [words] * per_tree for words in (1, 2, 7, 64)
    ]
    assert {1, 2, 200} < set(own[-1]["lengths"].tolist())


def test_trees_are_left_out() -> None:
    (tree,) = sample_trees(
        plain_spinn(PlainCell(2)), [transitions.left(3)], np.random.default_rng(0)
    )
    assert not makes_trees(tree)
    assert makes_trees(without_trees(tree))
    assert {name: array.tolist() for name, array in without_trees(tree).items()} == {
        "token_ids": tree["token_ids"].tolist(),
        "lengths": [3],
        "transitions": [],
    }
    assert len(tree["transitions"]) == 5
    none = {name: array[:0] for name, array in tree.items()}
    assert not makes_trees(none)
    assert not makes_trees({"token_ids": tree["token_ids"], "lengths": tree["lengths"]})
