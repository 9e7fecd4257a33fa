"""Weights of a model, into a bundle and out of it."""

from pathlib import Path

import pytest
import torch

from thinstack.bundles import Bundle, write_bundle
from thinstack.config import CellConfig, EmbeddingConfig, HeadConfig, ModelConfig
from thinstack.errors import BundleError
from thinstack.models import TreeModel, build_model, load_model, weights_of

CONFIG = ModelConfig(
    labels=("bad", "good"),
    embedding=EmbeddingConfig(kind="words", size=3, dropout=0.5),
    cell=CellConfig(name="nary_lstm.v1", hidden_size=4),
    head=HeadConfig(name="node_classifier.v1"),
)
WORDS = b"good\nbad\n"


def new_model(seed: int = 0) -> TreeModel:
    torch.manual_seed(seed)
    return build_model(CONFIG, entries=3)


def bundle(folder: Path, weights: bytes | None) -> Bundle:
    files = {"vocabulary.txt": WORDS} | ({} if weights is None else {"model.safetensors": weights})
    return write_bundle(folder, files, config=CONFIG)


def test_a_model_comes_back_as_it_was_in_evaluation_mode(tmp_path: Path) -> None:
    model = new_model()
    written = bundle(tmp_path / "model", weights_of(model))
    for source in (written, written.path, str(written.path)):
        loaded = load_model(source)
        assert not any(module.training for module in loaded.modules())
        weights = loaded.state_dict()
        assert weights.keys() == model.state_dict().keys()
        assert all(torch.equal(value, weights[name]) for name, value in model.state_dict().items())


def test_weights_that_share_memory_are_kept(tmp_path: Path) -> None:
    model = new_model()
    model.head.linear.bias = torch.nn.Parameter(model.embedding.table.detach()[0, :2])
    loaded = load_model(bundle(tmp_path / "model", weights_of(model)))
    assert torch.equal(loaded.head.linear.bias, model.embedding.table[0, :2])
    assert torch.equal(loaded.embedding.table, model.embedding.table)


def test_an_inference_only_bundle_has_no_weights_to_give(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match="inference-only bundle, without torch weights; train its recipe"):
        load_model(bundle(tmp_path / "model", None))


def test_weights_of_another_configuration_are_refused(tmp_path: Path) -> None:
    other = build_model(CONFIG.model_copy(update={"cell": CellConfig(name="nary_lstm.v1", hidden_size=5)}), entries=3)
    for number, weights in enumerate([weights_of(other), b"no safetensors", b""]):
        with pytest.raises(BundleError, match=r"model\.safetensors: not the weights of this configuration"):
            load_model(bundle(tmp_path / str(number), weights))
