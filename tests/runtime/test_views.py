"""Views of five classes as three and two, labels and abstaining, against sums written out."""

import copy
import json
import pickle

import numpy as np
import pytest
from predictions import sentences_of

import thinstack
from thinstack.errors import InputError
from thinstack.runtime.prediction import Prediction
from thinstack.runtime.predictor import Predictor
from thinstack.runtime.scored import Scored
from thinstack.runtime.views import FIVE, View

TEXT = "The acting is superb. It was filmed in March, by the sea. The film is three hours long."


def of_three(row):
    return [row[0] + row[1], row[2], row[3] + row[4]]


def of_two(row):
    negative, positive = row[0] + row[1], row[3] + row[4]
    return [negative / (negative + positive), positive / (negative + positive)]


NAMES = {3: ("negative", "neutral", "positive"), 2: ("negative", "positive")}
SUMS = {3: of_three, 2: of_two}


@pytest.mark.parametrize("classes", [3, 2])
def test_every_phrase_and_text_is_shown_by_the_sums(sentiment, classes):
    view = thinstack.load("sentiment", threads=1, classes=classes)
    assert view.labels == NAMES[classes]
    (own,), (shown,) = (list(sentences_of(each, [TEXT])) for each in (sentiment, view))
    words = [sentence.words for sentence in own]
    given = sentiment.predict(words), view.predict(words)
    for before, after in [*zip(own, shown, strict=True), *zip(*given, strict=True)]:
        assert after.labels == NAMES[classes]
        assert np.array_equal(before.transitions, after.transitions)
        expected = [SUMS[classes](row) for row in before.node_scores.tolist()]
        np.testing.assert_allclose(after.node_scores, expected, atol=1e-6)
        assert after.label == NAMES[classes][int(np.argmax(expected[-1]))]
        assert list(after.to_dict()["scores"]) == list(NAMES[classes])
    steps = [sentence.transitions for sentence in own]
    assert [len(rows[0]) for rows in view.node_scores(words, steps)] == [classes] * 3
    assert pickle.loads(pickle.dumps(view)).labels == NAMES[classes]
    whole = SUMS[classes]([*sentiment(TEXT).scores.values()])  # of one tree
    np.testing.assert_allclose([*view(TEXT).scores.values()], whole, atol=1e-6)


@pytest.mark.parametrize("classes", [3, 2])
def test_a_text_is_shown_by_the_sums_of_its_mean(classes):
    """So a sentence without sentiment says little in a view without a neutral class."""
    view = thinstack.load("sentiment", threads=1, classes=classes, aggregation="mean")
    own = thinstack.load("sentiment", threads=1, aggregation="mean")(TEXT)
    shown = view(TEXT)
    found, expected = [*shown.scores.values()], SUMS[classes]([*own.scores.values()])
    np.testing.assert_allclose(found, expected, atol=1e-6)
    roots = [sentence.node_scores[-1] for sentence in shown.sentences]
    plain = np.average(roots, axis=0, weights=[len(one.words) for one in shown.sentences])
    assert (abs(plain - found).max() > 0.02) == (classes == 2)


@pytest.mark.parametrize("classes", [3, 2])
def test_a_sentence_in_parts_is_shown_by_the_sums_of_their_tree(sentiment, classes):
    ((sentence, *_),) = sentences_of(sentiment, [TEXT.replace(". ", ", and ")])
    view = thinstack.load("sentiment", threads=1, classes=classes, abstain=0.5, max_words=8)
    (shown,) = pickle.loads(pickle.dumps(view)).predict([sentence.words])
    assert len(shown.parts) > 2
    (own,) = thinstack.load("sentiment", threads=1, max_words=8).predict([sentence.words])
    root = own.node_scores[-1].tolist()
    np.testing.assert_allclose(shown.node_scores[-1], SUMS[classes](root), atol=1e-6)
    assert shown.weight == pytest.approx(1 - root[2] if classes == 2 else 1, abs=1e-6)
    assert shown.abstain == 0.5


def test_five_is_the_models_own(sentiment):
    assert thinstack.load("sentiment", classes=5).labels == FIVE == sentiment.labels
    assert View.choose(tuple("01234"), 2, None).labels == NAMES[2]


def test_a_wholly_neutral_phrase_has_even_scores():
    found, weight = View.choose(FIVE, 2, None).scores(np.array([[0, 0, 1, 0, 0]], np.float32))
    np.testing.assert_allclose(found, [[0.5, 0.5]])
    assert 0 < weight < 1e-6


def test_classes_of_a_file_are_shown_too():
    known = np.array([0, 1, 2, 3, 4, -1])
    shown = {c: View.choose(FIVE, c, None).classes(known).tolist() for c in (2, 3, 5)}
    assert shown[3] == [0, 0, 1, 2, 2, -1]
    assert shown[2] == [0, 0, -1, 1, 1, -1]
    assert shown[5] == known.tolist()


def test_without_a_probable_class_there_is_no_label_and_scores_stay(sentiment):
    (own,) = sentences_of(sentiment, [TEXT])
    cut = sorted(sentence.node_scores[-1].max() for sentence in own)[1]
    view = thinstack.load("sentiment", threads=1, abstain=float(cut))
    (shown,) = sentences_of(view, [TEXT])
    known = [label for sentence in shown for label in sentence.certain.tolist()]
    assert set(known) == {True, False}
    for before, after in zip(own, shown, strict=True):
        assert np.array_equal(before.node_scores, after.node_scores)
        top = before.node_scores.max(axis=1)
        assert after.certain.tolist() == (top >= cut).tolist()
        assert after.label == (before.label if top[-1] >= cut else None)
        data, all_of_it = after.to_dict(), before.to_dict()
        assert json.loads(json.dumps(data))["label"] == after.label
        for node, full, sure in zip(data["nodes"], all_of_it["nodes"], top >= cut, strict=True):
            assert node == {**full, "label": full["label"] if sure else None}
        assert after.tree.labels == tuple(
            label if sure else "-"
            for label, sure in zip(before.tree.labels, top >= cut, strict=True)
        )
        assert before.certain.all()
    labels = [sentence.label for sentence in shown]
    assert None in labels
    assert any(labels)
    again = copy.deepcopy(shown[0])
    assert again.abstain == cut


def test_other_views_and_other_models_are_refused(last_word):
    for classes in (2, 3, 5):
        with pytest.raises(InputError, match=r"very neg.*bad, so-so"):
            Predictor(last_word, classes=classes)
    assert Predictor(last_word, abstain=0.9).predict([["film"]])[0].label is None


@pytest.mark.parametrize(
    ("row", "label"),
    [
        # Positive is the most probable class, and the mean is negative (-0.05, counted by hand).
        ([0.25, 0.2, 0.1, 0.4, 0.05], "very negative"),
        ([0.05, 0.4, 0.1, 0.2, 0.25], "very positive"),
        ([0.2, 0.25, 0.1, 0.4, 0.05], "negative"),
        ([0.1, 0.2, 0.1, 0.4, 0.2], "positive"),
        ([0.2, 0.1, 0.4, 0.1, 0.2], "neutral"),
        ([0.4, 0.0, 0.0, 0.2, 0.4], "very positive"),
    ],
)
def test_the_label_is_on_the_side_of_the_polarity(row, label):
    polarity = -row[0] - row[1] / 2 + row[3] / 2 + row[4]
    view = View.of(FIVE)
    sentence = Prediction.of_words(["x"], Scored(np.zeros(1, np.int8), np.array([row])), view)
    assert sentence.label == view.label(row) == label
    assert [phrase.label for phrase in sentence.phrases] == [label]
    assert sentence.polarity == pytest.approx(polarity)
    assert View.of(("a", "b", "c", "d", "e")).label(row) == "abcde"[int(np.argmax(row))]
