"""A recipe that starts from a pretrained encoder, from its data to its bundle's predictions."""

import numpy as np
import pytest
import torch
from runs import run
from tiny_encoder import POSITIONS, WIDTH, contextual_recipe, write_encoder
from trained import train
from training import tiny_recipe

import thinstack
from thinstack.bundle.weights import load_model
from thinstack.errors import InputError
from thinstack.training.loop.initial import initial_model
from thinstack.training.recipe import Recipe

TRAINING = {
    "epochs": 2,
    "rule": "adamw",
    "learning_rate": 0.01,
    "warm_up": 0.1,
    "clip": 5.0,
    "lessons": [{"name": "alone.v1"}],
    "sources": (),
}
CELL = {"name": "mean_beside.v1", "hidden_size": 8, "options": {"columns": WIDTH}}
PIECES = POSITIONS - 2


def recipe(**sections):
    options = {"rows": True, "static": 4}
    vectors = {"vectors": "static.txt"} if "init" not in sections else {}
    given = {"model": {"parser": {"name": "distances.v1"}, "tree_source": "self"}}
    return contextual_recipe(
        options,
        embedding={"size": 2 * WIDTH + 4},
        data={"encoder": "encoder"} | vectors,
        cell=CELL,
        **given,
        **TRAINING | sections,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tiny_recipe.write_data(tmp_path_factory.mktemp("contextual"))
    write_encoder(folder / "encoder")
    pieces = (folder / "encoder" / "vocab.txt").read_text(encoding="utf-8").split()
    rows = (f"{piece} {n / 50} {-n / 50} {n % 3} {n % 5}\n" for n, piece in enumerate(pieces))
    (folder / "static.txt").write_text("".join(rows), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def trained(folder):
    export = {"quantize": "int8", "inference_only": True}
    return train(recipe(export=export), folder, folder / "out")


def test_the_bundle_is_loaded_and_cuts_sentences_to_the_positions(trained):
    predictor = thinstack.load(trained.bundle.path)
    short, long = predictor.predict([["good", "film"], ["lovely", "dull"] * 200])
    assert len(short.parts) == 1
    counts = predictor.vocabulary.fields(["lovely", "dull"])["pieces_per_word"]
    assert counts.tolist() == [2, 1]
    pieces = [sum(counts[i % 2] for i in range(*part)) for part in long.parts]
    assert sum(pieces) == 600
    assert PIECES / 2 < max(pieces) <= PIECES
    with pytest.raises(
        InputError, match=f"sentence 1: the word [ut]+ has {PIECES + 1} .* {PIECES}:"
    ):
        predictor.predict([["good"], ["film", ("ut" * PIECES)[: PIECES + 1]]])


def test_figures_and_weights_are_those_of_the_bundle(trained):
    report = trained.results["dev"]
    assert report
    model = load_model(trained.bundle)
    assert any(bool(layer.wider.bound.any()) for layer in model.embedding.encoder.layers)
    assert not (trained.bundle.path / "torchscript").exists()


def test_learning_starts_from_the_bundle(trained, folder, tmp_path):
    init = {"bundle": str(trained.bundle.path), "parts": ["embedding", "encoder", "parser", "head"]}
    again = Recipe.parse(recipe().model_dump() | {"init": init | {"frozen": []}}, source="test")
    model, given = initial_model(again, np.zeros((55, 1), np.float32)), load_model(trained.bundle)
    for name, value in given.state_dict().items():
        assert torch.equal(model.state_dict()[name], value), name
    after, history = run(again, folder, tmp_path)
    assert len(history) == 2
    assert not np.array_equal(after["embedding.static"], given.state_dict()["embedding.static"])
