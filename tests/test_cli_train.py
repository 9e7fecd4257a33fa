"""`thinstack train`: what goes wrong before training ends in one message and exit code 2."""

import sys
from pathlib import Path

import pytest
from runtime.last_word_model import LABELS

from thinstack.cli import main

RECIPE = """
name = "tiny"

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
def folder(tmp_path: Path) -> Path:
    for name in ("train.txt", "dev.txt"):
        (tmp_path / name).write_text("(2 (1 film) (2 good))\n(0 awful)\n", encoding="utf-8")
    (tmp_path / "vectors.txt").write_text("film 0.5 1.5\ngood -1 0.25\n", encoding="utf-8")
    write_recipe(tmp_path)
    return tmp_path


def write_recipe(
    folder: Path, *, cell: str = "nary_lstm.v1", options: str = "", training: str = "epochs = 1"
) -> None:
    (folder / "recipe.toml").write_text(
        RECIPE.format(cell=cell, options=options, training=training), encoding="utf-8"
    )


class Train:
    def __init__(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ):
        self.folder, self.monkeypatch, self.capsys = folder, monkeypatch, capsys

    def refusal(self, *options: str, recipe: str = "recipe.toml") -> str:
        """The message that `thinstack train` ends with."""
        args = [
            str(self.folder / recipe),
            "--out",
            str(self.folder / "out"),
            "--data",
            str(self.folder),
            *options,
        ]
        self.monkeypatch.setattr(sys, "argv", ["thinstack", "train", *args])
        with pytest.raises(SystemExit) as end:
            main()
        error = self.capsys.readouterr().err
        assert end.value.code == 2
        assert "Traceback" not in error
        assert not (self.folder / "out" / "model-best").exists()
        return error


@pytest.fixture
def train(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Train:
    return Train(folder, monkeypatch, capsys)


def test_a_missing_recipe(train: Train) -> None:
    assert "none.toml: not a readable TOML recipe: " in train.refusal(recipe="none.toml")


def test_a_recipe_that_is_not_toml(train: Train) -> None:
    (train.folder / "recipe.toml").write_text("name = ", encoding="utf-8")
    assert (
        "recipe.toml: not a readable TOML recipe: Invalid value (at end of document)"
        in train.refusal()
    )


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("epochs = 0", "training.epochs: Input should be greater than 0 (found 0)"),
        ("epoch = 3", "training.epoch: Extra inputs are not permitted"),
        ("seeds = []", "training.seeds: Tuple should have at least 1 item"),
        ("seeds = [-1]", "training.seeds.0: Input should be greater than or equal to 0 (found -1)"),
    ],
)
def test_a_setting_that_does_not_validate(train: Train, setting: str, message: str) -> None:
    write_recipe(train.folder, training=setting)
    assert f"recipe.toml: {message}" in train.refusal()


def test_a_repeated_seed(train: Train) -> None:
    assert "error: seeds must differ, got [1, 2, 1]" in train.refusal(
        "--seed", "1", "--seed", "2", "--seed", "1"
    )


def test_a_cell_for_other_than_binary_trees(train: Train) -> None:
    write_recipe(train.folder, options="arity = 3")
    message = train.refusal()
    assert message.startswith("error: model.cell: NaryLSTM has arity 3")
    assert "a model of binary trees needs arity 2 (or 0, any number)" in message
    assert not (train.folder / "out" / "seeds").exists()


def test_a_task_that_the_head_does_not_read(train: Train) -> None:
    text = (train.folder / "recipe.toml").read_text(encoding="utf-8")
    pairs = text.replace("[data]", '[data]\ntask = "relatedness"\nformat = "sick.v1"')
    (train.folder / "recipe.toml").write_text(pairs, encoding="utf-8")
    message = train.refusal()
    assert message.startswith(
        "error: model.head: data.task = 'relatedness' needs a head that reads pairs; "
    )
    assert "node_classifier.v1 reads nodes" in message


def test_a_dependency_model_of_a_treebank_of_phrases(train: Train) -> None:
    write_recipe(train.folder, cell="child_sum_lstm.v1")
    text = (train.folder / "recipe.toml").read_text(encoding="utf-8")
    (train.folder / "recipe.toml").write_text(
        text.replace("[model]", '[model]\ntrees = "dependency"'), encoding="utf-8"
    )
    message = train.refusal()
    assert "train.txt: tree 0: has nodes without a word" in message
    assert "data.parser" in message


def test_a_negative_seed(train: Train) -> None:
    assert "Invalid value for '--seed'" in train.refusal("--seed", "-1")


def test_an_unknown_cell_is_refused_with_the_known_ones(train: Train) -> None:
    write_recipe(train.folder, cell="magic.v1")
    message = train.refusal()
    assert message.startswith("error: unknown cell 'magic.v1'; known: ")
    assert "nary_lstm.v1" in message


@pytest.mark.parametrize("name", ["train.txt", "dev.txt"])
def test_a_label_out_of_range_is_placed(train: Train, name: str) -> None:
    with (train.folder / name).open("a", encoding="utf-8") as file:
        file.write("(2 (1 film) (7 good))\n")
    message = train.refusal()
    assert (
        f"{name}:3: node 1 ('good') has the label '7'; expected one of {', '.join(LABELS)} or a "
        "number" in message
    )


def test_an_unbalanced_bracket_is_placed(train: Train) -> None:
    (train.folder / "train.txt").write_text("(1 film)\n(2 (1 film) (2 good)\n", encoding="utf-8")
    assert "train.txt:2:21: unbalanced" in train.refusal()


@pytest.mark.parametrize("value", ["nan", "inf", "-inf"])
def test_vectors_that_are_not_finite_are_refused(train: Train, value: str) -> None:
    (train.folder / "vectors.txt").write_text(f"film 0.5 1.5\ngood -1 {value}\n", encoding="utf-8")
    assert "vectors.txt: the vector of 'good' is not finite (1 such words)" in train.refusal()


def test_training_that_diverges(train: Train) -> None:
    write_recipe(train.folder, training='epochs = 3\nstop_on = "nothing"\nlearning_rate = 1e300')
    message = train.refusal()
    assert "error: the training diverged in epoch 1: " in message
    assert "lower training.learning_rate or training.vector_learning_rate" in message


def test_missing_data_are_named(train: Train) -> None:
    (train.folder / "dev.txt").unlink()
    assert "dev.txt: cannot be read: No such file" in train.refusal()


def test_an_output_folder_that_is_a_file(train: Train) -> None:
    (train.folder / "out").write_text("", encoding="utf-8")
    message = train.refusal()
    assert message.startswith("error: ")
    assert str(train.folder / "out") in message
