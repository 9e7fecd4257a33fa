"""Where an extra is not installed, the command line says which pip command mends that."""

import json
import sys

import pytest
from command_line import python
from last_word_model import write_last_word_bundle

from thinstack import Tree
from thinstack.bundle import open_bundle
from thinstack.bundle.origin import note_own
from thinstack.data.trees.nltk import from_nltk, to_nltk
from thinstack.errors import MissingExtraError

RECIPE = """
name = "tiny"
task = { name = "phrases.v1" }
data = { train = "trees.txt", dev = "trees.txt" }

[model]
labels = ["bad", "so-so", "good"]
embedding = { kind = "words", size = 3 }
cell = { name = "nary_lstm.v1", hidden_size = 3 }
head = { name = "node_classifier.v1" }
"""


PROGRAM = """
import json, sys
for name in json.loads(sys.argv[1]): sys.modules[name] = None
from thinstack.cli import main
for command in json.loads(sys.argv[2]):
    sys.argv = ["thinstack", *command]
    try: main()
    except SystemExit as end: print(f"exit code {end.code or 0}", file=sys.stderr)
"""


def run(*commands, blocked):
    """Output and errors of commands in one process, where the packages `blocked` are missing."""
    done = python(PROGRAM, json.dumps(blocked), json.dumps(commands))
    return done.stdout, done.stderr


@pytest.fixture
def bundle(tmp_path):
    (tmp_path / "trees.txt").write_text("(2 (1 film) (2 good))\n", encoding="utf-8")
    (tmp_path / "recipe.toml").write_text(RECIPE, encoding="utf-8")
    return write_last_word_bundle(tmp_path / "model").path


PREDICT = ["predict", "good", "--model", "model"]
EVALUATE = ["evaluate", "model", "trees.txt"]
TRAIN = ["train", "recipe.toml", "--out", "out"]
FINISH = ["finish", "pipeline", "out"]


@pytest.mark.parametrize(
    ("package", "extras"),
    [
        ("onnxruntime", [("cpu", PREDICT), ("cpu", EVALUATE), ("cpu", TRAIN)]),
        ("torch", [("export", TRAIN), ("export", FINISH)]),
        ("onnx", [("export", TRAIN)]),
        ("spacy", [("spacy", FINISH)]),
    ],
)
def test_a_missing_extra_is_named_with_the_command_that_installs_it(
    bundle, monkeypatch, package, extras
):
    monkeypatch.chdir(bundle.parent)
    note_own(open_bundle(bundle))  # A model of others runs in a process where all is there.
    out, err = run(*(command for _, command in extras), blocked=(package,))
    problem = f"error: this needs the package '{package}', which is not installed"
    remedies = (f"pip install {package}, or install thinstack with its extra '{extra}'"
                for extra, _ in extras)  # fmt: skip
    assert err == "".join(f"{problem}: {remedy}\nexit code 2\n" for remedy in remedies)
    assert out == ""
    assert not (bundle.parent / "out").exists()


TRAINING = ("torch", "safetensors", "sklearn", "scipy", "onnx", "onnxscript")


def test_running_a_model_needs_nothing_of_training(bundle, monkeypatch):
    monkeypatch.chdir(bundle.parent)
    scores = [*EVALUATE, "--json"], [*EVALUATE, "--json", "--raw-text", "--source", "auto"]
    phrases = ["predict", "The acting is superb."]
    out, err = run(*scores, phrases, blocked=(*TRAINING, "spacy", "thinc"))
    assert err == "exit code 0\n" * 3
    assert out.count('"root_accuracy": 100.0') == 2
    assert all(part in out for part in ("positive", "acting", "superb"))


def test_a_converter_names_the_extra_that_it_needs(monkeypatch):
    monkeypatch.setitem(sys.modules, "nltk", None)
    for call in (lambda: from_nltk(None), lambda: to_nltk(Tree.left(["a"]))):
        with pytest.raises(MissingExtraError, match=r"pip install nltk,.*'trees'"):
            call()
