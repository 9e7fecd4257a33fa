"""Whose a model is, and whether it is therefore isolated: one policy for whatever runs models."""

import multiprocessing
import pickle
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pytest
import spacy
from bundle_folders import GOLDEN, resealed
from command_line import run_command
from distributions import install_bundle
from last_word_model import write_last_word_bundle

import thinstack
from thinstack.bundle import open_bundle, write_bundle
from thinstack.bundle.gate import onnx_gate
from thinstack.bundle.manifest import CONFIG_FILE, ONNX_FILE
from thinstack.bundle.origin import is_isolated, is_own, note_own
from thinstack.cli.checks import examine
from thinstack.errors import InputError
from thinstack.integrations import spark
from thinstack.integrations.corpora import score_batches
from thinstack.integrations.corpora.run_manifest import Settings
from thinstack.integrations.corpora.workers import ModelSource
from thinstack.integrations.serving.server import PageServer
from thinstack.plugins.manager import manager
from thinstack.runtime import reference, scorer
from thinstack.runtime.isolated import IsolatedSession
from thinstack.runtime.predictor import Predictor
from thinstack.runtime.reference import check_cases

BATCH = pa.record_batch({"id": ["a"], "text": ["good"]})


@pytest.fixture(autouse=True)
def notes(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "thinstack" / "trained"


@pytest.fixture
def foreign(last_word, tmp_path):
    """A bundle that is noted nowhere, for it was written before there was this folder of notes."""
    return open_bundle(shutil.copytree(last_word.path, tmp_path / "model"))


@pytest.fixture
def asked(monkeypatch):
    """Whether each session that is opened was to be isolated."""
    found = []
    for module in (scorer, reference):
        real = module.open_session

        def recorded(*given, real=real, **more):
            found.append(more.get("isolated", False))
            return real(*given, **more)

        monkeypatch.setattr(module, "open_session", recorded)
    return found


def test_what_is_installed_is_own_by_every_byte_of_it(tmp_path):
    bundle = open_bundle("sentiment")
    copy = shutil.copytree(bundle.path, tmp_path / "copy")
    assert is_own(bundle)
    assert is_own(open_bundle(bundle.path))
    assert is_own(open_bundle(copy))
    resealed(lambda raw: raw.update(data="of somebody else"))(copy)
    assert not is_own(open_bundle(copy))


def test_what_another_distribution_brings_is_own(foreign, tmp_path, monkeypatch, request):
    assert not is_own(foreign)
    manager.cache_clear()
    request.addfinalizer(manager.cache_clear)
    install_bundle(tmp_path, "mine", foreign.path)
    monkeypatch.syspath_prepend(tmp_path)
    assert is_own(open_bundle("mine"))
    assert is_own(open_bundle(foreign.path))


def test_what_was_written_here_is_own_wherever_it_lies(notes, tmp_path):
    written = write_last_word_bundle(tmp_path / "model")
    assert [path.name for path in notes.iterdir()] == [written.manifest.digest]
    assert is_own(written)
    assert is_own(open_bundle(shutil.copytree(written.path, tmp_path / "elsewhere")))
    resealed(lambda raw: raw.update(data="of somebody else"))(written.path)
    assert not is_own(open_bundle(written.path))


def test_only_a_model_that_runs_is_noted(foreign, notes, tmp_path):
    files = {name: foreign.read(name) for name in foreign.manifest.files if name != CONFIG_FILE}
    write_bundle(tmp_path / "theirs", files, config=foreign.config, is_own=False)
    bare = {name: content for name, content in files.items() if not name.startswith("onnx")}
    write_bundle(tmp_path / "bare", bare, config=foreign.config)
    assert not notes.exists()


@pytest.mark.parametrize("state", ["file/state", "relative", ""])
def test_where_nothing_can_be_noted_nothing_is_own(foreign, tmp_path, monkeypatch, state):
    """A relative path is no such folder, by the specification."""
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "file"))
    monkeypatch.delenv("LOCALAPPDATA", raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / state) if "/" in state else state)
    note_own(foreign)
    assert not is_own(foreign)


def test_what_is_said_outright_holds(foreign):
    sst = open_bundle("sentiment")
    assert [is_isolated(sst, asked) for asked in (None, True, False)] == [False, True, False]
    assert [is_isolated(foreign, asked) for asked in (None, True, False)] == [True, True, False]
    assert is_isolated(sst, None, ["Softplus"])


def test_the_gate_checks_all_but_what_is_own(foreign, monkeypatch):
    checked = []
    monkeypatch.setattr(onnx_gate, "check_onnx", lambda file, **more: checked.append(file))
    sst = open_bundle("sentiment")
    Predictor(sst, threads=1)
    assert checked == []
    Predictor(sst, threads=1, isolated=False)
    for isolated in (None, True, False):
        Predictor(foreign, threads=1, isolated=isolated)
    assert checked == [each.read(ONNX_FILE) for each in (sst, foreign, foreign, foreign)]


def test_a_pickle_is_decided_anew(foreign, notes):
    """It holds a path, which may lead to another bundle by then."""
    again = pickle.loads(pickle.dumps(Predictor(foreign, threads=1)))
    assert isinstance(again._session, IsolatedSession)
    note_own(foreign)
    sent = pickle.dumps(Predictor(foreign, threads=1))
    assert not pickle.loads(sent).isolated
    shutil.rmtree(notes)
    assert pickle.loads(sent).isolated
    outright = pickle.dumps(Predictor(foreign, threads=1, isolated=False))
    assert not pickle.loads(outright).isolated


def component(model, isolated):
    nlp = spacy.blank("en")
    nlp.add_pipe("tree_sentiment", config={"model": model, "isolated": isolated})
    sent = spacy.blank("en")
    sent.add_pipe("tree_sentiment", config={"isolated": isolated}).from_bytes(
        nlp.get_pipe("tree_sentiment").to_bytes()
    )


def classifier(model, isolated):
    nlp = spacy.blank("en")
    made = nlp.add_pipe("tree_classifier", config={"isolated": isolated})
    pickle.loads(pickle.dumps(made.from_disk(model)))


def on_spark(model, isolated):
    session = SimpleNamespace(
        sparkContext=SimpleNamespace(broadcast=lambda value: SimpleNamespace(value=value))
    )
    with pytest.MonkeyPatch.context() as patch:
        for module in ("pyspark", "pyspark.sql"):
            patch.setitem(sys.modules, module, SimpleNamespace(SparkSession=None))
        sent = pickle.dumps(spark.scorer(model, spark=session, isolated=isolated))
    spark._loaded.cache_clear()
    list(pickle.loads(sent)([BATCH]))
    spark._loaded.cache_clear()


def corpus(model, isolated):
    settings = Settings(format="jsonl")
    by_path = ModelSource(model, isolated=isolated).scorer(settings).predictor
    ModelSource(str(by_path.bundle.path), isolated=isolated).scorer(settings)


DOORS = {
    "load": lambda model, isolated: thinstack.load(model, isolated=isolated),
    "score_batches": lambda model, isolated: list(score_batches([BATCH], model, isolated=isolated)),
    "check_cases": lambda model, isolated: check_cases(open_bundle(model), isolated=isolated),
    "doctor": lambda model, isolated: list(examine(model, isolated=isolated)),
    "tree_sentiment": component,
    "tree_classifier": classifier,
    "spark": on_spark,
    "corpora": corpus,
}


@pytest.mark.parametrize("name", DOORS)
def test_every_door_has_one_policy(name, asked, tmp_path):
    """The golden bundle has reference cases, and nobody here wrote it."""
    door, foreign = DOORS[name], str(shutil.copytree(GOLDEN / "words", tmp_path / "golden"))
    cases = ("sentiment", None, False), (foreign, None, True), (foreign, False, False)
    for model, isolated, wanted in cases:
        if name == "tree_classifier":
            model = str(open_bundle(model).path)
        asked.clear()
        door(model, isolated)
        if name == "tree_sentiment":
            asked[:] = asked[-1:]  # the component that reads it starts with sst
        assert set(asked) == {wanted}, (model, isolated)


def test_a_loaded_model_is_isolated_already_or_not(last_word):
    with pytest.raises(InputError, match="isolated"):
        score_batches([BATCH], Predictor(last_word, threads=1), isolated=True)


@pytest.mark.parametrize("said", [None, "--no-isolated", "--isolated"])
@pytest.mark.parametrize(
    "command",
    [
        ["predict", "good", "--model", "MODEL"],
        ["predict", "--input", "texts.txt", "--out", "out", "--jobs", "0", "--model", "MODEL"],
        ["evaluate", "MODEL", "texts.csv"],
        ["doctor", "--model", "GOLDEN"],
        ["serve", "MODEL", "--port", "0", "--no-open"],
    ],
)
def test_every_command_has_the_same(command, said, foreign, asked, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(PageServer, "serve_forever", lambda self: None)
    monkeypatch.chdir(tmp_path)
    Path("texts.txt").write_text("good\n")
    Path("texts.csv").write_text("text,label\ngood,good\n")
    paths = {"MODEL": str(foreign.path), "GOLDEN": str(GOLDEN / "words")}
    given = [*(paths.get(part, part) for part in command), *filter(None, [said])]
    found = run_command(monkeypatch, capsys, *given)
    assert found.code == 0 or command[0] == "doctor", found.err
    assert asked == [said != "--no-isolated"]


def _scored(path, answer):
    found = thinstack.load(path, threads=1)
    answer.put((found.isolated, found.predict([["good"]])[0].label))


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_a_daemon_may_isolate(foreign, method):
    """Python lets it have no processes of `multiprocessing`."""
    context = multiprocessing.get_context(method)
    answer = context.Queue()
    context.Process(target=_scored, args=(str(foreign.path), answer), daemon=True).start()
    assert answer.get(timeout=60) == (True, "good")
