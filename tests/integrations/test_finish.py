"""From spaCy's training command to a pipeline that needs no torch: `thinstack finish`, and
`examples/spacy-project`, all of it: job `spacy`."""

import io
import json
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest
import spacy
from command_line import python
from learning_pipeline import examples, learn, pipeline
from rich.console import Console
from spacy.cli.init_pipeline import init_labels_cli
from spacy.cli.train import train
from spacy.tokens import DocBin

from thinstack.bundle import open_bundle
from thinstack.bundle.origin import is_own
from thinstack.integrations.spacy_training.finish import finish_pipeline
from thinstack.integrations.spacy_training.text_learner import RESUME_FILES
from thinstack.runtime.reference import check_cases

ROOT = Path(__file__).parents[2]
CONFIG = ROOT / "examples" / "spacy-project" / "config.cfg"
TEXTS = ["The film is dull. It is good, who is fine.", "It is good", ""]

USE = """
import json, sys
sys.modules["torch"] = None
import spacy
import thinstack.integrations.spacy_training.factory
from thinstack.errors import BundleError
try: spacy.load(sys.argv[1])
except BundleError as error: print(error, file=sys.stderr)
print(json.dumps([doc.cats for doc in spacy.load(sys.argv[2]).pipe(json.loads(sys.argv[3]))]))
"""


@pytest.fixture(scope="module")
def trained(start, tmp_path_factory):
    """The folder of `spacy train` over the example's configuration, after `init labels`."""
    folder = tmp_path_factory.mktemp("trained")
    nlp = pipeline(start)
    for part, seed in (("train", 0), ("dev", 1)):
        docs = [example.reference for example in examples(nlp, seed=seed)]
        DocBin(docs=docs).to_disk(folder / f"{part}.spacy")
    settings = {
        "paths.train": str(folder / "train.spacy"),
        "paths.dev": str(folder / "dev.spacy"),
        "components.tree_classifier.model": str(start),
        "components.tree_classifier.learning_rate": 0.1,
        "training.batcher.size": 8,
        "training.max_steps": 400,
        "training.patience": 40,
        "training.eval_frequency": 10,
        "training.logger": {"@loggers": "spacy.ConsoleLogger.v1"},
    }
    text = CONFIG.read_text(encoding="utf-8")
    config = spacy.util.Config().from_str(text, interpolate=False, overrides=settings)
    config.to_disk(folder / "config.cfg")
    context = type("Context", (), {"args": []})()
    init_labels_cli(context, folder / "config.cfg", folder / "labels", None, False, -1)
    path = folder / "labels" / "tree_classifier.json"
    assert json.loads(path.read_text("utf-8")) == ["down", "up"]
    labels = "initialize.components.tree_classifier.labels"
    train(folder / "config.cfg", folder / "run", overrides={f"{labels}.path": str(path)})
    return folder / "run"


@pytest.fixture(scope="module")
def finished(trained):
    out = trained / "finished"
    console = Console(file=io.StringIO(), width=200)
    finish_pipeline(trained / "model-best", out, quantize="none", console=console)
    assert "tree_classifier: exported and verified" in console.file.getvalue()
    return out


def test_spacy_trains_it_stops_early_and_keeps_the_best(trained):
    meta = json.loads((trained / "model-best" / "meta.json").read_text(encoding="utf-8"))
    assert meta["performance"]["cats_score"] > 0.9
    assert meta["labels"]["tree_classifier"] == ["down", "up"]
    assert [line.partition(">")[0] for line in meta["requirements"]] == ["thinstack[cpu]"]
    assert (
        "onnx/model.onnx" not in open_bundle(trained / "model-best/tree_classifier").manifest.files
    )


def test_what_is_finished_runs_without_torch_and_says_the_same(trained, finished):
    arguments = [str(trained / "model-best"), str(finished), json.dumps(TEXTS)]
    done = python(USE, *arguments, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert "it is not finished" in done.stderr
    assert "`thinstack finish PIPELINE OUT`" in done.stderr
    nlp, found = spacy.load(trained / "model-best"), json.loads(done.stdout)
    for doc, cats in zip(nlp.pipe(TEXTS), found, strict=True):
        assert cats == pytest.approx(doc.cats, abs=1e-4)
    assert nlp(TEXTS[1]).cats["up"] > 0.5
    sentiment = spacy.blank("en")
    sentiment.add_pipe("sentencizer")
    bundle = str(finished / "tree_classifier")
    sentiment.add_pipe("tree_sentiment", config={"model": bundle, "threads": 1})
    assert sentiment(TEXTS[1]).cats == pytest.approx(found[1], abs=1e-4)


def test_its_bundle_has_what_any_bundle_has(finished):
    """The same function makes the files of `thinstack train`."""
    bundle = open_bundle(finished / "tree_classifier")
    assert is_own(bundle)
    assert check_cases(bundle).holds
    more = {"verification.json", *RESUME_FILES}
    assert set(bundle.manifest.files) == more | {
        *("config.json", "vocabulary.txt", "onnx/model.onnx", "model.safetensors", "cases.json"),
        *(["tokenizer.json"] if bundle.config.embedding.kind == "wordpieces" else []),
    }


def test_a_finished_one_learns_on_and_is_to_be_finished_again(finished, tmp_path):
    nlp = spacy.load(finished)
    given, before = examples(nlp), nlp(TEXTS[0]).cats
    first, second = (each.get_pipe("tree_classifier") for each in (nlp, spacy.load(finished)))
    assert first.to_bytes() == second.to_bytes()
    nlp.resume_training()
    with nlp.select_pipes(enable=["sentencizer"]):
        nlp.update(given[:8])
    assert nlp(TEXTS[0]).cats == before
    learn(nlp, given)
    assert nlp(TEXTS[0]).cats != pytest.approx(before, abs=1e-5)
    nlp.to_disk(tmp_path)
    assert "onnx/model.onnx" not in open_bundle(tmp_path / "tree_classifier").manifest.files


@pytest.mark.parametrize(
    ("names", "problem"),
    [
        (("corpus", "out"), "expected a saved spaCy pipeline, found no config.cfg"),
        (("other", "out"), "expected a component tree_classifier, found sentencizer"),
        (("trained", "trained/in"), "is inside"),
        (("trained", "corpus"), "a pipeline to replace"),
        (("trained", "model.JSON"), "model.JSON"),
    ],
)
def test_what_cannot_be_finished(trained, tmp_path, cli, names, problem):
    other = spacy.blank("en")
    other.add_pipe("sentencizer")
    other.to_disk(tmp_path / "other")
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "train.csv").write_text("text", encoding="utf-8")
    (tmp_path / "trained").symlink_to(trained / "model-best")
    done = cli("finish", *(str(tmp_path / name) for name in names))
    assert done.code == 2
    assert problem in done.err.replace("\n", "")


def test_finishing_again_replaces_the_pipeline_and_leaves_what_is_finished(finished, tmp_path, cli):
    for _ in range(2):
        done = cli("finish", str(finished), str(tmp_path / "again"))
        assert "tree_classifier: already finished" in done.out
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["again"]
    assert spacy.load(tmp_path / "again")(TEXTS[0]).cats == spacy.load(finished)(TEXTS[0]).cats


USE_PACKAGE = """
import importlib.util, json, spacy
assert not importlib.util.find_spec("torch")
nlp = spacy.load("en_shop_mail")
print(json.dumps([doc.cats for doc in nlp.pipe(["Where is my parcel?", "I was charged twice."])]))
"""


def run(*command, cwd, **environment):
    done = subprocess.run(
        list(map(str, command)),
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def test_from_tables_to_an_installed_package_without_torch(tmp_path):
    pytest.importorskip("build", reason="needs what builds packages: pip install build")
    project, empty = tmp_path / "project", tmp_path / "empty"
    made = shutil.ignore_patterns("corpus", "training", "packages", "project.lock")
    shutil.copytree(ROOT / "examples" / "spacy-project", project, ignore=made)
    paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    run(sys.executable, "-m", "spacy", "project", "run", "all", cwd=project, PYTHONPATH=paths)
    metrics = json.loads((project / "training" / "metrics.json").read_text(encoding="utf-8"))
    assert metrics["cats_micro_f"] > 0.8

    pip = (sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", tmp_path / "wheels")
    run(*pip, ROOT, cwd=tmp_path)
    venv.create(empty, with_pip=True)
    python, (wheel,) = empty / "bin" / "python", project.glob("packages/*/dist/*.whl")
    links = f"{os.environ.get('PIP_FIND_LINKS', '')} {tmp_path / 'wheels'}"
    constraint = str(ROOT / "constraints.txt")
    plain = {"PYTHONPATH": "", "PIP_FIND_LINKS": links, "PIP_CONSTRAINT": constraint}
    run(python, "-m", "pip", "install", "-q", wheel, cwd=tmp_path, **plain)
    found = json.loads(run(python, "-c", USE_PACKAGE, cwd=tmp_path, **plain))
    assert [max(cats, key=cats.get) for cats in found] == ["delivery", "payment"]
    assert [sum(cats.values()) for cats in found] == pytest.approx([1, 1])
