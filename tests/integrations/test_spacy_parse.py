"""The spaCy component with a model that makes trees of its own, and with one that reads several
sentences as one tree."""

import re
from functools import cache

import numpy as np
import pytest
from bundle_folders import GOLDEN
from last_word_model import best, expected, mean_of, pipeline, write_last_word_bundle
from spacy.tokens import Doc, DocBin, Span

import thinstack
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
    message = "'self'; use one of balanced, left, right"
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
    assert re.match("good film: .*is not a tree", failure)


COMPOSING = GOLDEN / "texts"
TEXT = "The good film. Odd cafe films! Good."


@pytest.fixture(scope="module")
def nlp():
    return pipeline(COMPOSING)


@cache
def composed(text):
    return pytest.approx(thinstack.load(COMPOSING, threads=1)(text).scores, abs=1e-6)


def test_a_doc_says_what_its_text_says(nlp):
    texts = [TEXT, "Good.", "", "Odd film. Cafe."]
    for doc in [*nlp.pipe(texts, n_process=1), *map(nlp, texts)]:
        assert doc.cats == (composed(doc.text) if doc.text else dict.fromkeys(doc.cats, 0.0))
    doc = nlp(TEXT)
    assert doc._.sentiment_scores == pytest.approx(doc.cats)
    assert doc._.sentiment_label == max(doc.cats, key=doc.cats.get)
    assert doc[0:]._.sentiment_scores == pytest.approx(doc.cats)
    assert doc._.tree_sentiment["aggregation"] == "tree"


def test_some_of_its_sentences_have_their_mean(nlp):
    doc = nlp(TEXT)
    first, second, _ = doc.sents
    two = doc[first.start : second.end]._.sentiment_scores
    rows = [[*each._.sentiment_scores.values()] for each in (first, second)]
    np.testing.assert_allclose([*two.values()], np.average(rows, axis=0, weights=[4, 4]), atol=1e-6)
    assert first._.sentiment_scores == composed(first.text)


def test_it_survives_being_stored(nlp):
    doc = nlp(TEXT)
    stored = DocBin(docs=[doc], store_user_data=True).to_bytes()
    (again,) = DocBin().from_bytes(stored).get_docs(nlp.vocab)
    plain = Doc(nlp.vocab, [token.text for token in doc], [bool(t.whitespace_) for t in doc])
    plain._.tree_sentiment = doc._.tree_sentiment
    for found in (again, plain):
        assert found._.sentiment_scores == pytest.approx(doc.cats)


@pytest.mark.parametrize(
    ("aggregation", "weights"), [("words", (4, 4, 2)), ("sentences", (1,) * 3)]
)
def test_a_mean_is_taken_where_it_is_asked_for(aggregation, weights):
    doc = pipeline(COMPOSING, aggregation=aggregation)(TEXT)
    rows = [[*each._.sentiment_scores.values()] for each in doc.sents]
    np.testing.assert_allclose([*doc.cats.values()], np.average(rows, 0, weights), atol=1e-6)


def test_a_tree_is_refused_to_a_model_that_makes_none(last_word):
    with pytest.raises(InputError, match="aggregation"):
        pipeline(last_word.path, aggregation="tree")
