"""Models with a tracking LSTM as ONNX, over given trees and their own, against a recursion."""

import copy

import numpy as np
import onnx
import pytest
import torch
from export_models import (
    C,
    Exported,
    H,
    V,
    close,
    eager_scores,
    inputs_of,
    make_config,
    without_trees,
)
from oracle import slow_sentences
from plain_parts import PlainCell, plain_export, plain_spinn

from thinstack.core import transitions as shapes
from thinstack.core.forest import Forest
from thinstack.errors import ExportError
from thinstack.export.onnx import verify as onnx_verify
from thinstack.export.onnx.verify import verify_onnx
from thinstack.export.quantize import dequantised
from thinstack.plugins.encoders.spinn import onnx as onnx_spinn
from thinstack.plugins.encoders.spinn import onnx_tracker as onnx_tracker
from thinstack.plugins.encoders.spinn.onnx_tracker import FREE, REDUCE

KINDS = {
    "parser": lambda: plain_spinn(PlainCell(2, inner=True)),
    "parser, any arity": lambda: plain_spinn(
        PlainCell(0, inner=True), "roots", lookahead=3, seed=1
    ),
    "parser that does not feed": lambda: plain_spinn(PlainCell(2), "pairs", lookahead=2, seed=1),
    "parser of pieces, any arity": lambda: plain_spinn(PlainCell(0), pieces=True),
    "no parser": lambda: plain_spinn(PlainCell(2, inner=True), parses=False, lookahead=2),
    "no parser, any arity": lambda: plain_spinn(PlainCell(0), "pairs", parses=False, pieces=True),
}
PARSERS = [kind for kind in KINDS if kind.startswith("parser")]
BATCHES = {
    "empty": [],
    "one word": [1, 1],
    "two words": [2, 2],
    "mixed": [7, 1, 2, 4, 12, 1],
    "uneven": [1, 40, 2, 1, 90, 31],
}


def export(model, **options):
    tracker = model.encoder.tracker
    settings = {"size": tracker.size, "lookahead": tracker.lookahead, "parses": tracker.parses}
    settings["feeds"] = model.encoder.feeds
    kind = "wordpieces" if "piece_ids" in model.input_names else "words"
    source = "self" if tracker.parses else "left"
    config = make_config(kind, encoder={"tracker": settings}, tree_source=source)
    file = plain_export(model, config, **options)
    return Exported(model, config, options.get("quantize", "none"), file)


@pytest.fixture(scope="module")
def files():
    return {kind: export(make()) for kind, make in KINDS.items()}


@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize(
    ("kind", "own"), [*((kind, False) for kind in KINDS), *((kind, True) for kind in PARSERS)]
)
def test_trees_given_and_its_own(files, kind, own, batch):
    exported, sizes = files[kind], BATCHES[batch]
    inputs = inputs_of(exported.model, sizes)
    inputs = without_trees(inputs) if own else inputs
    lengths = np.repeat(sizes, 2 if exported.model.head.reads == "pairs" else 1).astype(int)
    expected = slow_sentences(copy.deepcopy(exported.model).double(), inputs, lengths.tolist())
    assert list(expected) == exported.model.output_names
    if own and batch == "uneven":  # what is compared must not all look alike
        steps = expected["parse"]
        assert 10 < (np.diff(steps) != 0).sum() < len(steps) - 10
    for run in exported.runs()[: 1 if batch == "uneven" and (kind, own) != ("parser", True) else 2]:
        close(run(inputs), expected)


def test_where_both_score_alike_words_are_shifted():
    model = plain_spinn(PlainCell(2, inner=True))
    with torch.no_grad():
        model.encoder.tracker.w_transition.zero_()
        model.encoder.tracker.b_transition.fill_(0.3)
    for run in export(model).runs():
        found = run(without_trees(inputs_of(model, [5, 1, 3])))["parse"]
        assert found.tolist() == [step for words in (5, 1, 3) for step in shapes.right(words)]


@pytest.mark.parametrize("quantize", ["fp16", "int8-tables"])
@pytest.mark.parametrize("index_type", ["int32", "int64"])
def test_small_weights_and_types_of_numbers(quantize, index_type):
    model = plain_spinn(PlainCell(2, inner=True), pieces=quantize == "fp16")
    small = export(model, quantize=quantize, index_type=index_type)
    inputs = without_trees(inputs_of(model, BATCHES["mixed"]))
    session = small.session()
    declared = [*session.get_inputs(), session.get_outputs()[-1]]
    assert {value.type for value in declared} == {f"tensor({index_type})"}
    for run in small.runs():
        found = run(inputs)
        over_same_trees = inputs | {"transitions": found["parse"].astype(np.int64)}
        assert found["parse"].dtype == index_type
        close(found, eager_scores(dequantised(model, quantize), over_same_trees))
        plain = eager_scores(model, over_same_trees)["node_scores"]
        assert np.abs(found["node_scores"] - plain).max() > 1e-4
    weights = [w for w in small.proto().graph.initializer if len(w.dims) > 1]
    types = {tuple(weight.dims): weight.data_type for weight in weights}
    del types[V, model.embedding.size]
    assert {shape for shape, kind in types.items() if kind != onnx.TensorProto.FLOAT16} <= {(V, 1)}


def test_inputs_and_outputs(files):
    parser, given = files["parser"].session(), files["no parser"].session()
    needed = [("token_ids", ["L"]), ("lengths", ["B"]), ("transitions", ["given"])]
    assert [(value.name, value.shape) for value in parser.get_inputs()] == needed
    assert not parser.get_overridable_initializers()  # runtimes disagree about them
    found = [(value.name, value.shape, value.type) for value in parser.get_outputs()]
    scores = [
        ("node_scores", ["N", C], "tensor(float)"),
        ("root_scores", ["B", C], "tensor(float)"),
    ]
    assert found == [*scores, ("parse", ["N"], "tensor(int32)")]
    assert [value.name for value in given.get_inputs()] == ["token_ids", "transitions"]
    assert [(value.name, value.shape, value.type) for value in given.get_outputs()] == scores
    pairs = files["parser that does not feed"].session().get_outputs()
    assert [(value.name, value.shape) for value in pairs[:2]] == [
        ("pair_scores", ["B/2", C]),
        ("sentence_vectors", ["B", H]),
    ]


def swap_stack(patch):
    right = onnx_spinn._queues

    def swapped(table):
        places, queues = right(table)
        return places.op("Gather", [1, 0], axis=1), queues

    patch.setattr(onnx_spinn, "_queues", swapped)


def reduce_one(patch):
    table = onnx_tracker._possible()
    table[1, 2, FREE, REDUCE] = 0
    patch.setattr(onnx_tracker, "_possible", lambda: table)


def ignore_the_given(patch):
    right = onnx_spinn.timetable

    def without(lengths, given, words):
        return right(lengths, given[:0], words)

    patch.setattr(onnx_spinn, "timetable", without)


@pytest.mark.parametrize(
    ("fault", "given", "message"),
    [
        (swap_stack, True, "scores differ"),
        (ignore_the_given, True, "changes its input trees"),
        (swap_stack, False, "less than the best one"),
        (reduce_one, False, r"cannot parse sentence \d+: "),
    ],
)
def test_verification_finds_a_wrong_graph(fault, given, message, monkeypatch):
    model = plain_spinn(PlainCell(2, inner=True))
    with monkeypatch.context() as patch:
        fault(patch)
        wrong = export(model)

    several = inputs_of(model, [6, 2, 3, 20])
    found = inputs_of(model, [1]), several if given else without_trees(several)
    few = [Forest(sizes=2 * arrays["lengths"] - 1, **arrays) for arrays in found]
    monkeypatch.setattr(onnx_verify, "sampled", lambda model, **_: few)
    right = verify_onnx(export(model).file, model)
    assert right.runtimes[0].nodes == 1 + 11 + 3 + 5 + 39
    with pytest.raises(ExportError, match=message):
        verify_onnx(wrong.file, model)
