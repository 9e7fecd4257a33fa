"""Models of every kind of trees and of task head against their definitions, in float64."""

from functools import cache

import numpy as np
import pytest
import torch
from core.configured import CHILD_SUM, LABELS, LEXICALIZED, RANKER, H, X, far_from_zero
from oracle import encode, forest_of, slow_scores

from thinstack.core.forest import join
from thinstack.export.samples import random_tree, sample_trees

ARITY_3, CHAIN = {"options": {"arity": 3}}, {"options": {"arity": 1}}
RELATIONS = {"cell": {"name": "sdt_rnn.v1"}, "trees": "dependency", "relations": ["a", "b"]}
CONSTITUENTS = {"cell": CHILD_SUM, "trees": "constituency"}
HEADS = {"cell": CHILD_SUM, "trees": "dependency"}
PIECES = {"embedding": {"kind": "wordpieces", "size": X}}
ROOTS = {"head": {"name": "root_classifier.v1", "options": {"hidden": 6}}}
OF_PAIRS = {"layers": 1, "width": 6, "batch_norm": False}
PAIRS = {"head": {"name": "entailment.v1", "options": OF_PAIRS}}
RANKED, WITH_HEADS = {"head": RANKER}, {"cell": LEXICALIZED}
TOP_DOWN = {"name": "top_down_lstm.v1", "hidden_size": 2}
CHILD_SUM_DOWN = {"name": "child_sum_lstm.v1", "hidden_size": 5}
SHARED = {"layers": 2, "top_down": "shared", "readout": ["down"]}
SEPARATE = {"layers": 3, "top_down": CHILD_SUM_DOWN, "separate": True}
ALL_PARTS = {"top_down": TOP_DOWN, "readout": ["leaves", "down", "up"]}
BOTH_WAYS = {"top_down": TOP_DOWN, "readout": ["up", "down"]}
CASES = {
    "binary": ("transitions", {}),
    "any_binary": ("transitions", {"cell": CHILD_SUM}),
    "pieces": ("transitions", PIECES),
    "any": ("parents", CONSTITUENTS),
    "slots": ("parents slots", CONSTITUENTS | {"cell": ARITY_3}),
    "heads": ("parents", HEADS),
    "head_pieces": ("parents", HEADS | PIECES),
    "head_slots": ("parents slots", HEADS | {"cell": ARITY_3}),
    "head_kinds": ("parents kinds", RELATIONS),
    "sentences": ("lengths", {"cell": CHAIN, "trees": "sequence"}),
    "roots": ("parents", HEADS | ROOTS),
    "layers": ("transitions", {"cell": CHILD_SUM, "encoder": {"layers": 3}}),
    "shared": ("parents", HEADS | {"encoder": SHARED}),
    "separate": ("parents", HEADS | {"encoder": SEPARATE}),
    "readouts": ("transitions", WITH_HEADS | {"encoder": ALL_PARTS}),
    "pairs": ("transitions", PAIRS),
    "head_pairs": ("parents", HEADS | PAIRS),
    "candidates": ("transitions constituents", RANKED),
    "lexicalized_candidates": ("transitions constituents", RANKED | WITH_HEADS),
    "bidirectional_candidates": (
        "transitions constituents",
        RANKED | WITH_HEADS | {"encoder": BOTH_WAYS},
    ),
}
"""The names of the inputs beside those of words, and what is configured."""


@cache
def model_of(name):
    return far_from_zero(**CASES[name][1])


def inputs_of(name, dtype=torch.int64):
    """Four trees, of a model of pairs eight."""
    random, model = np.random.default_rng(3), model_of(name)
    trees = [random_tree(words, random) for words in (3, 1, 5, 2)]
    arrays = join(sample_trees(model, trees, random)).inputs(model.input_names)
    return {key: torch.tensor(values, dtype=dtype) for key, values in arrays.items()}


def equal(found, expected, model):
    assert list(found) == model.output_names == list(expected)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", CASES)
def test_scores_and_logits(name):
    model, inputs = model_of(name), inputs_of(name)
    kind = ["piece_ids", "pieces_per_word"] if "pieces" in name else ["token_ids"]
    assert model.input_names == [*kind, *CASES[name][0].split()]
    arrays = {key: values.numpy() for key, values in inputs.items()}
    expected = {key: torch.from_numpy(rows) for key, rows in slow_scores(model, arrays).items()}
    for dtype in (torch.int32, torch.int64):
        equal(model(inputs_of(name, dtype)), expected, model)
    forest = forest_of(arrays)
    outputs, _ = encode(model.encoder, forest, model.embed(inputs))
    roots = outputs[torch.from_numpy(forest.parents) < 0]
    if model.head.reads == "candidates":
        logits = expected["tree_scores"][:, 0]
    else:
        pairs = roots.reshape(len(roots) // 2, -1)
        logits = model.head({"nodes": outputs, "roots": roots, "pairs": pairs}[model.head.reads])
    torch.testing.assert_close(model.joint(inputs).logits, logits, rtol=0, atol=1e-12)


ALIKE = ("any_binary", "heads", "head_pieces", "head_slots", "layers", "shared", "head_pairs")
"""Of which TorchScript sees nothing new."""


@pytest.mark.filterwarnings("ignore:`torch.jit.script` is:DeprecationWarning")
@pytest.mark.parametrize("name", CASES)
def test_scripted_and_no_trees(name):
    model, some = model_of(name), inputs_of(name)
    none = {input_name: torch.zeros(0, dtype=torch.int32) for input_name in model.input_names}
    with torch.no_grad():
        scripted = model if name in ALIKE else torch.jit.script(model)
        for inputs in (some, inputs_of(name, torch.int32), none, some):
            equal(scripted(inputs), model(inputs), model)
        empty = model(none)
    width = {"sentence_vectors": H, "tree_scores": 1}
    assert {key: tuple(value.shape) for key, value in empty.items()} == {
        key: (0, width.get(key, len(LABELS))) for key in model.output_names
    }
    assert len(model.joint(none).logits) == 0


TWO_WORDS = {"token_ids": [1, 2], "parents": [2, 2, -1]}
THREE_WORDS = {"token_ids": [1, 2, 3]}


@pytest.mark.parametrize(
    ("name", "inputs", "message"),
    [
        ("heads", {"token_ids": [0, 0], "parents": [1, 0]}, "cycle"),
        ("slots", {**TWO_WORDS, "slots": [0, 3, 1]}, "slots must be between 0 and 2"),
        ("slots", {**TWO_WORDS, "slots": [1, 1, 0]}, "two children"),
        ("head_kinds", {**THREE_WORDS, "parents": [2, 2, -1], "kinds": [1, 4, 1]}, "1 and 3"),
        ("pairs", {"token_ids": [1], "transitions": [0]}, "found 1"),
        ("sentences", {**THREE_WORDS, "lengths": [2, 0, 1]}, "at least 1"),
        ("binary", {**THREE_WORDS, "transitions": [0, 0, 1]}, "2 words, .* found 3"),
        ("heads", {**THREE_WORDS, "parents": [1, -1]}, "2 words, .* found 3"),
        ("sentences", {**THREE_WORDS, "lengths": [2]}, "2 words, .* found 3"),
    ],
)
def test_inputs_that_are_refused(name, inputs, message):
    with pytest.raises(ValueError, match=message):
        model_of(name)({key: torch.tensor(values) for key, values in inputs.items()})
