"""Docs in a stream: without sentences, of any length, and read while others are scored."""

import threading
import warnings

import pytest
import spacy
from last_word_model import best, expected, pipeline
from spacy.tokens import Doc

from thinstack.errors import NoSentencesWarning
from thinstack.integrations.spacy import pipe

SHORT = ["so good", "very awful", "A film. It was awful", "good"]


def bare(bundle, **settings):
    """The component alone, which gets Docs without sentences."""
    nlp = spacy.blank("en")
    nlp.add_pipe("tree_sentiment", config={"model": str(bundle), "threads": 1, **settings})
    return nlp


def test_without_sentence_boundaries_the_document_is_one_sentence(last_word):
    nlp = bare(last_word.path)
    with pytest.warns(NoSentencesWarning, match=r"add_pipe\('sentencizer', before='tree_sent"):
        doc = nlp("A good film. It was awful")
    assert doc.cats == pytest.approx(expected("awful", 2), abs=1e-6)
    assert doc[:]._.sentiment_label == best(expected("awful", 2))


def test_it_warns_once_and_fails_no_batch(last_word):
    nlp = bare(last_word.path)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", NoSentencesWarning)
        docs = [*nlp.pipe(SHORT * 5, batch_size=3), nlp("so good")]
    assert [each.category for each in told] == [NoSentencesWarning]
    assert [doc.text for doc in docs] == [*SHORT * 5, "so good"]
    # Where warnings are errors, a batch is tried again Doc by Doc.
    assert [doc.cats for doc in bare(last_word.path).pipe(SHORT)] == [doc.cats for doc in docs[:4]]


@pytest.mark.parametrize("words", [[], [" "], [" ", "\n"], ["good"]])
def test_it_does_not_warn_where_there_is_no_doubt(last_word, words):
    for nlp in (bare(last_word.path), pipeline(last_word.path)):
        doc = nlp(Doc(nlp.vocab, words=words))
        assert (max(doc.cats.values()) > 0) == (words == ["good"])


def test_many_long_documents_go_to_the_model_in_pieces(last_word, monkeypatch):
    monkeypatch.setattr(pipe, "BATCH_TOKENS", 20)
    nlp = pipeline(last_word.path)
    predictor, calls = nlp.get_pipe("tree_sentiment").predictor, list[int]()
    real = predictor.trees_and_scores
    monkeypatch.setattr(
        predictor,
        "trees_and_scores",
        lambda words, trees: calls.append(sum(map(len, words))) or real(words, trees),
    )
    texts = ["so good", "film " * 30, "so good", "so good", *["film " * 9 + "."] * 4, "good"]
    docs = list(nlp.pipe(texts, batch_size=100))
    assert calls == [2, 30, 14, 20, 11]
    assert [doc.text for doc in docs] == texts


@pytest.mark.parametrize(("batch_size", "ahead"), [(2, 1), (3, 1), (1, 0)])
def test_a_batch_is_read_while_the_one_before_is_scored(last_word, monkeypatch, batch_size, ahead):
    nlp = pipeline(last_word.path, threads=2)
    component, asked = nlp.get_pipe("tree_sentiment"), list[int]()
    second, places, met = threading.Event(), list[int](), list[bool]()
    real = component.predictor.trees_and_scores

    def texts():
        for place in range(9):
            asked.append(place)
            if place == 2 * batch_size - 1:
                second.set()
            yield SHORT[place % 4]

    def scores(words, trees):
        met.append(second.wait(20 * ahead))
        second.set()
        return real(words, trees)

    monkeypatch.setattr(component.predictor, "trees_and_scores", scores)
    for place, doc in enumerate(nlp.pipe(texts(), batch_size=batch_size)):
        assert (doc.text, doc.cats) == (SHORT[place % 4], nlp(SHORT[place % 4]).cats)
        places.append(len(asked))
    assert met[0] == bool(ahead)
    assert places == [min((place // batch_size + 1 + ahead) * batch_size, 9) for place in range(9)]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("good", [0, 3, 4, 5])
def test_documents_before_a_broken_stream_are_given(last_word, threads, good):
    def texts():
        yield from ["so good"] * good
        raise OSError("the disk is gone")

    nlp, found = pipeline(last_word.path, threads=threads), list[Doc]()
    with pytest.raises(OSError, match="the disk is gone"):
        found.extend(nlp.pipe(texts(), batch_size=4))
    assert [doc.cats for doc in found] == [nlp("so good").cats] * good


def test_a_stream_that_is_left_leaves_no_thread(last_word):
    nlp = pipeline(last_word.path, threads=2)
    list(nlp.pipe(SHORT * 300))  # the threads of the pool stay
    before = threading.active_count()
    stream = nlp.pipe(iter(SHORT * 9), batch_size=2)
    next(stream)
    assert threading.active_count() == before + 1
    stream.close()
    del stream
    assert threading.active_count() == before
