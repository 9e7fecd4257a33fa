"""`thinstack train`: what goes wrong before training ends in one message and exit code 2."""

import pytest
from last_word_model import LABELS

RECIPE = """
name = "tiny"

[task]
name = "phrases.v1"

[data]
train = "train.txt"
dev = "dev.txt"
vectors = "vectors.txt"

[model]
labels = ["bad", "so-so", "good"]
embedding = {{ kind = "words", size = 2 }}
cell = {{ name = "{cell}", hidden_size = 3, options = {{ {options} }} }}
head = {{ name = "node_classifier.v1" }}

[training]
{training}
"""


@pytest.fixture
def folder(tmp_path):
    for name in ("train.txt", "dev.txt"):
        (tmp_path / name).write_text("(2 (1 film) (2 good))\n(0 awful)\n", encoding="utf-8")
    (tmp_path / "vectors.txt").write_text("film 0.5 1.5\ngood -1 0.25\n", encoding="utf-8")
    write_recipe(tmp_path)
    return tmp_path


def write_recipe(folder, *, cell="nary_lstm.v1", options="", training="epochs = 1"):
    text = RECIPE.format(cell=cell, options=options, training=training)
    (folder / "recipe.toml").write_text(text, encoding="utf-8")


@pytest.fixture
def refusal(folder, cli):
    """Calls `thinstack train` and gives the message that it ends with."""

    def call(*options, recipe="recipe.toml"):
        answer = cli("train", folder / recipe, "--out", folder / "out", "--data", folder, *options)
        assert answer.code == 2
        assert not (folder / "out" / "model-best").exists()
        return answer.err

    return call


def replace(folder, name, old, new):
    text = (folder / name).read_text(encoding="utf-8")
    assert old in text
    (folder / name).write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.parametrize(
    ("settings", "parts"),
    [
        ({"training": "epoch = 3"}, ["recipe.toml: training.epoch: Extra inputs"]),
        ({"training": "seeds = [-1]"}, ["recipe.toml: training.seeds.0: ", "(found -1)"]),
        ({"options": "arity = 3"}, ["error: model.cell: NaryLSTM has arity 3", "arity 2"]),
        ({"cell": "magic.v1"}, ["error: unknown cell 'magic.v1'; known: ", "nary_lstm.v1"]),
        (
            {"training": 'epochs = 3\nstop_on = "nothing"\nlearning_rate = 1e300'},
            ["error: the training diverged in epoch 1: ", "lower training.learning_rate"],
        ),
    ],
)
def test_a_recipe_that_cannot_be_trained(folder, refusal, settings, parts):
    write_recipe(folder, **settings)
    message = refusal()
    assert [part for part in parts if part not in message] == []
    assert "diverged" in message or not (folder / "out" / "seeds").exists()


@pytest.mark.parametrize(
    ("name", "old", "new", "part"),
    [
        ("recipe.toml", 'name = "tiny"', "name = ", "recipe.toml: not a readable TOML recipe: "),
        (
            "recipe.toml",
            '"phrases.v1"',
            '"relatedness.v1"\nformat = "table.v1"',
            "error: model.head: task relatedness.v1 needs a head that reads pairs; ",
        ),
        ("train.txt", "(0 awful)", "(2 (1 film) (7 good))", "train.txt:2: node 1 ('good')"),
        ("dev.txt", "(0 awful)", "(2 (1 film) (7 good))", f"one of {', '.join(LABELS)} or a"),
        ("train.txt", "(0 awful)", "(2 (1 film) (2 good)", "train.txt:2:21: unbalanced"),
        ("vectors.txt", "0.25", "nan", "vectors.txt: the vector of 'good' is not finite"),
    ],
)
def test_a_file_that_cannot_be_used(folder, refusal, name, old, new, part):
    replace(folder, name, old, new)
    assert part in refusal()


def test_a_dependency_model_of_a_treebank_of_phrases(folder, refusal):
    write_recipe(folder, cell="child_sum_lstm.v1")
    replace(folder, "recipe.toml", "[model]", '[model]\ntrees = "dependency"')
    message = refusal()
    assert "train.txt: tree 0: expected a dependency tree" in message
    assert "CoNLL-U" in message


def test_wrong_seeds(refusal):
    repeated = refusal("--seed", "1", "--seed", "2", "--seed", "1")
    assert "error: seeds must differ, got [1, 2, 1]" in repeated
    assert "Invalid value for '--seed'" in refusal("--seed", "-1")


def test_missing_files_are_named(folder, refusal):
    assert "none.toml: cannot be read: No such file" in refusal(recipe="none.toml")
    (folder / "dev.txt").unlink()
    assert "dev.txt: cannot be read: No such file" in refusal()


def test_an_output_folder_that_is_a_file(folder, refusal):
    (folder / "out").write_text("", encoding="utf-8")
    message = refusal()
    assert message.startswith("error: ")
    assert str(folder / "out") in message
