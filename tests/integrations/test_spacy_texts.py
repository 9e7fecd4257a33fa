"""Docs of several sentences that a component reads as one tree."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from last_word_model import pipeline
from spacy.tokens import Doc, DocBin

import thinstack
from thinstack.errors import InputError

TEXTS = Path(__file__).parents[1] / "golden" / "schema-1" / "texts"
TEXT = "The good film. Odd cafe films! Good."


@pytest.fixture(scope="module")
def nlp():
    return pipeline(TEXTS)


@cache
def expected(text):
    return pytest.approx(thinstack.load(TEXTS, threads=1)(text).scores, abs=1e-6)


def test_a_doc_says_what_its_text_says(nlp):
    texts = [TEXT, "Good.", "", "Odd film. Cafe."]
    for doc in [*nlp.pipe(texts, n_process=1), *map(nlp, texts)]:
        assert doc.cats == (expected(doc.text) if doc.text else dict.fromkeys(doc.cats, 0.0))
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
    assert first._.sentiment_scores == expected(first.text)


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
    doc = pipeline(TEXTS, aggregation=aggregation)(TEXT)
    rows = [[*each._.sentiment_scores.values()] for each in doc.sents]
    np.testing.assert_allclose([*doc.cats.values()], np.average(rows, 0, weights), atol=1e-6)


def test_a_tree_is_refused_to_a_model_that_makes_none(last_word):
    with pytest.raises(InputError, match="aggregation"):
        pipeline(last_word.path, aggregation="tree")
