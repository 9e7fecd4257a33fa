"""Files for GPUs, on the CPU: models of all kinds give what torch gives, and in a step nothing
crosses between the host and the GPU."""

import collections

import numpy as np
import onnx
import pytest
import torch
from core.configured import CHILD_SUM, LEXICALIZED, SPINN, build, config_of
from export_models import session_of
from registered_models import DISTANCES, OTHERS, parts_of, registered, registered_models

from thinstack.bundle.gpu_file import host_nodes
from thinstack.core import transitions as shapes
from thinstack.core.forest import join, without_trees
from thinstack.export.onnx import passes, placement
from thinstack.export.onnx.graph import walk
from thinstack.export.onnx.model import export_onnx
from thinstack.export.onnx.passes import STEP
from thinstack.export.samples import eager_scores, sample_trees

EXACT = 1e-5
DEEP = 60
STEPS = 4
"""What is unrolled here beside the first step: a file of as many as there are takes seconds."""
BATCHES = {
    "trees of several depths": [shapes.left(4), shapes.left(1), shapes.balanced(6)],
    "single words": [shapes.left(1)] * 3,
    "as deep as there are steps": [shapes.right(STEPS + 1)],
    "deeper": [shapes.right(STEPS + 2), shapes.left(1)],
    "much deeper": [shapes.left(2), shapes.right(DEEP)],
}
PAIRS = {"trees": "dependency", "relations": ["nsubj"], "head": {"name": "similarity.v1"}}
SIDES = {"top_down": {"name": "top_down_lstm.v1", "hidden_size": 4}, "readout": ["down", "up"]}
KINDS = {
    "n-ary": {},
    "any number of children": {"cell": CHILD_SUM},
    "two layers": {"encoder": {"layers": 2}},
    "both directions": {"cell": LEXICALIZED, "encoder": SIDES},
    "pairs of dependency trees": {"cell": {"name": "sdt_rnn.v1"}, **PAIRS},
    "a parser": {"parser": DISTANCES},
    "SPINN": {"cell": SPINN, "encoder": {"tracker": {"size": 5}}},
    "BERT": OTHERS["BERT, rows"],
}
USUAL = ["n-ary", "both directions"]
"""Kinds that are always tried; a job tries the others."""


def export(model, config, **options):
    return export_onnx(model, config, vocabulary_digest="", device="gpu", **options)


def furthest(file, model, trees=None):
    """The greatest difference from torch over these trees and, of a model that parses, its own."""
    session, worst = session_of(file), 0.0
    types = {each.name: each.type[len("tensor(") : -1] for each in session.get_inputs()}
    names = [each.name for each in session.get_outputs()]
    trees = trees or [tree for batch in BATCHES.values() for tree in batch]
    trees = trees * 2 if model.head.reads == "pairs" else trees
    given = join(sample_trees(model, trees, np.random.default_rng(0)))
    for forest in (given, without_trees(given)) if model.parses else (given,):
        feeds = {name: array.astype(types[name]) for name, array in forest.inputs(types).items()}
        found, wanted = session.run(names, feeds), eager_scores(model, forest)
        for name, array in zip(names, found, strict=True):
            assert array.shape == wanted[name].shape
            worst = max(worst, float(np.abs(array - wanted[name]).max()))
    return worst


def graphs_of(graph):
    """A graph and all that stand in it, with how many loops each stands in."""
    waiting = [(graph, 0)]
    while waiting:
        inner, loops = waiting.pop()
        yield inner, loops
        for node in inner.node:
            deeper = loops + (node.op_type == "Loop")
            waiting += [(each.g, deeper) for each in node.attribute if each.HasField("g")]


@pytest.fixture(
    scope="module", params=KINDS, ids=lambda name: name if name in USUAL else f"job, {name}"
)
def kind(request):
    return made(request.param)


def model_of(name):
    torch.manual_seed(0)
    return build(entries=60, **KINDS[name]).eval(), config_of(**KINDS[name])


def made(name):
    """The name of a model, the model, its configuration, and its file for GPUs of few steps."""
    model, config = model_of(name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passes, "MOST_UNROLLED", STEPS)
        return name, model, config, export(model, config)


@pytest.mark.parametrize("batch", BATCHES)
def test_a_file_for_gpus_gives_what_torch_gives(kind, batch):
    _, model, _, file = kind
    assert furthest(file, model, BATCHES[batch]) <= EXACT


def test_only_the_deepest_levels_are_a_loop(kind):
    name, _, _, file = kind
    steps = [graph for graph, _ in graphs_of(onnx.load_from_string(file).graph)]
    counted = collections.Counter(each.name for each in steps if each.name.startswith(STEP))
    if name == "SPINN":  # its loop asks at each step what the tracker chooses
        assert not counted
        assert any(loops for _, loops in graphs_of(onnx.load_from_string(file).graph))
        return
    passes = {"two layers": 2, "both directions": 2}.get(name, 1)
    assert sum(counted.values()) == passes * (STEPS + 1)
    inside = {graph.name for graph, _ in graphs_of(onnx.load_from_string(file).graph)}
    assert inside >= {f"{STEP}{number}" for number in range(STEPS + 1)}


@pytest.mark.parametrize(
    ("name", "steps"), [("n-ary", passes.MOST_UNROLLED), ("any number of children", STEPS)]
)
def test_a_model_of_words_scores_only_roots_where_only_they_are_asked_for(name, steps, monkeypatch):
    """Also where as many steps are unrolled as a bundle has."""
    monkeypatch.setattr(passes, "MOST_UNROLLED", steps)
    model, config = model_of(name)
    file = export(model, config, outputs="roots")
    assert [each.name for each in session_of(file).get_outputs()] == ["root_scores"]
    deep = [shapes.right(steps + 1), shapes.left(1), shapes.right(steps + 2)]
    assert furthest(file, model) <= EXACT
    assert furthest(file, model, deep) <= EXACT


def host_of(file):
    """The nodes of a file, and the names of those that run on the host."""
    graph, named = onnx.load_from_string(file).graph, {*host_nodes(file).split("\n")}
    nodes = list(walk(graph.node))
    assert len({node.name for node in nodes}) == len(nodes)
    assert named <= {node.name for node in nodes}
    return nodes, named


def crossed(file):
    """The values that nodes of the GPU read as data and a node of the host makes, by the graph in
    which they are read. What only tells a size, and what a kernel wants on the host, is none; nor
    are states of a loop."""
    model = onnx.load_from_string(file)
    nodes, named = host_of(file)
    constants = {node.name for node in nodes if node.op_type in ("Constant", "ConstantOfShape")}
    host = [node for node in nodes if node.name in named and node.op_type != "Loop"]
    made = {out for node in host for out in node.output}
    inputs = {each.name for each in model.graph.input}
    for graph, loops in graphs_of(model.graph):
        for node in graph.node:
            if node.name in named or node.op_type in ("If", "Loop", "Shape", "Size"):
                continue
            left = placement.ON_HOST.get(node.op_type, ())
            for place, name in enumerate(node.input):
                if place not in left and name in (made | inputs) - constants:
                    yield graph.name, loops, node, name


def test_nothing_crosses_in_a_step(kind):
    name, _, _, file = kind
    inside = [found for found in crossed(file) if found[0].startswith(STEP)]
    assert inside == []
    if name != "SPINN":
        # But in the loop beyond, for which a GPU waits anyway, and before the first step.
        assert any(loops for _, loops, _, _ in crossed(file))
        assert any(graph == "thinstack" for graph, *_ in crossed(file))


def test_a_file_for_gpus_is_valid_and_names_the_nodes_of_the_host(kind):
    *_, file = kind
    model = onnx.load_from_string(file)
    onnx.checker.check_model(model, full_check=True)
    nodes, named = host_of(file)
    kinds = collections.defaultdict(set)
    for node in nodes:
        kinds[node.name in named].add(node.op_type)
    assert len({node.name for node in nodes}) == len(nodes)
    assert "Loop" in kinds[True]
    assert kinds[True].isdisjoint({"Gemm", "MatMul", "LSTM", "Tanh", "Sigmoid", "Softmax"})


def test_onnxruntime_takes_so_many_names(monkeypatch):
    monkeypatch.setattr(placement, "MOST_NAMES", 50)
    _, model, _, file = made("n-ary")
    names = host_nodes(file)
    assert 40 < len(f"{names}\n") <= 50
    assert furthest(file, model, BATCHES["trees of several depths"]) <= EXACT


def test_every_registered_part_answers_as_torch_does():
    differences, parts = {}, set()
    for name, model, config in registered_models():
        differences[name] = furthest(export(model, config), model)
        parts |= parts_of(config)
    assert {name: found for name, found in differences.items() if not found <= EXACT} == {}
    assert registered("cell", "head", "embedding", "encoder", "parser") <= parts
