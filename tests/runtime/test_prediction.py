"""`Prediction` as plain data, and which of its phrases say most: trees written by hand."""

import json

import numpy as np
import pytest
from predictions import prediction_of

from thinstack.core import Tree
from thinstack.core.scale import FIVE
from thinstack.core.transitions import balanced, left, right
from thinstack.data.trees.brackets import from_brackets
from thinstack.errors import InputError
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


PLACES = np.array([-1, -0.5, 0, 0.5, 1])


def test_a_probability_just_below_the_minimum_is_no_label():
    tree, row = from_brackets("(4 good)"), np.float32([[0, 0, 0.1, 0.2, 0.7]])
    for minimum, label in ((float(row[0, 4]), FIVE[4]), (float(row[0, 4]) + 1e-10, None)):
        prediction = prediction_of(tree.words, tree.transitions, row, FIVE, abstain=minimum)
        assert prediction.label == prediction.phrases[-1].label == label


def highlights(brackets, n=3, abstain=0.0):
    """`brackets`: each label is the polarity of the node, in percent."""
    tree = from_brackets(brackets)
    rows = []
    for label in tree.labels:
        place = int(label) / 100
        row, end = np.zeros(5), 4 if place > 0 else 0
        column, share = (end, abs(place)) if abs(place) > 0.5 else ((end + 2) // 2, 2 * abs(place))
        row[[column, 2]] = share, 1 - share
        rows.append(row)
    scores = np.array(rows, np.float32)
    np.testing.assert_allclose(
        scores @ PLACES, [int(label) / 100 for label in tree.labels], atol=1e-6
    )
    prediction = prediction_of(tree.words, tree.transitions, scores, FIVE, abstain=abstain)
    return [phrase.text for phrase in prediction.highlights(n)]


@pytest.mark.parametrize(
    ("brackets", "expected"),
    [
        # The strongest comes first, and none is inside another.
        (
            "(40 (60 (0 so) (60 good)) (-40 (0 but) (-90 (0 too) (-90 long))))",
            ["too long", "so good"],
        ),
        # A phrase comes with the words around it that keep its strength.
        ("(80 (80 (0 The) (0 acting)) (85 (0 is) (90 superb)))", ["The acting is superb"]),
        ("(50 (50 (0 The) (0 acting)) (85 (0 is) (90 superb)))", ["is superb", "The acting"]),
        # What is turned round is no highlight; what stands in contrast is one.
        ("(-60 (-46 not) (90 (0 a) (90 (88 great) (0 film))))", ["not a great film"]),
        ("(-60 (90 (88 great) (0 film)) (-70 (0 but) (-80 dull)))", ["great film", "dull"]),
        # Marks, function words and the ends of typed words are none.
        ("(70 (80 (90 great) (0 film)) (0 .))", ["great film"]),
        ("(60 (0 It) (60 (60 (60 was) (60 and)) (0 it)))", ["It was and it"]),
        ("(0 (0 x) (0 (0 (0 plot) (90 -RRB-)) (0 y)))", []),
        # Neutral says nothing.
        ("(5 (5 a) (5 film))", []),
    ],
)
def test_highlights(brackets, expected):
    assert highlights(brackets) == expected


def test_what_is_turned_round_is_no_highlight_where_the_whole_is_too_uncertain_for_a_label():
    brackets = "(-60 (-46 not) (90 (0 a) (90 (88 great) (0 film))))"
    assert highlights(brackets, abstain=0.5) == ["not a great film"]
    assert highlights(brackets, abstain=0.8) == []
    assert highlights("(0 (60 fun) (90 great))", abstain=0.8) == ["great"]
    assert highlights("(60 fun)", abstain=0.8) == []


def test_there_are_at_most_n():
    text = "(30 (50 (80 good) (0 x)) (30 (70 (70 nice) (0 y)) (60 (60 fine) (0 z))))"
    assert [len(highlights(text, n)) for n in (0, 1, 2, 3)] == [0, 1, 2, 3]
    for odd in (-1, 1.5, None):
        with pytest.raises(InputError, match=f"found {odd}"):
            highlights(text, odd)


def test_a_phrase_with_many_words_does_not_grow():
    words = "w " * 11
    brackets = "(90 great)"
    for word in words.split():
        brackets = f"(90 (0 {word}) {brackets})"
    (text,) = highlights(f"(0 (0 end) {brackets})", 1)
    assert len(text.split()) == 10


def test_of_classes_that_are_no_scale_the_surest_phrases():
    tree = from_brackets("(1 (0 (0 paid) (0 twice)) (1 (1 my) (1 router)))")
    scores = np.full((7, 2), 0.1, np.float32)
    for node, label in enumerate(tree.labels):
        scores[node, int(label)] = 0.9 if node != 2 else 0.95
    prediction = prediction_of(tree.words, tree.transitions, scores, ("billing", "technical"))
    assert [each.text for each in prediction.highlights()][:2] == ["paid twice", "my router"]
