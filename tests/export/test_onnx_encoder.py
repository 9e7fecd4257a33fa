"""Every kind of encoder, of trees and of head as ONNX and TorchScript, against the model and a
recursion over its equations."""

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


def shared():
    cell = every_node(0)
    return Layer(cell, cell)


def parsed(*layers, **options):
    """Of dependency trees or sentences."""
    return TreeEncoder(layers, words_at_leaves=False, **options)


KINDS = {
    "bottom-up": (TreeEncoder([Layer(PlainCell(2))]), "transitions", "nodes"),
    "bottom-up, any arity": (TreeEncoder([Layer(PlainCell(0))]), "transitions", "roots"),
    "constituency": (TreeEncoder([Layer(PlainCell(3, kinds=3))]), "parents", "nodes"),
    "dependency with relations": (parsed(Layer(every_node(0, kinds=3))), "parents", "nodes"),
    "roots only": (TreeEncoder([Layer(PlainCell(3))]), "parents", "pairs"),
    "roots only, any arity": (parsed(Layer(every_node(0, kinds=3))), "parents", "pairs"),
    "bidirectional": (
        TreeEncoder([Layer(PlainCell(2, words=True), down(1, 2))]),
        "transitions",
        "roots",
    ),
    "bidirectional, any arity": (
        TreeEncoder([Layer(PlainCell(2, words=True), down(0, 2))]),
        "transitions",
        "pairs",
    ),
    "bidirectional constituency": (
        TreeEncoder([Layer(PlainCell(3, words=True), down(1, 3))]),
        "parents",
        "nodes",
    ),
    "shared": (parsed(shared(), readout=("down", "leaves")), "parents", "nodes"),
    "deep": (TreeEncoder([Layer(PlainCell(2)), Layer(every_node(2, H))]), "transitions", "nodes"),
    "deep, both read both": (
        parsed(
            Layer(every_node(2, kinds=3), every_node(1, kinds=2)),
            Layer(every_node(2, BIDIRECTIONAL, kinds=3), every_node(1, BIDIRECTIONAL, kinds=2)),
            readout=("down", "up"),
        ),
        "parents",
        "roots",
    ),
    "deep BiLSTM": (
        parsed(
            Layer(every_node(1), every_node(1)),
            Layer(every_node(1, H), every_node(1, H)),
            separate=True,
            readout=("up", "leaves"),
        ),
        "lengths",
        "pairs",
    ),
    "deep, over head words": (
        TreeEncoder(
            [
                Layer(PlainCell(2, words=True), down(1, 2)),
                Layer(every_node(2, BIDIRECTIONAL, words=True), down(1, 2)),
            ]
        ),
        "transitions",
        "candidates",
    ),
    "candidates": (TreeEncoder([Layer(PlainCell(2, words=True))]), "transitions", "candidates"),
    "candidates, no head words": (TreeEncoder([Layer(PlainCell(0))]), "transitions", "candidates"),
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
    ("batch", "seed"), [("empty", 0), *product(("one word", "mixed"), range(3))]
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
    inputs = inputs_of(exported.model, [2, 3]) | {"lengths": np.array([2, 2**31 - 1])}
    with pytest.raises(Exception, match="bounds"):
        exported.runs()[0](inputs)
