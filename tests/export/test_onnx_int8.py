"""Products in 8 bits, against the same arithmetic written out in numpy."""

import numpy as np
import onnx
import pytest
from export_models import V, X, inputs_of, make_config, make_model, randomised, runtimes, session_of
from onnx import numpy_helper

from thinstack._onnxruntime import import_onnxruntime
from thinstack.errors import ExportError
from thinstack.export.onnx.graph import Graph
from thinstack.export.onnx.int8 import quantize_products
from thinstack.export.onnx.model import export_onnx
from thinstack.export.onnx.verify import export_verified_onnx, verify_onnx
from thinstack.export.quantize import quantize_columns
from thinstack.plugins.cells.nary_lstm import NaryLSTM

FLOAT = onnx.TensorProto.FLOAT
onnxruntime = import_onnxruntime()
K, W, WIDE = 20, 24, 40


def random(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def product(kind, weight, bias):
    g = Graph("g", half=kind == "half")
    rows = g.op("Tanh", g.input("x", FLOAT, ["n", K]))
    if bias is None:
        found = g.op("MatMul", rows, g.weight(weight, "w"))
    else:
        turned = kind == "transposed"
        stored = g.weight(weight.T.copy() if turned else weight, "w")
        found = g.op("Gemm", rows, stored, g.weight(bias, "b"), transB=int(turned))
    g.output(found, "y", FLOAT, ["n", W])
    products = quantize_products(g, {})
    return g.model({}), products


def wide():
    """A model whose products are worth 8 bits, with weights that do not make much of rounding."""
    return randomised(
        make_model("words", NaryLSTM(input_size=X, hidden_size=WIDE)), std=0.4
    ), make_config("words")


def int8(model, config):
    return export_onnx(model, config, quantize="int8", vocabulary_digest="0")


def weights_of(file):
    weights = onnx.load_from_string(file).graph.initializer
    return {weight.name: numpy_helper.to_array(weight) for weight in weights}


def is_int8(value, shape):
    return value.dtype == np.int8 and value.shape == shape


@pytest.mark.parametrize("kind", ["plain", "no bias", "transposed", "half"])
def test_a_product_is_that_of_whole_numbers(kind):
    weight, bias = random(K, W), None if kind == "no bias" else random(W, seed=1)
    weight = weight.astype(np.float16).astype(np.float32)
    file, products = product(kind, weight, bias)
    assert products == (1, 1)
    x = 3 * random(50, K, seed=2)
    rows = np.rint(np.tanh(x.astype(np.float64)) * 127)
    scale = np.abs(weight).max(0).astype(np.float64) / 64
    expected = rows @ np.rint(weight / scale) * scale / 127 + (0 if bias is None else bias)
    for run in runtimes(file):
        (found,) = run(["y"], {"x": x})
        # Where an activation lies between two whole numbers, the last digit of tanh decides.
        assert np.quantile(np.abs(found - expected), 0.95) < 1e-5
        assert np.abs(found - expected).max() < 2 * scale.max()
    (plain,) = session_of(file).run(["y"], {"x": x})
    assert 0 < np.abs(plain - (np.tanh(x) @ weight + (0 if bias is None else bias))).mean() < 0.05


def test_columns_keep_to_seven_bits_and_their_own_scale():
    weight = random(K, W) * np.logspace(-3, 3, W, dtype=np.float32)
    weight[:, 3] = 0
    levels, scale = quantize_columns(weight)
    assert levels.dtype == np.int8
    assert np.abs(levels).max() == 64
    assert (np.abs(levels * scale - weight) <= scale / 2 * (1 + 1e-6)).all()
    assert (levels[:, 3] == 0).all()


@pytest.mark.parametrize(
    ("shape", "options", "bounded", "found"),
    [
        ((K, W), {}, False, (0, 1)),
        ((K, 5), {}, True, (0, 1)),
        ((K, W), {"transA": 1}, True, (0, 1)),
        ((K, W), {"alpha": 2.0}, True, (0, 1)),
        ((K, W), {"beta": 0.5}, True, (0, 1)),
        ((2, K, W), {}, True, (0, 0)),
    ],
)
def test_other_products_stay_as_they_are(shape, options, bounded, found):
    """Unbounded rows, a narrow matrix, what is no plain product, one of three dimensions."""
    g = Graph("g")
    x = g.input("x", FLOAT, [K, "n"] if "transA" in options else ["n", K])
    rows, weight = x.tanh() if bounded else x, g.weight(random(*shape), "w")
    bias = [g.weight(random(W, seed=1), "b")] if options else []
    y = g.op("Gemm" if options else "MatMul", rows, weight, *bias, **options)
    g.output(y, "y", FLOAT, [*shape[:-2], "n", shape[-1]])
    before = [node.SerializeToString() for node in g.nodes]
    assert quantize_products(g, {}) == found
    assert [node.SerializeToString() for node in g.nodes] == before


@pytest.mark.parametrize("way", ["of two bounds", "plain and transposed"])
def test_a_matrix_that_is_used_in_two_ways_is_right_in_both(way):
    square = random(W, W)
    g = Graph("g")
    rows = g.op("Tanh", g.input("x", FLOAT, ["n", W]))
    if way == "of two bounds":
        products = [x.op("MatMul", g.weight(square, "w")) for x in (rows, rows * 3.0)]
    else:
        products = [rows.op("Gemm", g.weight(square, "w"), transB=turned) for turned in (0, 1)]
    for name, value in zip("yz", products, strict=True):
        g.output(value, name, FLOAT, ["n", W])
    assert quantize_products(g, {}) == (2, 2)
    x = random(50, W, seed=2)
    other = 3 * square if way == "of two bounds" else square.T
    expected = [np.tanh(x) @ square, np.tanh(x) @ other]
    answer = session_of(g.model({})).run(["y", "z"], {"x": x})
    for found, wanted in zip(answer, expected, strict=True):
        assert 0 < np.linalg.norm(found - wanted) < 0.03 * np.linalg.norm(wanted)


def test_words_of_several_pieces_have_the_bound_of_the_table():
    """A mean has none that follows from the graph."""
    model = randomised(make_model("wordpieces", NaryLSTM(input_size=X, hidden_size=WIDE)), std=0.4)
    stored = weights_of(int8(model, make_config("wordpieces")))
    assert any(is_int8(value, (X, 3 * WIDE)) for value in stored.values())


def test_a_model_computes_its_recurrent_products_so_and_stays_near():
    model, config = wide()
    plain = export_onnx(model, config, vocabulary_digest="0")
    file, report = export_verified_onnx(model, config, quantize="int8", vocabulary_digest="0")
    # Leaf and compose; not the head, read twice.
    assert (report.quantization, report.int8_products) == ("int8", "2 of 4")
    assert len(file) < 0.55 * len(plain)
    assert 0 < report.mean_deviation < 0.02
    assert report.neighbour_error == 0
    stored = weights_of(file)
    for shape in ((2 * WIDE, 5 * WIDE), (X, 3 * WIDE)):  # the gates of a matrix are one product
        assert any(is_int8(value, shape) for value in stored.values())
    assert "cell.u" not in stored


def test_a_tree_scores_the_same_in_any_company():
    """With scales taken from the batch, neighbours whose words have huge vectors would move it."""
    model, config = wide()
    model.embedding.table.data[V // 2 :] *= 50
    run = session_of(int8(model, config)).run
    inputs = inputs_of(model, [12], seed=1)
    inputs["token_ids"] %= V // 2
    wild = inputs_of(model, [1, 30, 7], seed=2)
    wild["token_ids"] = V // 2 + wild["token_ids"] % (V // 2)
    both = {name: np.concatenate([inputs[name], wild[name]]) for name in inputs}
    alone, together = (
        run(["node_scores"], {name: values.astype(np.int32) for name, values in given.items()})[0]
        for given in (inputs, both)
    )
    np.testing.assert_array_equal(together[:23], alone)


@pytest.mark.parametrize("bias", [None, random(W, seed=2)])
def test_onnxruntime_multiplies_whole_numbers(bias, tmp_path):
    """Its name for it is MatMulIntegerToFloat; a product in float32 takes twice as long."""
    model, _ = product("plain", random(K, W, seed=1), bias)
    options = onnxruntime.SessionOptions()
    options.optimized_model_filepath = str(tmp_path / "optimised.onnx")
    options.log_severity_level = 3  # such a file is for this machine
    onnxruntime.InferenceSession(model, options)
    kinds = [node.op_type for node in onnx.load(options.optimized_model_filepath).graph.node]
    assert "MatMulIntegerToFloat" in kinds
    assert not {"MatMul", "Gemm", "FusedGemm", "DequantizeLinear"} & set(kinds)


def test_a_wrong_scale_is_found():
    model, config = wide()
    proto = onnx.load_from_string(int8(model, config))
    scale = next(w for w in proto.graph.initializer if w.name == "cell.u.scale")
    scale.CopyFrom(numpy_helper.from_array(-numpy_helper.to_array(scale), scale.name))
    with pytest.raises(ExportError, match=r"onnxruntime's scores differ .* on average"):
        verify_onnx(proto.SerializeToString(), model)
