"""Every kind of encoder, trees and head as ONNX and TorchScript, against a recursion."""

import copy
from itertools import product

import numpy as np
import pytest
from export_models import Exported, H, X, close, eager_scores, inputs_of, make_config
from oracle import slow_scores
from plain_parts import PlainCell, W, plain_export, plain_model

from thinstack.core.forest import Forest
from thinstack.core.model.tree_encoder import Layer, TreeEncoder
from thinstack.export import torchscript
from thinstack.export.torchscript import export_torchscript

TREES = {"transitions": "binary", "lengths": "sequence"}
BIDIRECTIONAL = 2 * H


def every_node(arity, size=X, kinds=0, *, words=False):
    """A cell for trees with an input at every node."""
    return PlainCell(arity, size=size, inner=True, kinds=kinds, words=words)


def down(arity, kinds):
    """A cell that goes down over head words."""
    return PlainCell(arity, size=W, inner=True, kinds=kinds)


def binary(*layers, reads="nodes"):
    """Over trees of transitions, with words at their leaves."""
    return TreeEncoder(layers), "transitions", reads


def constituency(*layers, reads="nodes"):
    return TreeEncoder(layers), "parents", reads


def dependency(*layers, reads="nodes", **options):
    return TreeEncoder(layers, words_at_leaves=False, **options), "parents", reads


def sequence(*layers, reads, **options):
    return TreeEncoder(layers, words_at_leaves=False, **options), "lengths", reads


BOTH = {"readout": ("down", "up")}
RELATIONS = Layer(every_node(0, kinds=3))
HEADS, SHARED = Layer(PlainCell(2, words=True)), every_node(0)
FIRST = Layer(every_node(2, kinds=3), every_node(1, kinds=2))
NEXT = Layer(every_node(2, BIDIRECTIONAL, kinds=3), every_node(1, BIDIRECTIONAL, kinds=2))
LSTMS = Layer(every_node(1), every_node(1)), Layer(every_node(1, H), every_node(1, H))
OVER_HEADS = Layer(every_node(2, BIDIRECTIONAL, words=True), down(1, 2))
KINDS = {
    "bottom-up": binary(Layer(PlainCell(2))),
    "bottom-up, any arity": binary(Layer(PlainCell(0)), reads="roots"),
    "constituency": constituency(Layer(PlainCell(3, kinds=3))),
    "dependency with relations": dependency(RELATIONS),
    "roots only": constituency(Layer(PlainCell(3)), reads="pairs"),
    "roots only, any arity": dependency(RELATIONS, reads="pairs"),
    "bidirectional": binary(Layer(PlainCell(2, words=True), down(1, 2)), reads="roots"),
    "bidirectional, any arity": binary(Layer(PlainCell(2, words=True), down(0, 2)), reads="pairs"),
    "bidirectional constituency": constituency(Layer(PlainCell(3, words=True), down(1, 3))),
    "shared": dependency(Layer(SHARED, SHARED), readout=("down", "leaves")),
    "deep": binary(Layer(PlainCell(2)), Layer(every_node(2, H))),
    "deep, both read both": dependency(FIRST, NEXT, reads="roots", **BOTH),
    "deep BiLSTM": sequence(*LSTMS, reads="pairs", separate=True, readout=("up", "leaves")),
    "deep, over head words": binary(
        Layer(PlainCell(2, words=True), down(1, 2)), OVER_HEADS, reads="candidates"
    ),
    "candidates": binary(HEADS, reads="candidates"),
    "candidates, no head words": binary(Layer(PlainCell(0)), reads="candidates"),
}
BATCHES = {"empty": [], "one word": [1, 1], "mixed": [7, 1, 2, 4, 12, 1]}
"""Words of an even number of trees."""


@pytest.fixture(scope="module", params=KINDS)
def plain(request):
    return export(request.param)


def export(kind, quantize="none"):
    encoder, structure, reads = KINDS[kind]
    model = plain_model(encoder, structure, reads)
    trees = TREES.get(structure, "constituency" if encoder.words_at_leaves else "dependency")
    config = make_config("words", trees=trees)
    return Exported(model, config, quantize, plain_export(model, config, quantize=quantize))


@pytest.mark.parametrize(
    ("batch", "seed"), [("empty", 0), *product(("one word", "mixed"), range(2))]
)
def test_all_give_what_a_recursion_over_the_equations_gives(plain, batch, seed):
    inputs = inputs_of(plain.model, BATCHES[batch], seed)
    expected = found = eager_scores(plain.model, inputs)
    assert list(found) == plain.model.output_names
    if batch != "empty":
        expected = slow_scores(copy.deepcopy(plain.model).double(), inputs)
    close(found, expected)
    for run in plain.runs()[: 1 if seed else 2]:
        close(run(inputs), expected)


def test_torchscript_gives_what_the_model_gives(plain, monkeypatch):
    forests = [Forest(**inputs_of(plain.model, sizes)) for sizes in BATCHES.values()]
    monkeypatch.setattr(torchscript, "sampled", lambda model: forests)
    report = export_torchscript(plain.model)[1]
    assert report.cases == len(BATCHES)
    assert report.max_error < 1e-5


def test_lengths_beyond_the_words_are_an_error_and_not_that_much_memory():
    exported = export("deep BiLSTM")
    inputs = inputs_of(exported.model, [2]) | {"lengths": np.array([2, 2**31 - 1])}
    with pytest.raises(Exception, match="bounds"):
        exported.runs()[0](inputs)
