"""Weights of a model, into a bundle and out of it."""

import pytest
import torch
from core.configured import CHILD_SUM, LEXICALIZED, RANKER, SPINN, build, config_of
from safetensors.torch import load

from thinstack.bundle import write_bundle
from thinstack.bundle.weights import load_model, load_state, weights_of
from thinstack.errors import BundleError
from thinstack.export.onnx.model import export_onnx
from thinstack.export.quantize import dequantised
from thinstack.plugins.build import build_model

CONFIG = config_of()
WORDS = b"good\nbad\n"
DEPENDENCY = {"trees": "dependency", "cell": CHILD_SUM}
TOP_DOWN = {"name": "top_down_lstm.v1", "hidden_size": 5}
CHANGES = {
    "plain": {},
    "shared": DEPENDENCY | {"encoder": {"top_down": "shared"}},
    "deep_shared": DEPENDENCY | {"encoder": {"top_down": "shared", "layers": 2}},
    "own": DEPENDENCY | {"encoder": {"top_down": TOP_DOWN}},
    "relations": DEPENDENCY | {"cell": {"name": "sdt_rnn.v1"}, "relations": ["det"]},
    "double_bias": DEPENDENCY | {"cell": CHILD_SUM | {"options": {"bias": "double"}}},
    "lexicalized": {"cell": LEXICALIZED, "encoder": {"top_down": TOP_DOWN}},
    "ranker": {"cell": LEXICALIZED, "head": RANKER},
    "pairs": DEPENDENCY | {"head": {"name": "entailment.v1", "options": {"width": 6}}},
}


def new_model(config=CONFIG, seed=0):
    torch.manual_seed(seed)
    return build_model(config, entries=3)


def bundle(folder, weights, config=CONFIG, exported=None):
    files = {"vocabulary.txt": WORDS, "model.safetensors": weights, "onnx/model.onnx": exported}
    there = {name: content for name, content in files.items() if content is not None}
    return write_bundle(folder, there, config=config)


def assert_same_weights(found, expected):
    weights, wanted = found.state_dict(), expected.state_dict()
    assert weights.keys() == wanted.keys()
    assert all(torch.equal(weights[name], value) for name, value in wanted.items())


@pytest.mark.parametrize("name", CHANGES)
def test_weights_of_every_kind_of_model_come_back(tmp_path, name):
    config = config_of(**CHANGES[name])
    model = new_model(config, seed=3)
    for value in model.state_dict().values():
        if value.is_floating_point():
            value.uniform_(0.1, 0.9)
    loaded = load_model(bundle(tmp_path / "model", weights_of(model), config))
    assert sum(part.numel() for part in loaded.parameters()) == sum(
        part.numel() for part in model.parameters()
    )
    every = {
        "token_ids": [0, 2, 1] if config.trees == "binary" else [0, 2, 1, 1],
        "transitions": [0, 0, 1, 0],
        "parents": [1, -1, 1, -1],
        "kinds": [2, 1, 1, 1],
        "constituents": [0, 0, 1, 0],
    }
    inputs = {name: torch.tensor(every[name]) for name in model.input_names}
    with torch.no_grad():
        expected, found = model.eval()(inputs), loaded(inputs)
    assert found.keys() == expected.keys()
    assert all(torch.equal(found[key], expected[key]) for key in expected)


def test_a_model_comes_back_as_it_was_in_evaluation_mode(tmp_path):
    model = new_model(config_of(embedding={"kind": "words", "size": 3, "dropout": 0.5}))
    written = bundle(tmp_path / "model", weights_of(model))
    for source in (written, written.path, str(written.path)):
        loaded = load_model(source)
        assert not any(module.training for module in loaded.modules())
        assert_same_weights(loaded, model)


def test_weights_that_share_memory_are_kept(tmp_path):
    model = new_model()
    model.head.linear.bias = torch.nn.Parameter(model.embedding.table.detach()[0])
    loaded = load_model(bundle(tmp_path / "model", weights_of(model)))
    assert torch.equal(loaded.head.linear.bias, model.embedding.table[0])
    assert torch.equal(loaded.embedding.table, model.embedding.table)


@pytest.mark.parametrize("quantize", ["none", "fp16", "int8-tables", "int8"])
def test_weights_beside_an_onnx_file_are_stored_once(tmp_path, quantize):
    # Torch's exporter cuts matrices of up to 8,192 numbers itself: their parts are stored too.
    wide = config_of({"hidden_size": 48}, embedding={"kind": "words", "size": 96})
    model = new_model(wide, seed=1)
    torch.nn.init.normal_(model.encoder.layers[0].up.cell.b)  # products with biases of 0 have none
    exported = export_onnx(model, wide, quantize=quantize, vocabulary_digest="0")
    rounded = dequantised(model, quantize)
    weights = weights_of(rounded, beside=exported)
    cell = "encoder.layers.0.up.cell"
    assert not load(weights).keys() & {f"{cell}.u", f"{cell}.w", "embedding.table"}
    loaded = load_model(bundle(tmp_path / "model", weights, wide, exported)).state_dict()
    assert loaded.keys() == rounded.state_dict().keys()
    for name, value in rounded.state_dict().items():
        assert loaded[name].dtype == torch.float32
        torch.testing.assert_close(loaded[name], value, rtol=1e-6, atol=0)


@pytest.fixture(scope="module")
def exported():
    return export_onnx(new_model(seed=1), CONFIG, vocabulary_digest="0")


def test_weights_that_half_precision_would_round_are_kept(tmp_path, exported):
    model = new_model()
    assert not torch.equal(model.embedding.table.half().float(), model.embedding.table)
    written = bundle(tmp_path / "model", weights_of(model, beside=exported), CONFIG, exported)
    assert_same_weights(load_model(written), model)


def test_weights_that_do_not_fit_are_refused_at_once(tmp_path):
    other, huge = config_of({"hidden_size": 5}), config_of({"hidden_size": 10**7})
    no_fit = r"model\.safetensors: these weights do not fit"
    for weights, config, problem in (
        (None, CONFIG, "no torch weights"),
        (weights_of(new_model(other)), CONFIG, no_fit),
        (b"no safetensors", CONFIG, no_fit),
        (b"", CONFIG, no_fit),
        ((2**60).to_bytes(8, "little") + b"{}", CONFIG, rf"{no_fit}.*(?i:header)"),
        (weights_of(new_model()), huge, r"shape \(40000000,\), found \(16,\)"),
    ):
        with pytest.raises(BundleError, match=problem):
            load_model(bundle(tmp_path / "model", weights, config))


@pytest.mark.parametrize("feeds", [True, False])
def test_weights_that_two_executors_share_are_stored_once(feeds):
    encoder = {"tracker": {"size": 3, "feeds": feeds}}
    model, other = build(SPINN, encoder=encoder), build(SPINN, encoder=encoder)
    stored = load(weights_of(model))
    assert sum(value.numel() for value in stored.values()) == sum(
        value.numel() for value in model.parameters()
    )
    load_state(other, stored)
    assert_same_weights(other, model)
    with pytest.raises(RuntimeError, match="Missing key"):
        load_state(other, dict(list(stored.items())[1:]))


def test_equal_models_have_equal_files(exported):
    model = new_model(seed=1)
    files = {weights_of(model, beside=exported) for _ in range(20)}
    assert len(files) == 1
    assert load(files.pop()).keys() < load(weights_of(model)).keys()
