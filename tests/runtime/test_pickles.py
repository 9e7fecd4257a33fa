"""Predictors and their results after a pickle, a copy or JSON, read in another folder."""

import copy
import dataclasses
import json
import multiprocessing
import os
import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest
from last_word_model import write_last_word_bundle
from predictions import sentences_of

import thinstack
from thinstack.bundle import open_bundle
from thinstack.errors import BundleError


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """A model in `runs/model` of the folder that the process stands in, and another folder."""
    write_last_word_bundle(tmp_path / "runs" / "model")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path / "elsewhere"


def label(predictor, words="so good"):
    return predictor.predict([words.split()])[0].label


@pytest.mark.parametrize("path", ["runs/model", "./runs/../runs/model", Path("runs", "model")])
def test_a_relative_path_is_kept_wherever_it_is_read(elsewhere, path):
    predictor = thinstack.load(path, threads=1, abstain=0.3)
    content = pickle.dumps(predictor)
    os.chdir(elsewhere)
    again = pickle.loads(content)
    assert again.bundle == predictor.bundle
    assert (label(again), again.view) == (label(predictor), predictor.view)
    assert predictor.bundle.read("README.md")
    assert predictor.bundle.vocabulary().digest() == again.vocabulary.digest()
    again = pickle.loads(pickle.dumps(again))  # a second time
    assert label(again) == label(predictor)


def test_a_link_is_kept_as_it_is(elsewhere):
    os.symlink("model", "runs/latest")
    content = pickle.dumps(thinstack.load("runs/latest", threads=1))
    os.chdir(elsewhere)
    assert pickle.loads(content).bundle.path.name == "latest"
    write_last_word_bundle(elsewhere / "other", labels=("x", "y", "z"))
    os.remove("../runs/latest")
    os.symlink(elsewhere / "other", "../runs/latest")
    with pytest.raises(BundleError, match=r"runs/latest.*pickle"):
        pickle.loads(content)


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_a_process_that_starts_elsewhere_reads_it(elsewhere, method):
    predictor = thinstack.load("runs/model", threads=1)
    expected = label(predictor)
    os.chdir(elsewhere)
    with multiprocessing.get_context(method).Pool(1) as pool:
        assert pool.apply(label, (predictor,)) == expected
        (found,) = pool.apply(predictor.predict, ([["so", "good"]],))
    assert found.label == expected
    assert found.brackets == predictor.predict([["so", "good"]])[0].brackets


def test_what_is_gone_or_another_is_said_to_come_from_a_pickle(elsewhere):
    predictor = thinstack.load("runs/model", threads=1)
    content, path = pickle.dumps(predictor), elsewhere.parent / "runs" / "model"
    shutil.move(path, path.with_name("moved"))
    with pytest.raises(BundleError, match=rf"{path}: .*pickle"):
        pickle.loads(content)
    write_last_word_bundle(path, labels=("x", "y", "z"))
    digests = predictor.bundle.manifest.digest[:12], open_bundle(path).manifest.digest[:12]
    with pytest.raises(BundleError, match=rf"{digests[0]}, .*{digests[1]}.*pickle"):
        pickle.loads(content)


def test_an_installed_bundle_is_known_by_its_name(tmp_path):
    predictor = thinstack.load("sentiment", threads=1)
    content = pickle.dumps(predictor)
    assert str(predictor.bundle.path).encode() not in content
    assert pickle.loads(content).bundle == predictor.bundle
    copied = shutil.copytree(predictor.bundle.path, tmp_path / "sentiment")
    assert str(copied).encode() in pickle.dumps(thinstack.load(copied, threads=1))


def test_copies_of_a_predictor_are_itself(elsewhere):
    predictor = thinstack.load("runs/model", threads=1)
    shutil.rmtree("runs")
    assert copy.copy(predictor) is predictor
    assert copy.deepcopy({"model": predictor})["model"] is predictor
    ((found,),) = sentences_of(predictor, ["so good"])
    assert dataclasses.asdict(found)["predictor"] is predictor
    assert dataclasses.replace(found, view=found.view._replace(abstain=0.999)).label is None


@pytest.mark.parametrize(
    "handed_on",
    [
        copy.copy,
        copy.deepcopy,
        lambda found: pickle.loads(pickle.dumps(found)),
        lambda found: type(found)(**dataclasses.asdict(found)),
        dataclasses.replace,
    ],
    ids=["copy", "deepcopy", "pickle", "asdict", "replace"],
)
@pytest.mark.parametrize("text", ["so good", "good film awful . " * 30, "a"])
def test_a_prediction_is_the_same_wherever_it_goes(elsewhere, handed_on, text):
    predictor = thinstack.load("runs/model", threads=1, max_words=20, abstain=0.4)
    ((found,),) = sentences_of(predictor, [text], split=False)
    again = handed_on(found)
    assert json.loads(json.dumps(again.to_dict())) == found.to_dict()
    assert json.loads(json.dumps(again.to_nested())) == found.to_nested()
    assert thinstack.render(again, "text") == thinstack.render(found, "text")
    assert np.array_equal(again.offsets, found.offsets)
    assert (again.parts, again.weight) == (found.parts, found.weight)
    if len(found.parts) == 1:
        assert predictor.why(again) == found.why()
    assert json.loads(json.dumps(again.to_dict())) == found.to_dict()  # after another call
