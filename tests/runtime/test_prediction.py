"""`Prediction` as plain data, against its definition."""

import json

import numpy as np
import pytest
from predictions import prediction_of

from thinstack.core import Tree
from thinstack.core.transitions import balanced, left, right
from thinstack.data.trees.brackets import from_brackets
from thinstack.runtime.prediction import Prediction
from thinstack.runtime.views import View

LABELS = ("bad", "neutral", "good")

#             0    1    0+1   2    all: "Not bad" is good, though "bad" is bad.
SCORES = [[0.2, 0.7, 0.1], [0.9, 0.1, 0.0], [0.1, 0.2, 0.7], [0.1, 0.8, 0.1], [0.05, 0.15, 0.8]]


@pytest.fixture
def prediction():
    return Prediction(
        text="Not  bad!",
        words=("Not", "bad", "!"),
        offsets=np.array([[0, 3], [5, 8], [8, 9]]),
        transitions=left(3),
        node_scores=np.array(SCORES, np.float32),
        view=View.of(LABELS),
    )


def test_to_dict(prediction):
    found = prediction.to_dict()
    assert json.loads(json.dumps(found)) == found
    names = "text start label polarity scores tree transitions nodes"
    assert list(found) == names.split()
    assert found["text"] == "Not  bad!"
    assert found["label"] == "good"
    assert found["scores"] == {"bad": 0.05, "neutral": 0.15, "good": 0.8}
    assert found["tree"] == "(2 (2 (1 Not) (0 bad)) (1 !))"
    assert found["transitions"] == [0, 0, 1, 0, 1]
    labels = ["neutral", "bad", "good", "neutral", "good"]
    places = [(0, 3, "Not"), (5, 8, "bad"), (0, 8, "Not  bad"), (8, 9, "!"), (0, 9, "Not  bad!")]
    rows = [dict(zip(LABELS, scores, strict=True)) for scores in SCORES]
    names = ("start", "end", "text", "label", "scores")
    assert [tuple(map(node.get, names)) for node in found["nodes"]] == [
        (*place, label, row) for place, label, row in zip(places, labels, rows, strict=True)
    ]
    assert all(len(node) == len(names) + 1 for node in found["nodes"])


def test_parts_are_told_where_a_sentence_was_cut(prediction):
    assert prediction.parts == ((0, 3),)
    words, steps, scores = ("Not", "bad", "!"), left(3), np.array(SCORES, np.float32)
    found = prediction_of(words, steps, scores, LABELS, parts=((0, 2), (2, 3)))
    assert found.parts == ((0, 2), (2, 3))
    data = found.to_dict()
    assert data.pop("parts") == [[0, 2], [2, 3]]
    assert data.keys() == prediction.to_dict().keys()


@pytest.mark.parametrize("shape", [left, right, balanced])
@pytest.mark.parametrize("words", [["one"], ["a", "bc", "déf", "🙂", "-LRB-", "g"]])
def test_phrases_of_words_without_a_text(words, shape):
    scores = np.random.default_rng(1).dirichlet([1, 1, 1], size=2 * len(words) - 1)
    prediction = prediction_of(words, shape(len(words)), scores.astype(np.float32), LABELS)
    assert prediction.text == " ".join(words)
    found = prediction.to_dict()
    spans = Tree.from_transitions(shape(len(words)), words).spans
    for node, (start, end), row in zip(found["nodes"], spans, scores.tolist(), strict=True):
        assert node["text"] == " ".join(words[start:end])
        assert node["text"] == found["text"][node["start"] : node["end"]]
        assert list(node["scores"].values()) == pytest.approx(row, abs=1e-6)
        assert node["label"] == LABELS[row.index(max(row))]
    assert found["nodes"][-1]["text"] == found["text"]
    assert from_brackets(found["tree"]) == prediction.tree
    assert prediction.tree.words == tuple(words)


def test_words_that_brackets_cannot_hold_are_still_written():
    words = [":(", "New York", "\n\n", "", "8\u00a01/2"]
    prediction = prediction_of(words, right(5), np.full((9, 3), 1 / 3, np.float32), LABELS)
    again = from_brackets(prediction.to_dict()["tree"])
    assert again.words == (":-LRB-", "New_York", "__", "_", "8\u00a01/2")
    assert prediction.words == tuple(words)
