"""Whole exported files: what they compute, what they hold, and how weights are rounded for them."""

import json
import re
from collections import Counter

import numpy as np
import onnx
import pytest
import torch
from export_models import LABELS, TRACES, C, H, V, X, make_config, make_model, stored

from thinstack.errors import ExportError
from thinstack.export.onnx import model as onnx_model
from thinstack.export.onnx.graph import walk
from thinstack.export.onnx.model import export_onnx
from thinstack.export.quantize import dequantised, quantize_rows


def test_signature(exported):
    graph = exported.proto().graph

    def shapes_of(values):
        return {
            v.name: [d.dim_param or d.dim_value for d in v.type.tensor_type.shape.dim]
            for v in values
        }

    words = exported.config.embedding.kind == "words"
    ids = {"token_ids": ["L"]} if words else {"piece_ids": ["P"], "pieces_per_word": ["L"]}
    assert shapes_of(graph.input) == {**ids, "transitions": ["N"]}
    assert shapes_of(graph.output) == {"node_scores": ["N", C], "root_scores": ["B", C]}
    index = onnx.TensorProto.INT32 if words else onnx.TensorProto.INT64
    assert {value.type.tensor_type.elem_type for value in graph.input} == {index}


def test_metadata(pieces):
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


def test_standard_operators_of_opset_18_and_no_sequences(exported):
    model = exported.proto()
    assert model.ir_version == 8
    assert [(opset.domain, opset.version) for opset in model.opset_import] == [("", 18)]
    assert len(model.functions) == 0
    nodes = list(walk(model.graph.node))
    assert {node.domain for node in nodes} == {""}
    assert not [node.op_type for node in nodes if "Sequence" in node.op_type]
    assert Counter(node.op_type for node in model.graph.node)["Loop"] == 2


def test_nothing_of_the_exporting_machine_is_in_the_file(exported):
    # Weights are noise and may spell anything; look at all else.
    model = exported.proto()
    for weight in model.graph.initializer:
        weight.ClearField("raw_data")
    text = model.SerializeToString()
    for trace in (*TRACES, ".py", "torch", "stack_trace"):
        assert trace.encode() not in text
    assert not re.search(rb"File \"|line \d+", text)
    assert not any(node.doc_string for node in list(walk(model.graph.node)))


def test_weights_are_stored_once_and_small(pieces, child_sum):
    kinds, table = onnx.TensorProto, "embedding.table"
    types = {
        weight.name: (weight.data_type, tuple(weight.dims))
        for weight in pieces.proto().graph.initializer
    }
    assert types.pop(f"{table}.int8") == (kinds.INT8, (V, X))
    assert types.pop(f"{table}.scale") == (kinds.FLOAT, (V, 1))
    half = sorted(shape for kind, shape in types.values() if kind == kinds.FLOAT16)
    # Torch cuts small matrices itself: here those of the gates for sigmoid and for tanh.
    assert half == sorted([(X, 2 * H), (X, H), (2 * H, 4 * H), (2 * H, H), (C, H)])
    assert {len(shape) for kind, shape in types.values() if kind == kinds.FLOAT} == {1}
    matrices = [w for w in child_sum.proto().graph.initializer if len(w.dims) > 1]
    found = sorted(tuple(weight.dims) for weight in matrices)
    assert found == sorted([(V, X), (X, H), (H, H), (3, H), (C, H)])
    assert {weight.data_type for weight in matrices} == {kinds.FLOAT16}


def test_a_configuration_with_other_labels_is_refused():
    fewer = make_config("words").model_copy(update={"labels": ("bad", "good")})
    with pytest.raises(ExportError, match=f"the configuration has 2 labels, the model {C};"):
        export_onnx(make_model("words"), fewer, vocabulary_digest="")


def test_the_module_is_left_as_it_is(monkeypatch):
    model = make_model("words")
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    model.encoder.eval()
    # The parts fail after the copy was rounded: nothing may be left behind then either.
    monkeypatch.setattr(onnx_model, "encode", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        export_onnx(model, make_config("words"), quantize="int8-tables", vocabulary_digest="")
    assert (model.training, model.encoder.training, model.head.training) == (True, False, True)
    assert all(torch.equal(before[name], tensor) for name, tensor in model.state_dict().items())


def test_rows_are_rounded_to_half_a_step_of_their_own_scale():
    table = np.array(
        [[1.0, -0.5, 0.001], [1000.0, 3.0, -1000.0], [0, 0, 0], [1e-9, 0, -5e-10]], np.float32
    )
    levels, scale = quantize_rows(table)
    assert levels.dtype == np.int8
    assert (np.abs(levels * scale - table) <= scale * 0.5001).all()
    assert levels[:2].tolist() == [[127, -64, 0], [127, 0, -127]]  # -63.5 goes to the even -64
    assert levels[2].tolist() == [0, 0, 0]
    assert levels[3, 0] == 127


@pytest.mark.parametrize("quantize", ["none", "fp16", "int8-tables"])
def test_a_rounded_copy_has_matrices_in_half_precision_and_vectors_as_they_are(quantize):
    model = make_model("words")
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    copy = dequantised(model, quantize)
    assert not copy.training
    for name, found in copy.state_dict().items():
        weight = before[name]
        assert torch.equal(model.state_dict()[name], weight)
        half = weight.half().float()
        if weight.dim() == 1 or quantize == "none":
            assert torch.equal(found, weight)
        elif name == "embedding.table" and quantize == "int8-tables":
            step = weight.abs().amax(1, keepdim=True) / 127
            assert ((found - weight).abs() <= step * 0.5001).all()
            assert not torch.equal(found, half)
        else:
            assert torch.equal(found, half)
            assert not torch.equal(found, weight)


def test_weights_that_cannot_be_stored_are_named():
    model = make_model("words")
    with torch.no_grad():
        model.encoder.stack()[0].up.cell.u[0, 0] = 1e6
    dequantised(model, "none")
    with pytest.raises(ExportError, match=r"'encoder.layers.0.up.cell.u' .*fp16"):
        dequantised(model, "fp16")
    with torch.no_grad():
        model.head.linear.bias[0] = float("nan")
    with pytest.raises(ExportError, match=r"'head.linear.bias'"):
        dequantised(model, "none")
