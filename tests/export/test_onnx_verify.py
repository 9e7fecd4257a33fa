"""Verification passes for faithful files, those of roots alone too, and for no others."""

import dataclasses
import json
from functools import partial
from types import SimpleNamespace

import numpy as np
import onnx
import pytest
import torch
from export_models import (
    C,
    ChildSum,
    Exported,
    V,
    arrays_of,
    make_config,
    make_model,
    randomised,
    stored,
)
from onnx import numpy_helper
from torch import Tensor

from thinstack.core import transitions as shapes
from thinstack.core.forest import Forest, join, without_trees
from thinstack.errors import BundleError, ExportError
from thinstack.export.onnx import verify as onnx_verify
from thinstack.export.onnx.model import export_onnx
from thinstack.export.onnx.verify import export_verified_onnx, verify_onnx
from thinstack.export.quantize import dequantised
from thinstack.export.samples import eager_scores, random_tree, sample_trees
from thinstack.plugins.build import build_model

BRANCH = np.array([0, 0, 1])


def as_json(report):
    return json.loads(json.dumps(dataclasses.asdict(report)))


# No tree, one word, 2, 7 and 64 words in four shapes each, batches of 3 and 32; 512 words for the
# fast runtime. Of pairs, each tree has another beside it; for a parser there are sentences of each
# of the sizes as well, and 6 of 1 to 200 words, whose trees it makes.
PLAIN, PAIRS = [(20, 52), (16, 48)], [(20, 2 * 52), (16, 2 * 48)]
PARSED = [(20 + 8, 52 + 1 + 4 + 3 + 32 + 6), (16 + 7, 48 + 1 + 3 + 3 + 32 + 6)]


COUNTS = {"words": PLAIN, "pieces": PLAIN, "child_sum": PLAIN, "pairs": PAIRS, "parser": PARSED}


@pytest.mark.parametrize(("fixture", "counts"), COUNTS.items())
def test_report(fixture, counts, request):
    exported = request.getfixturevalue(fixture)
    report = verify_onnx(exported.file, exported.model)
    assert [runtime.runtime for runtime in report.runtimes] == ["onnxruntime", "onnx.reference"]
    assert [(runtime.cases, runtime.trees) for runtime in report.runtimes] == counts
    for runtime in report.runtimes:
        assert 0 <= runtime.mean_error <= runtime.max_error < 1e-5
    assert report.runtimes[0].nodes > report.runtimes[1].nodes > 4 * (3 + 13 + 127)
    assert report.neighbour_error < 1e-6
    assert (report.opset, report.ir_version, report.provider) == (18, 8, "CPUExecutionProvider")
    assert {"Loop", "Gather"} <= set(report.operators)
    assert report.quantization == exported.quantize
    rounded = exported.quantize != "none"
    assert (report.max_deviation > 0) == (report.mean_deviation > 0) == rounded
    assert report.mean_deviation <= report.max_deviation < 0.1
    assert report.development == ()
    assert as_json(report)["runtimes"][0]["max_error"] == report.runtimes[0].max_error


class Exponential(ChildSum):
    """A cell that needs an operator that no other does."""

    def leaf(self, inputs: Tensor) -> list[Tensor]:
        return [torch.exp(inputs @ self.w @ self.u)]


def test_an_export_that_needs_another_operator_fails_and_names_it():
    model, config = make_model("words", Exponential()), make_config("words", cell="child_sum.v1")
    with pytest.raises(ExportError, match="operator 'Exp'"):
        export_verified_onnx(model, config, vocabulary_digest="")


def test_the_deviation_is_that_of_the_rounded_model(pieces):
    report = verify_onnx(pieces.file, pieces.model, runtimes=())
    inputs = join(sample_trees(pieces.model, [np.array([0])] * 500, np.random.default_rng(5)))
    models = (dequantised(pieces.model, storage) for storage in (pieces.quantize, "none"))
    rounded, plain = (eager_scores(model, inputs)["node_scores"] for model in models)
    assert 0.1 < np.abs(rounded - plain).mean() / report.mean_deviation < 10


def test_a_model_of_two_directions(verified):
    exported, report = verified
    assert [(runtime.cases, runtime.trees) for runtime in report.runtimes] == PLAIN
    assert max(runtime.max_error for runtime in report.runtimes) < 1e-5
    model = exported.proto()
    assert json.loads(stored(model)["verification"]) == as_json(report)
    # The depths of the trees, upwards, downwards.
    assert [node.op_type for node in model.graph.node].count("Loop") == 3


def test_a_fault_that_only_real_inputs_show_is_found(words, monkeypatch):
    def lose_row_7(model):
        change_weight(model, "embedding.table", 7, times=0)

    def real(*ids):
        return [Forest(sizes=np.array([3]), token_ids=np.array(ids), transitions=BRANCH)]

    monkeypatch.setattr(onnx_verify, "sampled", lambda *_, **__: real(3, 4))
    file = tampered(words.file, lose_row_7)
    assert verify_onnx(file, words.model, development=real(5, 6)).development[0].nodes == 3
    with pytest.raises(ExportError, match="onnxruntime's scores differ"):
        verify_onnx(file, words.model, development=real(6, 7))


def tampered(file, change):
    model = onnx.load_from_string(file)
    change(model)
    return bytes(model.SerializeToString())


def change_weight(model, name, place, *, times=1, plus=0):
    weight = next(tensor for tensor in model.graph.initializer if tensor.name == name)
    values = numpy_helper.to_array(weight).copy()
    values[place] = times * values[place] + plus
    weight.CopyFrom(numpy_helper.from_array(values, name))


def swap_the_outputs(model):
    first, second = (
        next(n for n in model.graph.node if name in n.output)
        for name in ("node_scores", "root_scores")
    )
    first.output[0], second.output[0] = second.output[0], first.output[0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            partial(change_weight, name="head.linear.weight", place=(0, 0), plus=0.1),
            r"0\.0\d+; .* 1e-04",
        ),
        (partial(change_weight, name="head.linear.bias", place=..., plus=np.nan), "nan"),
        (swap_the_outputs, r"for 1 trees, .*node_scores of shape \(1, 3\).* \(3, 3\)"),
    ],
)
def test_a_changed_file_fails(words, change, message):
    with pytest.raises((ExportError, BundleError), match=message):
        verify_onnx(tampered(words.file, change), words.model)


@pytest.mark.usefixtures("short_samples")
def test_a_model_that_looks_at_its_batch_fails(words, monkeypatch):
    model = make_model("words")
    scores = model.head.scores

    def centred(outputs):
        return scores(outputs - outputs.mean(0))

    monkeypatch.setattr(model.head, "scores", centred)
    monkeypatch.setattr(onnx_verify, "dequantised", lambda model, quantize: model.eval())

    def run(names, inputs):
        with torch.no_grad():
            given = {name: torch.from_numpy(array) for name, array in inputs.items()}
            return [scores.numpy() for scores in model(given).values()]

    inputs = {item.name: item.type for item in words.session().get_inputs()}
    known = {"outputs": model.output_names, "metadata": {"quantization": "none"}}
    eager = SimpleNamespace(run=run, inputs=inputs, **known)  # in place of a file
    monkeypatch.setattr(onnx_verify, "open_session", lambda *_, **__: eager)
    monkeypatch.setattr(onnx_verify, "ReferenceEvaluator", lambda *_, **__: eager)
    with pytest.raises(ExportError, match=r"change by .* with the other trees"):
        verify_onnx(words.file, model)


SHAPES = [shapes.left(1), shapes.balanced(9), shapes.left(12)]
SHAPES += [random_tree(30, np.random.default_rng(3))]


@pytest.fixture(scope="module", params=["words", "child_sum", "verified", "parser"])
def pair(request):
    """A model of one pass, of any arity, of two directions, and with a parser: all nodes' file and
    the roots' file."""
    found = request.getfixturevalue(request.param)
    nodes = found[0] if isinstance(found, tuple) else found
    file = export_onnx(
        nodes.model, nodes.config, quantize=nodes.quantize, outputs="roots", vocabulary_digest="0"
    )
    return nodes, Exported(nodes.model, nodes.config, nodes.quantize, file)


def test_the_same_scores_of_roots(pair):
    nodes, roots = pair
    drawn = sample_trees(nodes.model, SHAPES, np.random.default_rng(0))
    batches = [join(drawn), drawn[0]]
    if nodes.model.parses:
        batches.append(without_trees(batches[0]))
    for forest in batches:
        inputs = arrays_of(nodes.model, forest)
        wanted = nodes.runs()[0](inputs)
        for run in roots.runs():
            found = run(inputs)
            assert list(found) == [name for name in wanted if name != "node_scores"]
            np.testing.assert_allclose(found["root_scores"], wanted["root_scores"], atol=1e-6)


@pytest.mark.usefixtures("short_samples")
def test_they_are_verified(words, pairs):
    file, report = export_verified_onnx(
        words.model, words.config, outputs="roots", vocabulary_digest="0"
    )
    assert max(runtime.max_error for runtime in report.runtimes) < 2e-6
    assert stored(onnx.load_from_string(file))["outputs"] == "roots"
    rounded = {"device": "gpu", "quantize": "fp16", "vocabulary_digest": "0"}
    export_verified_onnx(words.model, words.config, **rounded)
    with pytest.raises(ExportError, match=r"'roots' .* pair_scores"):
        export_onnx(pairs.model, pairs.config, outputs="roots", vocabulary_digest="0")


@pytest.mark.usefixtures("short_samples")
def test_a_head_that_reads_roots():
    torch.manual_seed(0)
    config = make_config("words", head={"name": "root_classifier.v1"})
    model = randomised(build_model(config, entries=V), std=0.5)
    file, _ = export_verified_onnx(model, config, outputs="roots", vocabulary_digest="0")
    (output,) = onnx.load_from_string(file).graph.output
    shape = [d.dim_param or d.dim_value for d in output.type.tensor_type.shape.dim]
    assert (output.name, shape) == ("root_scores", ["B", C])
