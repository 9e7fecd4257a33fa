"""ONNX files read without onnx: what is refused, and the rest as onnx itself reads it."""

import time
from contextlib import suppress

import numpy as np
import onnx
import onnxruntime
import pytest
from fuzz.changes import mutated_bytes
from google.protobuf.message import DecodeError
from last_word_model import last_word_model
from onnx import AttributeProto, TensorProto, TrainingInfoProto, helper, numpy_helper

from thinstack.bundle import open_bundle
from thinstack.bundle.gate.onnx_gate import (
    DEEPEST,
    MOST_FIELDS,
    MOST_NODES,
    OPERATORS,
    check_onnx,
    initializers,
)
from thinstack.errors import BundleError

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
node = helper.make_node


def proto(nodes, weights=None, result="y"):
    """A model of these nodes, weights, and the input `x`."""
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", INT64, [None])],
        [value(result)],
        [numpy_helper.from_array(value, name) for name, value in (weights or {}).items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


def refusal(model):
    """What check_onnx says of a model that it must refuse."""
    with pytest.raises(BundleError, match=r"^a file: not an ONNX file that ") as caught:
        check(model)
    return str(caught.value)


def check(model):
    content = model if isinstance(model, bytes) else model.SerializeToString()
    check_onnx(content, source="a file")


def of_weight(tensor):
    """A model of one weight."""
    model = proto([node("Identity", ["w"], ["y"])])
    model.graph.initializer.append(tensor)
    return model


def ones():
    return numpy_helper.from_array(np.ones(2, np.float32), "w")


def value(name):
    return helper.make_tensor_value_info(name, FLOAT, None)


def nested(depth, innermost):
    """A model whose innermost nodes are so many `If` deep."""
    nodes = innermost
    for level in range(depth):
        branch = helper.make_graph(nodes, f"b{level}", [], [value(nodes[-1].output[0])])
        other = helper.make_graph([node("Identity", ["w"], ["o"])], "o", [], [value("o")])
        nodes = [node("If", ["c"], [f"if{level}"], then_branch=branch, else_branch=other)]
    return proto(nodes, {"c": np.array(True), "w": np.ones(2, np.float32)}, nodes[-1].output[0])


def external(tensor, location="secret.bin"):
    """The tensor, with its data in another file."""
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value=location)
    return tensor


def test_the_bundled_model_is_read_as_onnx_reads_it():
    content = open_bundle("sentiment").read("onnx/model.onnx")
    check_onnx(content, source="a file")
    whole, found = onnx.load_from_string(content), initializers(content)
    assert list(found) == [tensor.name for tensor in whole.graph.initializer]
    for tensor in whole.graph.initializer:
        expected = numpy_helper.to_array(tensor)
        assert found[tensor.name].dtype == expected.dtype
        np.testing.assert_array_equal(found[tensor.name], expected)
        assert found[tensor.name].flags.writeable


@pytest.mark.parametrize("raw", [True, False])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3)])
@pytest.mark.parametrize(
    "dtype", ["f4", "f2", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?"]
)
def test_weights_of_every_type_are_decoded(dtype, shape, raw):
    values = np.random.default_rng(0).integers(-100, 100, shape)
    array = (values if np.dtype(dtype).kind in "if" else abs(values)).astype(dtype)
    kind = helper.np_dtype_to_tensor_dtype(array.dtype)
    tensor = helper.make_tensor(
        "w", kind, shape, array.tobytes() if raw else array.ravel().tolist(), raw=raw
    )
    model = of_weight(tensor).SerializeToString()
    check(model)
    found = initializers(model)["w"]
    assert (found.dtype, found.shape) == (array.dtype, shape)
    np.testing.assert_array_equal(found, array)


def cast(**more):
    return proto([node("Cast", ["x"], ["y"], to=FLOAT, **more)])


def constant(**value):
    """A model of one constant, its attributes as they are given to the protocol buffer."""
    made = node("Constant", [], ["y"])
    made.attribute.append(AttributeProto(**value))
    return proto([made])


def with_field(model, name, item):
    getattr(model, name).append(item)
    return model


def hostile():
    """Models by what is said of them, wherever it is that they hold what must not be there."""
    undeclared = ones()
    undeclared.external_data.add(key="location", value="secret.bin")
    tensor, memory = external(ones()), external(ones(), "*/_ORT_MEM_ADDR_/*")
    ids = [helper.make_opsetid("evil", 1), helper.make_opsetid("", 18)]
    twice = [node("f", ["a"], ["b"]), node("f", ["b"], ["c"])]
    function = helper.make_function("", "f", ["a"], ["c"], twice, ids[1:])
    places = numpy_helper.from_array(np.array([3, 4]), "i")
    sparse = helper.make_sparse_tensor(ones(), places, [1 << 40])
    sparse_weight = proto([node("Identity", ["w"], ["y"])])
    sparse_weight.graph.sparse_initializer.append(sparse)
    texts = [proto([node("Abs", ["x"], ["MARK"])], result="MARK"), cast()]
    texts[1].metadata_props.add(key="labels", value="MARK")
    return {
        "data in another file": [
            *map(of_weight, (tensor, undeclared, memory)),
            constant(name="value", t=tensor, type=AttributeProto.TENSOR),
            constant(name="values", tensors=[ones(), tensor], type=AttributeProto.TENSORS),
            constant(name="graphs", graphs=[of_weight(tensor).graph], type=AttributeProto.GRAPHS),
            nested(2, [node("Constant", [], ["out"], value=tensor)]),
        ],
        "of the domain 'com.microsoft'": [
            cast(domain="com.microsoft"),
            nested(2, [node("EPContext", ["w"], ["out"], domain="com.microsoft")]),
        ],
        "of the domain 'evil'": [cast(domain="evil")],
        "the operator 'Scan'": [nested(1, [node("Scan", ["w"], ["out"], num_scan_inputs=1)])],
        "functions": [with_field(cast(), "functions", function)],
        "training graph": [with_field(cast(), "training_info", TrainingInfoProto())],
        "utf-8": [text.SerializeToString().replace(b"MARK", b"\xff\xfe\xfd\xfc") for text in texts],
        "sparse": [sparse_weight, constant(name="sparse_value", sparse_tensor=sparse, type=11)],
        "(limit 32)": [nested(DEEPEST, [node("Identity", ["w"], ["out"])])],
    }


@pytest.mark.parametrize(("message", "models"), hostile().items())
def test_what_must_not_be_there_is_refused_wherever_it_is(message, models):
    for model in models:
        assert message in refusal(model)


def test_what_is_like_it_passes():
    """ONNX's own domain by its name, graphs as deep and as many nodes as there may be, and an
    operator that the caller allows."""
    check(with_field(cast(domain="ai.onnx"), "opset_import", helper.make_opsetid("ai.onnx", 18)))
    check(nested(DEEPEST - 1, [node("Identity", ["w"], ["out"])]))
    nodes = [node("Abs", ["x"], ["y"])] * MOST_NODES
    check(proto(nodes))
    assert f"more than {MOST_NODES:,} nodes" in refusal(proto([*nodes, nodes[0]]))
    more = proto([node("Softplus", ["x"], ["y"])])
    assert "allow_operators=['Softplus']" in refusal(more)
    check_onnx(more.SerializeToString(), source="a file", allow=["Softplus"])


def field(number, content):
    """A field of bytes, on the wire."""
    return varint(number << 3 | 2) + varint(len(content)) + content


def varint(value):
    digits = []
    while value > 127:
        digits.append(value & 127 | 128)
        value >>= 7
    return bytes([*digits, value])


def test_what_no_protocol_buffer_of_onnx_holds_is_refused():
    content = cast().SerializeToString()
    assert "occurs 2 times" in refusal(content + content)
    deep = b""
    for level in range(3000):
        deep = field((6, 5, 1)[level % 3], deep)  # in an attribute of a node of a graph
    refusal(field(7, deep))
    with pytest.raises(BundleError, match="limit 32"):
        check_onnx(field(7, deep), source="a file", allow=[""])


def test_a_file_of_onnxruntimes_own_format_is_none(tmp_path):
    options = onnxruntime.SessionOptions()
    options.optimized_model_filepath = str(tmp_path / "model.ort")
    options.add_session_config_entry("session.save_model_format", "ORT")
    onnxruntime.InferenceSession(
        last_word_model("words"), options, providers=["CPUExecutionProvider"]
    )
    content = (tmp_path / "model.ort").read_bytes()
    # It tells by the bytes.
    onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    assert content[4:8] == b"ORTM"
    refusal(content)


@pytest.mark.parametrize(
    ("tensor", "message"),
    [
        (TensorProto(name="w", data_type=FLOAT, dims=[1 << 40]), "0 numbers"),
        (TensorProto(name="w", data_type=FLOAT, dims=[1 << 40], raw_data=b"1234"), "1 numbers"),
        (
            TensorProto(name="w", data_type=FLOAT, dims=[2], raw_data=b"12345"),
            "multiple of element",
        ),
        (TensorProto(name="w", data_type=INT64, dims=[-1, -1], raw_data=b"12345678"), "shape"),
        (TensorProto(name="w", data_type=INT64, dims=[1] * 65, int64_data=[1]), "dimension"),
        (TensorProto(name="w", data_type=TensorProto.STRING, dims=[1 << 40]), "type 8"),
    ],
)
def test_weights_that_are_none_are_refused(tensor, message):
    assert message in refusal(of_weight(tensor))


def test_more_fields_than_any_model_has_are_not_read():
    started = time.process_time()
    assert f"more than {MOST_FIELDS:,} fields" in refusal(b"\x0a\x00" * 20_000_000)
    assert time.process_time() - started < 5
    packed = TensorProto(name="w", data_type=FLOAT, raw_data=b"")
    graph = field(7, field(5, packed.SerializeToString() + field(1, bytes(40_000_000))))
    assert "40,000,000 bytes of integers" in refusal(graph)


NONSENSE = [b"", b"\x80\x04K\x01.", b"\x38\x01", b"\x3b\x3c", b"\x00\x00", b"\x3a\x05"]
NONSENSE += [part * 100 for part in (b"PK\x03\x04", b"\x1f\x8b\x08", b"garbage", b"\xff")]
NONSENSE += [b"\x3a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", b"[" * 4_000_000]


@pytest.mark.parametrize("content", NONSENSE, ids=range(len(NONSENSE)))
def test_what_is_no_model_is_refused(content):
    refusal(content)
    if content != b"":
        with pytest.raises(BundleError):
            initializers(content)


def harmless(model):
    """Of everything in a model as onnx reads it, whether it may be there."""
    yield not model.functions and not model.training_info
    graphs = [model.graph]
    while graphs:
        graph = graphs.pop()
        yield not graph.sparse_initializer and all(local(tensor) for tensor in graph.initializer)
        for item in graph.node:
            yield item.domain in ("", "ai.onnx") and item.op_type in OPERATORS
            for attribute in item.attribute:
                yield not attribute.HasField("sparse_tensor") and not attribute.sparse_tensors
                yield local(attribute.t) and all(map(local, attribute.tensors))
                graphs += [attribute.g, *attribute.graphs]


def local(tensor):
    return tensor.data_location == TensorProto.DEFAULT and not tensor.external_data


def look_at(content):
    """Whether a damaged file is read; then onnx finds nothing in it that should be refused."""
    with suppress(BundleError):
        initializers(content)
    try:
        check_onnx(content, source="a file")
    except BundleError:
        return False
    try:
        model = onnx.load_from_string(content)
    except DecodeError:
        return False
    assert all(harmless(model))
    return True


def test_damaged_files_are_refused_or_harmless():
    generator = np.random.default_rng(0)
    hostile = nested(3, [node("Constant", [], ["out"], value=external(ones()))]).SerializeToString()
    files = [last_word_model("wordpieces", parser="capped", metadata={"labels": "[]"}), hostile]
    read = sum(look_at(mutated_bytes(files[number % 2], generator)) for number in range(2000))
    assert 20 < read < 1900
