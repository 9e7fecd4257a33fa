"""Whole exported files: what they compute, and what they hold."""

import json
import re
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch
from export_models import (
    LABELS,
    C,
    Exported,
    H,
    V,
    X,
    close,
    eager_scores,
    make_config,
    make_model,
    random_inputs,
    random_tree,
    stored,
)
from oracle import slow_scores

from thinstack.config import ModelConfig
from thinstack.core import transitions as shapes
from thinstack.data.brackets import from_brackets
from thinstack.errors import ExportError
from thinstack.export.onnx import model as onnx_model
from thinstack.export.onnx.model import export_onnx
from thinstack.export.quantize import dequantised

FORESTS = {
    "empty": [],
    "one word": [[0]],
    "three words, three trees": [[0], [0], [0]],
    "two words": [[0, 0, 1]],
    "left chain": [shapes.left(64)],
    "right chain": [shapes.right(64)],
    "balanced": [shapes.balanced(33)],
    "mixed": [
        random_tree(13, 1),
        [0],
        shapes.left(7),
        random_tree(40, 2),
        [0],
        shapes.right(5),
        [0, 0, 1],
    ],
}


@pytest.mark.parametrize("forest", FORESTS)
def test_both_runtimes_give_the_scores_of_the_model(exported: Exported, forest: str) -> None:
    inputs = random_inputs(exported.kind, FORESTS[forest], 3)
    expected = eager_scores(dequantised(exported.model, exported.quantize), inputs)
    assert expected["root_scores"].shape == (len(FORESTS[forest]), C)
    for run in exported.runs():
        found = run(inputs)
        close(found, expected, 2e-6)
        assert {scores.dtype for scores in found.values()} == {np.dtype(np.float32)}


def test_onnx_agrees_with_the_recursion_over_the_equations(words: Exported) -> None:
    inputs = random_inputs("words", [random_tree(11, 5)], 6)
    expected = slow_scores(dequantised(words.model, "none").double(), inputs)
    close(words.runs()[0](inputs), expected, 2e-6)


def test_a_sentence_does_not_depend_on_the_others_in_its_batch(pieces: Exported) -> None:
    trees = [random_tree(int(size), seed) for seed, size in enumerate((9, 1, 23, 4, 17))]
    single = [random_inputs("wordpieces", [tree], seed) for seed, tree in enumerate(trees)]
    batch = {name: np.concatenate([inputs[name] for inputs in single]) for name in single[0]}
    session = pieces.session()
    alone = zip(*(session.run(None, inputs) for inputs in single), strict=True)
    for scores, expected in zip(session.run(None, batch), map(np.concatenate, alone), strict=True):
        np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-6)


def test_the_trees_of_the_whole_development_file(words: Exported, data_dir: Path) -> None:
    lines = (data_dir / "sst" / "dev.txt").read_text(encoding="utf-8").splitlines()
    model = dequantised(words.model, "none")
    runs = words.runs()
    for start in range(0, len(lines), 64):
        trees = [from_brackets(line).transitions for line in lines[start : start + 64]]
        inputs = random_inputs("words", trees, start)
        expected = eager_scores(model, inputs)
        for run in runs:
            close(run(inputs), expected, 2e-6)


def test_signature(exported: Exported) -> None:
    graph = exported.proto().graph

    def shapes_of(values):
        return {
            v.name: [d.dim_param or d.dim_value for d in v.type.tensor_type.shape.dim]
            for v in values
        }

    ids = (
        {"token_ids": ["L"]}
        if exported.kind == "words"
        else {"piece_ids": ["P"], "pieces_per_word": ["L"]}
    )
    assert shapes_of(graph.input) == {**ids, "transitions": ["N"]}
    assert shapes_of(graph.output) == {"node_scores": ["N", C], "root_scores": ["B", C]}
    index = onnx.TensorProto.INT64 if exported.kind == "wordpieces" else onnx.TensorProto.INT32
    assert {value.type.tensor_type.elem_type for value in graph.input} == {index}


def test_metadata(pieces: Exported) -> None:
    found = stored(pieces.proto())
    assert json.loads(found["labels"]) == list(LABELS)
    expected = {
        "schema_version": "1",
        "embedding": "wordpieces",
        "cell": "nary_lstm.v1",
        "head": "node_classifier.v1",
        "vocabulary_digest": "0123abcd",
        "tree_source": "left",
        "trees": "binary",
        "relations": "[]",
        "quantization": "int8-tables",
    }
    assert {key: found[key] for key in expected} == expected


def all_nodes(graph: onnx.GraphProto) -> list[onnx.NodeProto]:
    nodes = list(graph.node)
    for node in graph.node:
        for attribute in node.attribute:
            nodes += all_nodes(attribute.g) if attribute.HasField("g") else []
    return nodes


def test_standard_operators_of_opset_18_and_no_sequences(exported: Exported) -> None:
    model = exported.proto()
    assert model.ir_version == 8
    assert [(opset.domain, opset.version) for opset in model.opset_import] == [("", 18)]
    assert len(model.functions) == 0
    nodes = all_nodes(model.graph)
    assert {node.domain for node in nodes} == {""}
    assert not [node.op_type for node in nodes if "Sequence" in node.op_type]
    assert Counter(node.op_type for node in model.graph.node)["Loop"] == 2


def test_nothing_of_the_exporting_machine_is_in_the_file(exported: Exported) -> None:
    # Weights are noise and may spell anything; look at all else.
    model = exported.proto()
    for weight in model.graph.initializer:
        weight.ClearField("raw_data")
    text = model.SerializeToString()
    folders = (str(Path(__file__).parents[2]), tempfile.gettempdir(), "/home", "site-packages")
    for trace in (*folders, ".py", "torch", "stack_trace"):
        assert trace.encode() not in text
    assert not re.search(rb"File \"|line \d+", text)
    assert not any(node.doc_string for node in all_nodes(model.graph))


def test_the_loop_carries_states_and_scores_and_gathers_without_scattering(words: Exported) -> None:
    body = next(
        attribute.g
        for node in words.proto().graph.node
        if node.op_type == "Loop"
        for attribute in node.attribute
        if len(attribute.g.input) == 5
    )
    kinds = Counter(node.op_type for node in body.node)
    assert (
        not {"ScatterND", "ScatterElements", "Expand", "Where", "Transpose", "NonZero"}
        & kinds.keys()
    )
    assert kinds["Gemm"] == 2
    assert [tensor for tensor in body.initializer if len(tensor.dims) > 1] == []


def matrices(exported: Exported) -> list[onnx.TensorProto]:
    return [weight for weight in exported.proto().graph.initializer if len(weight.dims) > 1]


def test_a_matrix_used_twice_is_stored_once(child_sum: Exported) -> None:
    shapes = sorted(tuple(weight.dims) for weight in matrices(child_sum))
    assert shapes == sorted([(V, X), (X, H), (H, H), (3, H), (C, H)])


def test_rounded_weights_are_stored_small(pieces: Exported, child_sum: Exported) -> None:
    kinds = onnx.TensorProto
    weights = {weight.name: weight for weight in pieces.proto().graph.initializer}
    assert weights["embedding.table.int8"].data_type == kinds.INT8
    assert list(weights["embedding.table.scale"].dims) == [V, 1]
    half = {tuple(w.dims) for w in matrices(pieces) if w.data_type == kinds.FLOAT16}
    assert half == {(X, 3 * H), (2 * H, 5 * H), (C, H)}
    assert len(matrices(pieces)) == 2 + 3
    assert {w.data_type for w in weights.values() if len(w.dims) == 1} == {kinds.FLOAT}
    assert {weight.data_type for weight in matrices(child_sum)} == {kinds.FLOAT16}


def test_runtimes_bring_matrices_back_to_float32_when_they_load_the_file(
    pieces: Exported, tmp_path
) -> None:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.optimized_model_filepath = str(tmp_path / "optimized.onnx")
    onnxruntime.InferenceSession(pieces.file, options, providers=["CPUExecutionProvider"])
    optimized = onnx.load(tmp_path / "optimized.onnx")
    types = {weight.name: weight.data_type for weight in optimized.graph.initializer}
    casts = [node for node in all_nodes(optimized.graph) if node.op_type == "Cast"]
    assert not types.keys() & {node.input[0] for node in casts}
    assert onnx.TensorProto.FLOAT16 not in types.values()


def test_the_module_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    model = make_model("words")
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    model.encoder.eval()
    # The parts fail after the copy was rounded: nothing may be left behind then either.
    monkeypatch.setattr(onnx_model, "encode", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        export_onnx(model, make_config("words"), quantize="int8-tables", vocabulary_digest="")
    assert (model.training, model.encoder.training, model.head.training) == (True, False, True)
    assert all(torch.equal(before[name], tensor) for name, tensor in model.state_dict().items())


def test_exporting_leaves_the_module_in_training_mode(exported: Exported) -> None:
    assert all(module.training for module in exported.model.modules())


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (make_config("wordpieces"), "'wordpieces'"),
        (make_config("words", labels=("a", "b")), "2 labels, the model 3"),
        (make_config("words", trees="dependency"), "'dependency'.* transitions"),
    ],
)
def test_a_configuration_of_another_model_is_refused(config: ModelConfig, message: str) -> None:
    with pytest.raises(ExportError, match=message):
        export_onnx(make_model("words"), config, vocabulary_digest="")
