"""Predictions from raw text."""

import pytest
from last_word_model import best, expected
from predictions import sentences_of

from thinstack.errors import InputError
from thinstack.runtime import stream as module
from thinstack.runtime.predictor import Predictor

TEXTS = ["So good. Very awful", "", "A film"]
LABELS = [[best(expected(".", 3)), best(expected("awful", 2))], [], [best(expected("film", 2))]]


@pytest.fixture(scope="module")
def predictor(last_word):
    return Predictor(last_word, threads=1)


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
