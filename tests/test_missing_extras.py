"""Where an extra is not installed, the command line says which pip command mends that."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from runtime.last_word_model import write_last_word_bundle

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


def test_evaluate_needs_numpy_and_onnxruntime_only(bundle: Path) -> None:
    missing = (
        "torch",
        "safetensors",
        "sklearn",
        "scipy",
        "spacy",
        "thinc",
        "onnx",
        "onnxscript",
    )
    answer = thinstack("evaluate", bundle, bundle.parent / "trees.txt", "--json", blocked=missing)
    assert answer.returncode == 0, answer.stderr
    assert '"root_accuracy": 100.0' in answer.stdout
    assert answer.stderr == ""


def test_predict_needs_no_torch(bundle: Path) -> None:
    missing = ("torch", "safetensors", "sklearn", "scipy", "onnx", "onnxscript")
    answer = thinstack("predict", "A good film", "--model", bundle, blocked=missing)
    assert answer.returncode == 0, answer.stderr
    assert "film" in answer.stdout
    assert answer.stderr == ""


@pytest.mark.parametrize(
    "call",
    [
        "from thinstack.data.nltk import from_nltk; from_nltk(None)",
        "from thinstack.data.nltk import to_nltk; to_nltk(thinstack.Tree.left(['a']))",
    ],
)
def test_a_converter_names_the_extra_that_it_needs(call: str) -> None:
    program = f"import sys\nsys.modules['nltk'] = None\nimport thinstack\n{call}\n"
    answer = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert answer.returncode == 1
    message = (
        "MissingExtraError: this needs the package 'nltk', which is not installed: pip install "
        '"thinstack[trees]"'
    )
    assert answer.stderr.splitlines()[-1].endswith(message)
