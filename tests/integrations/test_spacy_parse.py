"""The spaCy component with a model that makes trees of its own."""

import re

import pytest
from last_word_model import best, expected, mean_of, pipeline, write_last_word_bundle
from spacy.tokens import Span

from thinstack.errors import InputError
from thinstack.integrations.spacy import TreeSentiment, predictions

TEXTS = ["what a good film", "so good. A very awful film.", "", "a film (good) was awful !"]


def stored(doc):
    return doc._.tree_sentiment


@pytest.mark.parametrize("source", ["auto", "self"])
def test_everything_is_about_the_own_parse(parsing, source):
    text = "  It was so\n awful , really"
    doc = pipeline(parsing.path, source=source)(text)
    words = ["It", "was", "so", "awful", ",", "really"]
    tokens = [token for token in doc if not token.is_space]
    # All words but the last are joined from the right, and the last one to that.
    spans = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (3, 5), (2, 5), (1, 5), (0, 5), (5, 6), (0, 6)]
    assert list(map(tuple, predictions(doc)[0].spans.tolist())) == spans
    (sent,) = doc.sents
    assert doc._.sentiment_phrases == sent._.sentiment_phrases
    for phrase, (first, behind) in zip(sent._.sentiment_phrases, spans, strict=True):
        scores = expected(words[behind - 1], behind - first)
        assert (phrase["start"], phrase["end"]) == (tokens[first].i, tokens[behind - 1].i + 1)
        assert phrase["text"] == text[phrase["start_char"] : phrase["end_char"]]
        assert phrase["label"] == best(scores)
        assert phrase["scores"] == pytest.approx(scores, abs=1e-6)
    assert doc[1:3]._.sentiment_span.text == text[2:-7]  # "It was" is no phrase of this tree
    assert doc.cats == pytest.approx(mean_of(("really", 1)), abs=1e-6)


@pytest.fixture
def benepar():
    """Parses from elsewhere, of four words, for every sentence but `boom`."""

    def parse_string(span):
        if span.text == "boom":
            return None
        return "(S (A {}) (B (C {}) (D (E {}) (F {}))))".format(*(token.text for token in span))

    Span.set_extension("parse_string", getter=parse_string)
    yield
    Span.remove_extension("parse_string")


@pytest.mark.usefixtures("benepar")
def test_parses_from_elsewhere_can_be_asked_for(parsing):
    nlp = pipeline(parsing.path, source="benepar")
    failed = []
    nlp.set_error_handler(lambda name, component, docs, error: failed.append(docs[0].text))
    texts = ["what a good film", "boom", "a very awful one"]
    docs = list(nlp.pipe(texts))
    assert failed == ["boom"]
    for doc, text in zip(docs, (texts[0], texts[2]), strict=True):
        assert doc.text == text
        assert [found.transitions.tolist() for found in predictions(doc)] == [[0, 0, 0, 0, 1, 1, 1]]
        assert doc.cats == pytest.approx(expected(text.split()[-1], 4), abs=1e-6)


def test_a_model_without_a_parser_is_refused_when_it_is_added(last_word):
    message = "'self'; this model has balanced, left, right"
    with pytest.raises(InputError, match=message):
        pipeline(last_word.path, source="self")
    with pytest.raises(InputError, match=message):
        TreeSentiment(model=str(last_word.path), source="self").load()


def test_a_parse_that_is_no_tree_goes_to_the_error_handler(tmp_path):
    nlp = pipeline(write_last_word_bundle(tmp_path / "broken", parser="shifts").path)
    failed = []
    nlp.set_error_handler(
        lambda name, component, docs, error: failed.append(f"{docs[0].text}: {error}")
    )
    docs = list(nlp.pipe(["good film", "film", ""]))
    assert [doc.text for doc in docs] == ["film", ""]
    (failure,) = failed
    assert re.match("good film: .*own parse is not a tree", failure)
