"""Saving a pipeline: the whole bundle goes with it, and is checked."""

import pickle
import shutil
import sys

import pytest
import spacy
import srsly
from last_word_model import LABELS, TABLE, expected, mean_of, pipeline, write_last_word_bundle

from thinstack.bundle import open_bundle
from thinstack.bundle.manifest import GPU_FILE, ONNX_FILE
from thinstack.errors import BundleError

FOR_GPUS = b"what only GPUs read"
TEXT = "A good film. It was awful"


@pytest.fixture
def moved(tmp_path):
    """A pipeline and where it was saved; the bundle that it was made from is gone."""
    folder = write_last_word_bundle(tmp_path / "model", more={GPU_FILE: FOR_GPUS}).path
    nlp = pipeline(folder, aggregation="sentences")
    nlp.to_disk(tmp_path / "saved")
    shutil.rmtree(folder)
    return nlp, tmp_path / "saved"


def test_a_saved_pipeline_needs_nothing_else(moved):
    nlp, saved = moved
    loaded = spacy.load(saved)
    assert open_bundle(saved / "tree_sentiment").for_gpu() == FOR_GPUS
    assert loaded(TEXT).cats == nlp(TEXT).cats
    assert loaded(TEXT)._.tree_sentiment == nlp(TEXT)._.tree_sentiment
    assert loaded.get_pipe("tree_sentiment").labels == LABELS
    again = spacy.load(saved)  # and neither does one that was loaded and saved again
    again.to_disk(saved.parent / "twice")
    shutil.rmtree(saved)
    assert spacy.load(saved.parent / "twice")(TEXT).cats == nlp(TEXT).cats
    first, second = (pipes.get_pipe("tree_sentiment").to_bytes() for pipes in (again, loaded))
    assert first == second


def test_the_bytes_of_a_model_are_held_once(moved):
    nlp, saved = moved
    for pipes in (nlp, spacy.load(saved)):
        component = pipes.get_pipe("tree_sentiment")
        model = component.predictor.bundle.read(ONNX_FILE)
        assert model is component._saved()[ONNX_FILE] is component.predictor._model


def test_settings_can_be_overridden_on_loading(moved):
    nlp, saved = moved
    settings = {"aggregation": "words", "source": "left"}
    loaded = spacy.load(saved, config={"components": {"tree_sentiment": settings}})
    assert loaded(TEXT).cats == pytest.approx(mean_of((".", 4), ("awful", 3)), abs=1e-6)
    assert loaded(TEXT).cats != nlp(TEXT).cats


def test_another_model_can_be_taken_on_loading(moved, tmp_path):
    nlp, saved = moved
    table = TABLE[::-1].copy()
    other = write_last_word_bundle(tmp_path / "other", table=table).path
    settings = {"model": str(other)}
    loaded = spacy.load(saved, config={"components": {"tree_sentiment": settings}})
    assert loaded("so good").cats == pytest.approx(expected("good", 2, table), abs=1e-6)
    config = loaded.config
    from_bytes = type(nlp).from_config(config, meta=nlp.meta).from_bytes(nlp.to_bytes())
    assert from_bytes("so good").cats == loaded("so good").cats
    loaded.to_disk(tmp_path / "twice")
    shutil.rmtree(other)
    twice = spacy.load(tmp_path / "twice")  # the other model is the saved one now,
    assert twice("so good").cats == loaded("so good").cats
    loaded.from_disk(saved)  # and one that is read later takes its place
    assert loaded("so good").cats == nlp("so good").cats
    with pytest.raises(BundleError, match="other: no such folder"):
        spacy.load(saved, config={"components": {"tree_sentiment": settings}})


@pytest.mark.parametrize("source", ["auto", "benepar"])
def test_a_missing_model_is_told_when_it_is_needed(moved, source):
    nlp, _ = moved
    config = nlp.config.copy()
    config["components"]["tree_sentiment"]["source"] = source
    bare = type(nlp).from_config(config, meta=nlp.meta)  # saved bytes may follow
    with pytest.raises(BundleError, match="no such folder"):
        bare("")


def test_bytes_that_are_no_bundle_are_refused(nlp):
    component = nlp.get_pipe("tree_sentiment")
    files = srsly.msgpack_loads(component.to_bytes())
    less = {name: content for name, content in files.items() if name != "vocabulary.txt"}
    wrong = {**files, "onnx/model.onnx": files["onnx/model.onnx"][:-1] + b"?"}
    bad = [[], {"manifest.json": 3}, {}, less, {**files, "../escaped": b"x"}, wrong]
    bad += [{**files, key: b"x"} for key in (1, None, b"x", "README.md/x", "x" * 50_000)]
    for data in (b"", b"\xc1", b"PK", *map(srsly.msgpack_dumps, bad)):
        with pytest.raises(BundleError, match=r"^the saved tree_sentiment: ") as caught:
            component.from_bytes(data)
        assert len(str(caught.value)) < 600
    assert component(nlp.make_doc("good")).cats == pytest.approx(expected("good"), abs=1e-6)


def test_a_component_can_be_taken_from_another_pipeline_or_a_pickle(moved):
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("tree_sentiment", source=spacy.load(moved[1]))
    assert nlp("so good").cats == pytest.approx(expected("good", 2), abs=1e-6)
    # Worker processes that are not forked have a pickle.
    component = pickle.loads(pickle.dumps(moved[0].get_pipe("tree_sentiment")))
    doc = nlp.get_pipe("sentencizer")(nlp.make_doc("so good"))
    assert component(doc).cats == pytest.approx(expected("good", 2), abs=1e-6)


# -- saving over what is there


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
@pytest.mark.parametrize("with_bundle", [False, True])
def test_saving_writes_through_no_link_and_keeps_other_files(nlp, tmp_path, with_bundle):
    folder, victims = tmp_path / "saved", tmp_path / "victims"
    component = nlp.get_pipe("tree_sentiment")
    if with_bundle:
        component.to_disk(folder)
        (folder / "vocabulary.txt").unlink()
        shutil.rmtree(folder / "onnx")
    victims.mkdir()
    (victims / "mine").write_text("mine")
    (folder / ".notes").mkdir(parents=True)
    (folder / ".notes" / "note.txt").write_text("a note")
    (folder / ".notes" / "link").symlink_to(victims)
    (folder / "vocabulary.txt").symlink_to(victims / "mine")
    (folder / "onnx").symlink_to(victims)
    component.to_disk(folder)
    assert [path.name for path in victims.iterdir()] == ["mine"]
    assert (victims / "mine").read_text() == "mine"
    assert open_bundle(folder).read("vocabulary.txt").startswith(b"good\n")
    assert (folder / ".notes" / "note.txt").read_text() == "a note"
    assert (folder / ".notes" / "link").readlink() == victims
    assert sorted(path.name for path in tmp_path.iterdir()) == ["saved", "victims"]
