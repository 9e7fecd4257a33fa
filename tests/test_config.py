"""Configurations: what they take, what they refuse and how they say so."""

import json

import pytest

from thinstack.core.config import ModelConfig
from thinstack.errors import ConfigError
from thinstack.training.recipe import Recipe, TrainingConfig

MODEL = {
    "schema_version": 1,
    "labels": ["bad", "neutral", "good"],
    "embedding": {"kind": "wordpieces", "size": 100, "dropout": 0.1, "name": "x.v1", "options": {}},
    "cell": {"name": "nary_lstm.v1", "hidden_size": 150, "options": {"arity": 2}},
    "head": {"name": "node_classifier.v1", "options": {"dropout": 0.5}},
    "encoder": {
        "name": None,
        "options": {},
        "layers": 2,
        "top_down": {"name": "down.v1", "hidden_size": 150, "options": {"inputs": "per_side"}},
        "separate": True,
        "readout": ["leaves", "up"],
        "tracker": None,
    },
    "parser": None,
    "trees": "dependency",
    "relations": ["nsubj", "det"],
    "tree_source": "right",
    "class_sets": {},
    "class_weights": [],
    "vectors": None,
    "aggregation": "mean",
}

RECIPE = """
name = "small"
description = "Recipe of a test."

[task]
name = "phrases.v1"

[data]
train = "sst/train.txt"
dev = "sst/dev.txt"
vectors = "glove.npz"
vector_std = 0.3

[model]
labels = ["bad", "good"]
embedding = { kind = "words", size = 50 }
cell = { name = "nary_lstm.v1", hidden_size = 150 }
head = { name = "node_classifier.v1" }

[training]
seeds = [1, 2]
sources = ["balanced"]

[export]
quantize = "int8-tables"
"""


FROM_TRAINING = RECIPE[RECIPE.index("[training]") :]
OF_NO_PARSER = """
[model.encoder]
tracker = { size = 3, parses = false }

[training]
sources = ["self"]
"""


@pytest.fixture
def recipe(tmp_path):
    """Write a recipe, with a piece of text replaced."""

    def write(old="", new=""):
        assert old in RECIPE
        path = tmp_path / "recipe.toml"
        path.write_text(RECIPE.replace(old, new) if old else RECIPE, encoding="utf-8")
        return path

    return write


def changed(**fields):
    return {**MODEL, **fields}


def test_a_model_config_goes_through_json():
    config = ModelConfig.parse(MODEL, source="config.json")
    data = json.loads(config.model_dump_json())
    assert data == MODEL
    assert ModelConfig.parse(data, source="config.json") == config


TRACKER = {"tracker": {"size": 3}}
SMALL = {key: MODEL[key] for key in ("labels", "embedding", "cell", "head")}


def with_tracker(tracker=None, **fields):
    return {**SMALL, "encoder": {"tracker": {"size": 3, **(tracker or {})}}, **fields}


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (with_tracker(), "self"),
        (with_tracker(tree_source="right"), "right"),
        (with_tracker({"parses": False}), "balanced"),
        (SMALL, "balanced"),
    ],
)
def test_the_trees_of_raw_words_are_the_models_own_if_it_parses(data, expected):
    """Whether the encoder comes as plain data or as what was made of it."""
    config = ModelConfig.parse(data, source="config.json")
    assert config.tree_source == expected
    assert ModelConfig(**{**data, "encoder": config.encoder}) == config
    assert ModelConfig.parse(config.model_dump(), source="again") == config


@pytest.mark.parametrize(
    ("data", "field", "found"),
    [
        (changed(schema_version=2), "schema_version", "2"),
        (changed(labels=["a", "b", "a"]), "labels must differ", "['a', 'b', 'a']"),
        (changed(trees="binary"), "relations need trees = 'dependency'", "'binary'"),
        (changed(encoder={"layers": 0}), "encoder.layers", "0"),
        (changed(encoder={"top_down": {"name": "x.v1"}}), "encoder.top_down.CellConfig", "x.v1"),
        (changed(embedding={"kind": "characters", "size": 3}), "embedding.kind", "'characters'"),
        (with_tracker(encoder={**TRACKER, "layers": 2}), "layers = 1", "2"),
        (with_tracker(trees="dependency"), "trees = 'binary', found 'dependency'", ""),
        (with_tracker({"parses": False}, tree_source="self"), "needs a parser", ""),
        ({"id2label": {}}, "embedding: Field required", "{}"),
        ([], "it: Input should be", "[]"),
    ],
)
def test_an_error_names_the_file_the_field_and_what_was_found(data, field, found):
    with pytest.raises(ConfigError) as caught:
        ModelConfig.parse(data, source="model/config.json")
    message = str(caught.value)
    assert message.startswith("model/config.json: ")
    assert field in message
    assert found in message
    assert "Value error" not in message


def test_label_ids_are_written_and_read_and_are_no_fields():
    config = ModelConfig.parse({**SMALL, "labels": ["schön", "bad"]}, source="config.json")
    written = json.loads(config.to_json())
    assert written["id2label"] == {"0": "schön", "1": "bad"}
    assert written["label2id"] == {"schön": 0, "bad": 1}
    assert ModelConfig.parse(written, source="config.json") == config
    assert "schön" in config.to_json()
    del written["id2label"], written["label2id"]
    assert written == config.model_dump(mode="json")


def test_all_problems_are_told_at_once():
    broken = changed(labels=[1], cell={"name": "x.v1", "hidden_size": -1}, colour=1)
    with pytest.raises(ConfigError, match=r"labels\.0: .*; cell\.hidden_size: .*; colour: "):
        ModelConfig.parse(broken, source="config.json")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('name = "small"', "name = small", "not a readable TOML recipe: Invalid value .*line 2"),
        ("[training]", "[training", "not a readable TOML recipe: .*line 20"),
        ('name = "small"', 'name = "../small"', "name: String should match pattern"),
        ("seeds = [1, 2]", "seeds = [3, 1, 3]", r"training: .*must differ, found \[3, 1, 3\]"),
        ("seeds = [1, 2]", "seeds = [9223372036854775808]", "training.seeds.0: .* less than"),
        ('["balanced"]', '["gold"]', "training.sources.0: .* \\(found 'gold'\\)"),
        ('dev = "sst/dev.txt"', "", r"data: .*\(dev\), how .* \(dev_size\)"),
        ('"phrases.v1"', '"phrases.v1"\nrelabel = { "0" = 1 }', "task.relabel.0: .* valid string"),
        ("[training]", '[training]\nlabels = "roots"', "training.labels: "),
        (FROM_TRAINING, OF_NO_PARSER, r".*'self' needs a model\.parser"),
    ],
)
def test_a_recipe_that_is_refused(recipe, old, new, message):
    path = recipe(old, new)
    with pytest.raises(ConfigError, match=f"^{path}: {message}"):
        Recipe.read(path)


def test_a_recipe_that_cannot_be_read(tmp_path):
    path = tmp_path / "recipe.toml"
    with pytest.raises(ConfigError, match=r"recipe\.toml: .*No such file"):
        Recipe.read(path)
    path.write_bytes(b'name = "caf\xe9"')
    with pytest.raises(ConfigError, match="'utf-8' codec"):
        Recipe.read(path)
    with pytest.raises(ConfigError, match="TOML recipe"):
        Recipe.read(tmp_path)


def test_a_recipe_without_gold_trees_names_others():
    assert TrainingConfig(sources=("left",)).trees == ("gold", "left")
    assert TrainingConfig(gold=False, sources=("left", "right")).trees == ("left", "right")
    with pytest.raises(ValueError, match="leaves no trees to train on"):
        TrainingConfig(gold=False)
