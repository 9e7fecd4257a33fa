"""Classifiers of transformers that teach: what they read, what they give, what is refused."""

import json
import re

import numpy as np
import pytest
import torch
from test_teaching import EXCHANGED, FIVE, TEXTS, parts, recipe_of, texts
from tiny_encoder import write_encoder

from thinstack.core import Tree
from thinstack.core.transitions import left
from thinstack.errors import ConfigError, DataError
from thinstack.training.examples.inputs import data_digests
from thinstack.training.loop import encoder_teacher
from thinstack.training.loop.encoder_teacher import EncoderTeacher
from thinstack.training.loop.teacher import Teacher
from thinstack.training.loop.teaching import taught_trees

texts = texts  # the fixture
transformers = pytest.importorskip("transformers")
WORDS = [["The", "film", "is", "n't", "bad", "."], ["bad", "film"]]


def classifier(folder, names=FIVE):
    """The folder of a small classifier of these classes."""
    write_encoder(folder)
    torch.manual_seed(3)
    base = transformers.AutoConfig.from_pretrained(folder)
    base.num_labels, base.id2label = len(names), dict(enumerate(names))
    model = transformers.BertForSequenceClassification(base)
    torch.nn.init.normal_(model.classifier.weight)
    model.save_pretrained(folder)
    return folder


@pytest.fixture
def folder(tmp_path):
    return classifier(tmp_path / "encoder")


def alone(folder, text):
    """The probabilities of a text, read without others, by transformers itself."""
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    pieces = transformers.AutoTokenizer.from_pretrained(folder)(text, return_tensors="pt")
    with torch.inference_mode():
        return model(**pieces).logits.softmax(1)[0].numpy()


@pytest.mark.parametrize("size", [64, 2])
def test_each_phrase_is_read_as_a_text(folder, monkeypatch, size):
    monkeypatch.setattr(encoder_teacher, "BATCH", size)
    steps = [left(len(words)) for words in WORDS]
    scores = EncoderTeacher(str(folder), FIVE).node_scores(WORDS, steps)
    assert [len(each) for each in scores] == [11, 3]
    np.testing.assert_allclose(scores[0][-1], alone(folder, "The film isn't bad."), atol=1e-6)
    np.testing.assert_allclose(scores[0][0], alone(folder, "The"), atol=1e-6)
    np.testing.assert_allclose(scores[1][-1], alone(folder, "bad film"), atol=1e-6)


def test_classes_are_found_by_their_names(tmp_path):
    folder, turned = (classifier(tmp_path / name, FIVE) for name in ("a", "b"))
    file = turned / "config.json"
    config = json.loads(file.read_text())
    config["id2label"] = dict(enumerate(name.upper() for name in reversed(FIVE)))
    config["label2id"] = {name.upper(): 4 - place for place, name in enumerate(FIVE)}
    file.write_text(json.dumps(config))
    one, other = (EncoderTeacher(str(each), FIVE) for each in (folder, turned))
    np.testing.assert_array_equal(one.scores(["bad"])[:, ::-1], other.scores(["bad"]))
    assert one.scores([]).shape == (0, 5)


def test_labels_are_mixed_with_those_of_bundles_and_encoders(folder, texts, tmp_path):
    encoders = {"encoders": [str(folder)], "alpha": 0.0}
    both = recipe_of(EXCHANGED, teacher=encoders)
    lone = recipe_of(EXCHANGED, teacher=encoders | {"bundles": []})
    bundle = recipe_of(EXCHANGED, teacher={"alpha": 0.0})
    rows = [
        [each.tree.soft.astype(float) for each in taught_trees(one, *parts(texts), texts)]
        for one in (both, lone, bundle)
    ]
    for mean, *each in zip(*rows, strict=True):
        np.testing.assert_allclose(mean, sum(each) / 2, atol=2e-3)
    labels = Teacher(lone.teacher, FIVE).soft_labels([], "none")
    assert labels == []
    assert f"the teacher {folder}" in data_digests(lone, texts)


def test_another_encoder_is_another_question(folder, texts, tmp_path):
    recipe, cache = recipe_of(teacher={"bundles": [], "encoders": [str(folder)]}), tmp_path / "kept"
    taught_trees(recipe, *parts(texts), texts, cache=cache)
    [before] = cache.iterdir()
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder)
    torch.nn.init.zeros_(model.classifier.weight)
    torch.nn.init.zeros_(model.classifier.bias)
    model.save_pretrained(folder)
    taught = taught_trees(recipe, *parts(texts), texts, cache=cache)
    assert [*cache.iterdir()] != [before]
    np.testing.assert_allclose(taught[0].tree.soft.sum(1, dtype=float), 1, rtol=2e-3)
    wrong = np.eye(5)[taught[0].tree.labels] < 1
    np.testing.assert_allclose(taught[0].tree.soft[wrong], (1 - 0.3) / 5, rtol=2e-3)


@pytest.mark.parametrize(
    ("names", "change", "named"),
    [
        (FIVE[:4], None, "very negative, negative, neutral, positive, very positive"),
        (("a", "b", "c", "d", "e"), None, "a, b, c, d, e"),
        (FIVE, "config.json", "expected a classifier"),
    ],
)
def test_what_is_no_classifier_of_these_classes(tmp_path, names, change, named):
    folder = classifier(tmp_path / "encoder", names)
    if change:
        (folder / change).unlink()
    with pytest.raises(DataError if change else ConfigError, match=re.escape(named)):
        EncoderTeacher(str(folder), FIVE)


def test_a_hub_that_does_not_answer_is_not_waited_for(tmp_path, monkeypatch, capfd):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr(encoder_teacher, "hub_answers", lambda: False)
    with pytest.raises(DataError, match="encoder no/such on the hub"):
        EncoderTeacher("no/such", FIVE)
    assert capfd.readouterr() == ("", "")


def test_an_encoder_that_is_not_fine_tuned(tmp_path):
    write_encoder(tmp_path / "encoder")
    file = tmp_path / "encoder" / "config.json"
    config = json.loads(file.read_text()) | {"id2label": dict(enumerate(FIVE))}
    file.write_text(json.dumps(config))
    with pytest.raises(ConfigError, match=r"classifier\.weight"):
        EncoderTeacher(str(file.parent), FIVE)


def test_encoders_give_no_trees(folder, texts):
    recipe = recipe_of(TEXTS, teacher={"bundles": [], "encoders": [str(folder)]})
    with pytest.raises(ConfigError, match=r"teacher\.parser"):
        taught_trees(recipe, *parts(texts), texts)
    recipe = recipe_of(
        TEXTS, teacher={"bundles": [], "encoders": [str(folder)], "parser": "sentiment"}
    )
    taught = taught_trees(recipe, *parts(texts), texts)
    last = taught[-1].tree
    assert isinstance(last.tree, Tree)
    assert last.soft.shape == (len(last.tree), 5)
