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
embedding = { kind = "words", size = 2 }
cell = { name = "nary_lstm.v1", hidden_size = 3 }
head = { name = "node_classifier.v1" }

[training]
epochs = 1
"""
FILES = {
    "recipe.toml": RECIPE,
    "train.txt": "(2 (1 film) (2 good))\n(0 awful)\n",
    "dev.txt": "(2 (1 film) (2 good))\n(0 awful)\n",
    "vectors.txt": "film 0.5 1.5\ngood -1 0.25\n",
}
DIVERGING = 'epochs = 3\nstop_on = "nothing"\nlearning_rate = 1e300'
PAIRS = '"relatedness.v1"\nformat = "table.v1"'
DEPENDENCY = '"child_sum_lstm.v1", hidden_size = 3 }\ntrees = "dependency"'


@pytest.fixture
def folder(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.fixture
def refusal(folder, cli):
    """Calls `thinstack train` and gives the message that it ends with."""

    def call(*options, recipe="recipe.toml"):
        answer = cli("train", folder / recipe, "--out", folder / "out", "--data", folder, *options)
        assert answer.code == 2
        assert not (folder / "out" / "model-best").exists()
        return answer.err

    return call


@pytest.mark.parametrize(
    ("name", "old", "new", "parts"),
    [
        ("recipe.toml", "epochs = 1", "epoch = 3", ["recipe.toml: training.epoch: Extra inputs"]),
        ("recipe.toml", "epochs = 1", "seeds = [-1]", [": training.seeds.0: ", "(found -1)"]),
        (
            "recipe.toml",
            "hidden_size = 3",
            "hidden_size = 3, options = { arity = 3 }",
            ["error: model.cell: NaryLSTM has arity 3", "arity 2"],
        ),
        ("recipe.toml", "nary_lstm", "magic", ["unknown cell 'magic.v1'; known: ", "nary_lstm.v1"]),
        (
            "recipe.toml",
            "epochs = 1",
            DIVERGING,
            ["error: the training diverged in epoch 1: ", "lower training.learning_rate"],
        ),
        ("recipe.toml", 'name = "tiny"', "name = ", ["recipe.toml: not a readable TOML recipe: "]),
        (
            "recipe.toml",
            '"phrases.v1"',
            PAIRS,
            ["error: model.head: task relatedness.v1 needs a head that reads pairs; "],
        ),
        (
            "recipe.toml",
            '"nary_lstm.v1", hidden_size = 3 }',
            DEPENDENCY,
            ["train.txt: tree 0: expected a dependency tree", "CoNLL-U"],
        ),
        ("train.txt", "(0 awful)", "(2 (1 film) (7 good))", ["train.txt:2: node 1 ('good')"]),
        ("dev.txt", "(0 awful)", "(2 (1 film) (7 good))", [f"one of {', '.join(LABELS)} or a"]),
        ("train.txt", "(0 awful)", "(2 (1 film) (2 good)", ["train.txt:2:21: unbalanced"]),
        ("vectors.txt", "0.25", "nan", ["vectors.txt: the vector of 'good' is not finite"]),
    ],
)
def test_a_recipe_or_a_file_that_cannot_be_used(folder, refusal, name, old, new, parts):
    assert old in FILES[name]
    (folder / name).write_text(FILES[name].replace(old, new), encoding="utf-8")
    message = refusal()
    assert [part for part in parts if part not in message] == []
    assert new == DIVERGING or not (folder / "out" / "seeds").exists()


def test_wrong_seeds(refusal):
    repeated = refusal("--seed", "1", "--seed", "2", "--seed", "1")
    assert "error: seeds must differ, found [1, 2, 1]" in repeated
    assert "Invalid value for '--seed'" in refusal("--seed", "-1")


def test_missing_files_are_named(folder, refusal):
    assert "none.toml: cannot be read: No such file" in refusal(recipe="none.toml")
    (folder / "dev.txt").unlink()
    assert "dev.txt: cannot be read: No such file" in refusal()


def test_an_output_folder_that_is_a_file(folder, refusal):
    (folder / "out").write_text("", encoding="utf-8")
    assert str(folder / "out") in refusal().removeprefix("error: ")
