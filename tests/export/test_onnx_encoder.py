"""Every kind of encoder, of trees and of head as ONNX and TorchScript, against the model and a
recursion over its equations."""

import copy

import numpy as np
import pytest
from export_models import (
    Arrays,
    C,
    Exported,
    H,
    V,
    X,
    close,
    eager_scores,
    make_config,
    random_parents,
    random_tree,
)
from oracle import forest_of, slow_scores
from plain_parts import PlainCell, W, plain_export, plain_model

from thinstack.core.encoder import Structure
from thinstack.core.forest import Forest
from thinstack.core.head import Reads
from thinstack.export import torchscript
from thinstack.export.quantize import dequantised
from thinstack.export.torchscript import export_torchscript
from thinstack.models import Model
from thinstack.models.tree_encoder import Layer, TreeEncoder

TREES = {"transitions": "binary", "lengths": "sequence"}
BIDIRECTIONAL = 2 * H


def every_node(arity: int, size: int = X, kinds: int = 0, *, words: bool = False) -> PlainCell:
    """A cell for trees with an input at every node."""
    return PlainCell(arity, size=size, inner=True, kinds=kinds, words=words)


def down(arity: int, kinds: int) -> PlainCell:
    """A cell that goes down over head words."""
    return PlainCell(arity, size=W, inner=True, kinds=kinds)


def shared() -> Layer:
    cell = every_node(0)
    return Layer(cell, cell)


def parsed(*layers: Layer, **options: object) -> TreeEncoder:
    """Of dependency trees or sentences."""
    return TreeEncoder(layers, words_at_leaves=False, **options)


KINDS: dict[str, tuple[TreeEncoder, Structure, Reads]] = {
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
BATCHES = ("empty", "one node", "mixed")


def inputs_of(model: Model, batch: str, seed: int = 0) -> Arrays:
    """Inputs of an even number of trees: none, two of one node, or many of several."""
    random = np.random.default_rng(seed)
    inputs: Arrays = {}
    if model.encoder.structure == "parents":
        nodes = {"empty": 0, "one node": 2, "mixed": 17}[batch]
        parents, slots = random_parents(nodes, 4, model.encoder.arity, random)
        inputs = {"parents": parents, "slots": slots, "kinds": random.integers(1, 4, nodes)}
    sizes = {"empty": [], "one node": [1, 1], "mixed": [7, 1, 2, 4, 12, 1]}[batch]
    if model.encoder.structure == "transitions":
        steps = [np.zeros(0, np.int64), *(random_tree(size, seed + size) for size in sizes)]
        inputs = {"transitions": np.concatenate(steps)}
    if model.encoder.structure == "lengths":
        inputs = {"lengths": np.array(sizes, np.int64)}
    forest = forest_of(inputs)
    inputs["constituents"] = random.integers(0, C, len(forest.parents))
    words = int(forest.leaves.sum()) if model.encoder.words_at_leaves else len(forest.parents)
    inputs["token_ids"] = random.integers(0, V, words)
    return {name: inputs[name] for name in model.input_names}


@pytest.fixture(scope="module", params=KINDS)
def plain(request: pytest.FixtureRequest) -> Exported:
    return export(request.param)


def export(kind: str, quantize: str = "none") -> Exported:
    encoder, structure, reads = KINDS[kind]
    model = plain_model(encoder, structure, reads)
    trees = TREES.get(structure, "constituency" if encoder.words_at_leaves else "dependency")
    config = make_config("words", trees=trees)
    return Exported(kind, model, config, quantize, plain_export(model, config, quantize=quantize))


@pytest.mark.parametrize("batch", BATCHES)
def test_both_runtimes_give_what_the_model_gives(plain: Exported, batch: str) -> None:
    inputs = inputs_of(plain.model, batch)
    expected = eager_scores(plain.model, inputs)
    assert list(expected) == plain.model.output_names
    for run in plain.runs():
        close(run(inputs), expected)


@pytest.mark.parametrize("batch", BATCHES[1:])
@pytest.mark.parametrize("seed", range(3))
def test_onnx_and_the_model_give_what_a_recursion_over_the_equations_gives(
    plain: Exported, batch: str, seed: int
) -> None:
    inputs = inputs_of(plain.model, batch, seed)
    expected = slow_scores(copy.deepcopy(plain.model).double(), inputs)
    close(eager_scores(plain.model, inputs), expected)
    close(plain.runs()[0](inputs), expected)


def test_torchscript_gives_what_the_model_gives(
    plain: Exported, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        torchscript,
        "sampled",
        lambda model: (Forest(**inputs_of(model, batch)) for batch in BATCHES),
    )
    report = export_torchscript(plain.model)[1]
    assert report.cases == len(BATCHES)
    assert report.max_error < 1e-5


@pytest.mark.parametrize("quantize", ["fp16", "int8-tables"])
@pytest.mark.parametrize("kind", ["bidirectional", "deep BiLSTM"])
def test_weights_stored_small(kind: str, quantize: str) -> None:
    small = export(kind, quantize)
    inputs = inputs_of(small.model, "mixed")
    expected = eager_scores(dequantised(small.model, quantize), inputs)
    assert any(
        np.abs(expected[name] - values).max() > 1e-4
        for name, values in eager_scores(small.model, inputs).items()
    )
    for run in small.runs():
        close(run(inputs), expected)
