"""Where an extra is not installed, the command line says which pip command mends that."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from last_word_model import write_last_word_bundle

from thinstack import Tree
from thinstack.data.nltk import from_nltk, to_nltk
from thinstack.errors import MissingExtraError

ROOT = Path(__file__).parents[1]
RECIPE = """
name = "tiny"
data = { train = "trees.txt", dev = "trees.txt" }

[model]
labels = ["bad", "so-so", "good"]
embedding = { kind = "words", size = 3 }
cell = { name = "nary_lstm.v1", hidden_size = 3 }
head = { name = "node_classifier.v1" }
"""


def thinstack(*args: str | Path, blocked: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    """The command line in a process of its own, where the packages `blocked` cannot be imported."""
    program = (
        f"import sys\nfor name in {blocked}: sys.modules[name] = None\nfrom thinstack.cli import "
        "main\nmain()\n"
    )
    return subprocess.run(
        [sys.executable, "-c", program, *map(str, args)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    (tmp_path / "trees.txt").write_text("(2 (1 film) (2 good))\n", encoding="utf-8")
    (tmp_path / "recipe.toml").write_text(RECIPE, encoding="utf-8")
    return write_last_word_bundle(tmp_path / "model").path


@pytest.mark.parametrize(
    ("package", "extra", "args"),
    [
        ("spacy", "spacy", ["predict", "good", "--model", "model"]),
        ("spacy", "spacy", ["evaluate", "model", "trees.txt", "--text", "--source", "auto"]),
        ("onnxruntime", "cpu", ["predict", "good", "--model", "model"]),
        ("onnxruntime", "cpu", ["evaluate", "model", "trees.txt"]),
        ("torch", "export", ["train", "recipe.toml", "--out", "out"]),
        ("onnxruntime", "cpu", ["train", "recipe.toml", "--out", "out"]),
        ("onnx", "export", ["train", "recipe.toml", "--out", "out"]),
    ],
)
def test_a_missing_extra_is_named_with_the_command_that_installs_it(
    bundle: Path, monkeypatch: pytest.MonkeyPatch, package: str, extra: str, args: list[str]
) -> None:
    monkeypatch.chdir(bundle.parent)
    answer = thinstack(*args, blocked=(package,))
    assert (answer.returncode, answer.stdout) == (2, "")
    message = (
        f"error: this needs the package '{package}', which is not installed: pip install "
        f'"thinstack[{extra}]"\n'
    )
    assert answer.stderr == message
    assert not (bundle.parent / "out").exists()


TRAINING = ("torch", "safetensors", "sklearn", "scipy", "onnx", "onnxscript")


@pytest.mark.parametrize(
    ("args", "missing", "parts"),
    [
        (
            ["evaluate", "model", "trees.txt", "--json"],
            ("spacy", "thinc"),
            ('"root_accuracy": 100.0',),
        ),
        (["predict", "The acting is superb."], (), ("positive", "acting", "superb")),
    ],
)
def test_running_a_model_needs_nothing_of_training(
    bundle: Path,
    monkeypatch: pytest.MonkeyPatch,
    args: list[str],
    missing: tuple[str, ...],
    parts: tuple[str, ...],
) -> None:
    monkeypatch.chdir(bundle.parent)
    answer = thinstack(*args, blocked=(*TRAINING, *missing))
    assert (answer.returncode, answer.stderr) == (0, "")
    assert all(part in answer.stdout for part in parts)


def test_a_converter_names_the_extra_that_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nltk", None)
    for call in (lambda: from_nltk(None), lambda: to_nltk(Tree.left(["a"]))):
        with pytest.raises(MissingExtraError, match=r"'nltk'.*thinstack\[trees\]"):
            call()
