"""A model that is called: results of texts, and the views of their phrases."""

import json
import pickle

import numpy as np
import pytest
from last_word_model import LABELS as WORDS
from last_word_model import best, expected
from predictions import prediction_of, sentences_of

import thinstack
from thinstack.core.scale import FIVE
from thinstack.errors import InputError
from thinstack.runtime import stream as module
from thinstack.runtime.predictor import Predictor
from thinstack.runtime.result import Result

PLACES = (-1, -0.5, 0, 0.5, 1)
TEXT = "  A good film. The second half\nis dull, though."


@pytest.fixture(scope="module")
def result(sentiment):
    return sentiment(TEXT)


def test_one_text_gives_a_result_a_list_a_list_and_an_iterable_a_stream(sentiment, result):
    assert isinstance(result, Result)
    assert [one.to_dict() for one in sentiment([TEXT, ""])] == [
        result.to_dict(),
        sentiment("").to_dict(),
    ]
    asked = []
    texts = (asked.append(number) or f"{number} stars" for number in range(10_000))
    stream = sentiment(texts)
    assert next(stream).text == "0 stars"
    assert len(asked) < 1000, "a stream reads on only when it is asked"


def test_a_text_is_the_mean_of_its_sentences_by_their_words():
    result = thinstack.load(threads=1, aggregation="mean")("A wonderful film. It was made in Rome.")
    rows = np.array([one.node_scores[-1] for one in result.sentences], np.float64)
    means = np.average(rows, axis=0, weights=[len(one.words) for one in result.sentences])
    assert result.joint is None
    assert [*result.scores] == [*FIVE]
    assert [*result.scores.values()] == pytest.approx(means.tolist(), abs=1e-12)
    assert result.label == FIVE[int(means.argmax())]
    assert result.polarity == pytest.approx(float(means @ PLACES), abs=1e-12)


def test_sentences_and_phrases_stand_where_they_were_typed(result):
    texts = [one.text for one in result.sentences]
    assert texts == ["A good film.", "The second half\nis dull, though."]
    assert [*map(TEXT.index, texts)] == [one.start for one in result.sentences]
    assert len(result.phrases) == sum(2 * len(one.words) - 1 for one in result.sentences)
    for phrase in result.phrases:
        assert TEXT[phrase.start : phrase.end] == phrase.text == str(phrase)


def test_phrases_are_the_nodes_of_the_trees(result):
    for sentence in result.sentences:
        data = sentence.to_dict()
        for phrase, node, row in zip(
            sentence.phrases, data["nodes"], sentence.node_scores, strict=True
        ):
            assert (phrase.text, phrase.label) == (node["text"], node["label"])
            assert (phrase.start - sentence.start, phrase.sentence) == (node["start"], sentence)
            assert phrase.scores == dict(zip(FIVE, row.tolist(), strict=True))
            assert phrase.polarity == pytest.approx(float(row.astype(float) @ PLACES), abs=1e-12)
            assert node["polarity"] == round(phrase.polarity, 6)
            for child in phrase.children:
                assert child.parent == phrase
        whole = sentence.phrases[-1]
        assert (whole.parent, whole.text) == (None, sentence.text)
        words = [sentence.text[start:end] for start, end in sentence.offsets.tolist()]
        assert [each.text for each in _words(whole)] == words
    first, second = result.sentences[0].phrases[:2]
    assert first != second
    assert {first, *result.sentences[0].phrases} == {*result.sentences[0].phrases}


def _words(phrase):
    return (
        [phrase] if not phrase.children else [w for each in phrase.children for w in _words(each)]
    )


def test_a_text_without_words_has_a_result(sentiment):
    empty = sentiment(" \n")
    assert (empty.label, empty.polarity, empty.scores, empty.phrases) == (None, None, {}, ())
    assert (empty.sentences, empty.highlights(), empty.why()) == ((), [], [])
    nothing = {"label": None, "polarity": None, "scores": {}, "sentences": []}
    assert empty.to_dict() == {"text": " \n", **nothing}
    assert empty.svg()
    assert repr(empty) == "<Result None: ' \\n'>"


def test_data_drawings_and_pickles(result):
    data = json.loads(result.to_json())
    assert data == result.to_dict()
    assert [one["start"] for one in data["sentences"]] == [2, 15]
    again = pickle.loads(pickle.dumps(result))
    assert again.to_dict() == data
    assert result.svg() == thinstack.render(result) == result._repr_html_()
    assert result.html() == thinstack.render(result, "text")
    assert len(result.why()) == sum(len(one.why()) for one in result.sentences)
    for each in result.why():
        assert TEXT[each.start : each.end] == each.text
    assert repr(result).startswith("<Result ")


def test_classes_that_are_no_scale_have_no_polarity(last_word):
    result = Predictor(last_word, threads=1)("so good. very awful")
    assert result.polarity is None
    assert {phrase.polarity for phrase in result.phrases} == {None}
    assert result.label in WORDS


def test_a_sentence_alone_has_no_phrases():
    lone = prediction_of(
        ("a", "b"), np.array([0, 0, 1], np.int8), np.eye(5, dtype=np.float32)[[4]], FIVE
    )
    assert (lone.phrases, lone.polarity) == ((), 1.0)
    assert [each.text for each in lone.highlights()] == ["a b"]


TEXTS = ["So good. Very awful", "", "A film"]
LABELS = [[best(expected(".", 3)), best(expected("awful", 2))], [], [best(expected("film", 2))]]


@pytest.mark.parametrize("batch", [1, 2, 128])
def test_each_text_has_its_sentences(predictor, batch, monkeypatch):
    monkeypatch.setitem(module.BATCH_TEXTS, "cpu", batch)
    read = list(sentences_of(predictor, TEXTS))
    assert [[found.label for found in sentences] for sentences in read] == LABELS
    (whole, _, _) = sentences_of(predictor, TEXTS, split=False)
    assert [found.label for found in whole] == [best(expected("awful", 5))]


def test_a_text_does_not_wait_for_a_long_one_behind_it(last_word, monkeypatch):
    monkeypatch.setattr(module, "BATCH_CHARACTERS", 50)
    predictor, calls = Predictor(last_word, threads=1), list[int]()
    real = predictor.trees_and_scores
    monkeypatch.setattr(
        predictor,
        "trees_and_scores",
        lambda words, trees: calls.append(sum(map(len, words))) or real(words, trees),
    )
    long = ["so good", "film " * 1000, "very awful", "so good"]
    found, waited = [], []
    for sentences in sentences_of(predictor, long):
        found.append([each.label for each in sentences])
        waited.append(sum(calls))
    assert found == [[best(expected(last, 2))] for last in ("good", "film", "awful", "good")]
    assert waited == [2, 1002, 1006, 1006]


def test_words_stand_where_they_are_in_the_text(predictor):
    text = "  It isn't\n  well-made – so (awful)!  Good"
    first, second = next(sentences_of(predictor, [text]))
    assert (first.text, second.text) == ("It isn't\n  well-made – so (awful)!", "Good")
    parts = ["It", "is", "n't", "well-made", "–", "so", "(", "awful", ")", "!"]
    spelling = {"–": "--", "(": "-LRB-", ")": "-RRB-"}
    assert first.words == tuple(spelling.get(part, part) for part in parts)
    assert [first.text[a:b] for a, b in first.offsets.tolist()] == parts


def test_the_source_reaches_the_model(predictor):
    ((left,),) = sentences_of(predictor, ["what a good film"], source="left")
    assert left.transitions.tolist() == [0, 0, 1, 0, 1, 0, 1]
    for texts in (TEXTS, [""], []):
        with pytest.raises(InputError, match="'self'"):
            list(sentences_of(predictor, texts, source="self"))


def test_what_takes_errors_is_a_function(predictor):
    with pytest.raises(InputError, match="on_error: expected a function, found 'skip'"):
        predictor.stream(TEXTS, on_error="skip")
