"""Errors say what they know, survive the way between processes, and name missing extras."""

import copy
import json
import pickle
import sys
from importlib import metadata

import pytest
from command_line import python
from last_word_model import write_last_word_bundle

from thinstack import Tree, errors
from thinstack.bundle import open_bundle
from thinstack.bundle.origin import note_own
from thinstack.data.trees.nltk import from_nltk, to_nltk
from thinstack.errors import MissingExtraError, TreeError, UnknownNameError, needs_extra, shown

PLAIN = [errors.BundleError, errors.ConfigError, errors.DataError, errors.DeviceError]
PLAIN += [errors.ExportError, errors.InputError, errors.PluginError, errors.StoppedError]
EXAMPLES = [
    *(kind("what went wrong") for kind in PLAIN),
    TreeError("unbalanced", source="dev.txt", line=3, column=14),
    TreeError("no root"),
    UnknownNameError("cell", "nary", ["b.v1", "a.v1"], ["install it"]),
    MissingExtraError("onnxruntime", "cpu"),
]


def test_every_public_error_is_here():
    kinds = [kind for kind in map(vars(errors).get, errors.__all__) if isinstance(kind, type)]
    found = {kind.__name__ for kind in kinds if not issubclass(kind, Warning)}
    assert {type(error).__name__ for error in EXAMPLES} | {"ThinstackError"} == found


@pytest.mark.parametrize("error", EXAMPLES, ids=repr)
@pytest.mark.parametrize(
    "again", [copy.copy, lambda error: pickle.loads(pickle.dumps(error))], ids=["copy", "pickle"]
)
def test_errors_survive_pickling(error, again):
    other = again(error)
    assert type(other) is type(error)
    assert str(other) == str(error)
    assert vars(other) == vars(error)
    assert isinstance(other, errors.ThinstackError)


@pytest.mark.parametrize(
    ("package", "pip"),
    [("onnxruntime", "onnxruntime"), ("sklearn", "scikit-learn"), ("tomli_w", "tomli-w")],
)
def test_the_pip_command_names_a_package_that_any_index_has(package, pip):
    missing = str(MissingExtraError(package, "cpu"))
    assert f"the package {package!r}" in missing
    assert f"pip install {pip}, or install thinstack with the extra 'cpu'" in missing


def test_the_pip_command_names_all_that_the_extra_lacks(monkeypatch):
    lines = ["numpy>=1", "torch>=2; extra == 'export'", "scipy>=1; extra == 'train'"]
    lines += ["nowhere-a<3,>=2; extra == 'export'", 'numpy; extra == "export"']
    monkeypatch.setattr(metadata, "requires", lambda name: lines)
    assert "pip install torch nowhere-a, or" in str(MissingExtraError("torch", "export"))


def test_a_missing_import_becomes_a_missing_extra():
    with pytest.raises(MissingExtraError, match="'nowhere'") as caught, needs_extra("cpu"):
        import nowhere.below  # noqa: F401
    assert caught.value.extra == "cpu"


@pytest.mark.parametrize(
    "error",
    [
        ImportError("libthing.so: not found"),  # the package is there, but broken
        ModuleNotFoundError("no thinc", name="thinc"),  # a package that spaCy itself needs
        ModuleNotFoundError("no thinstack.x", name="thinstack.x"),
    ],
)
def test_any_other_failed_import_is_raised_as_it_is(error):
    with pytest.raises(type(error)) as caught, needs_extra("spacy", "spacy"):
        raise error
    assert caught.value is error


@pytest.mark.parametrize(
    ("kind", "builtin"),
    [
        (TreeError, ValueError),
        (errors.DataError, ValueError),
        (errors.ConfigError, ValueError),
        (errors.InputError, ValueError),
        (UnknownNameError, LookupError),
        (errors.DeviceError, RuntimeError),
        (MissingExtraError, ImportError),
    ],
)
def test_errors_are_caught_as_python_would(kind, builtin):
    assert issubclass(kind, builtin)


@pytest.mark.parametrize("kind", [*PLAIN, TreeError])
def test_messages_show_what_could_act_on_a_terminal(kind):
    error = kind("\x1b[31m\r\nX\u202e\u200f\U000e0041\ud800.csv: naïve 👩\u200d🚀")
    assert str(error) == ("\\x1b[31m\\r\\nX\\u202e\\u200f\\U000e0041\\ud800.csv: naïve 👩\u200d🚀")
    assert f"{error}" == str(error)


def test_what_was_found_is_shown_whatever_it_is():
    deep = []
    for _ in range(100_000):
        deep = [deep]
    assert shown("a\x1b") == r"'a\x1b'"
    assert shown("x" * 1000, 10) == "'xxxxxxxxx"
    assert shown(deep) == "list (cannot be printed)"
    assert shown(10**5000) == "int (cannot be printed)"


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
    problem = f"error: the package '{package}' is not installed"
    remedies = (f"pip install {package}, or install thinstack with the extra '{extra}'"
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
