"""What a Doc keeps of a model of aspects: how probably each phrase is a term."""

import json

import numpy as np
import pytest
import spacy
from aspect_models import write_aspect_bundle
from last_word_model import pipeline
from spacy.tokens import Doc, DocBin

import thinstack
from thinstack.integrations.spacy import predictions

TEXT = "A good battery! The staff is awful. And a screen."


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_aspect_bundle(tmp_path_factory.mktemp("model") / "aspects").path


@pytest.fixture(scope="module")
def doc(folder):
    return pipeline(folder)(TEXT)


def through_a_doc_bin(doc):
    kept = DocBin(docs=[doc], store_user_data=True).to_bytes()
    return next(iter(DocBin().from_bytes(kept).get_docs(spacy.blank("en").vocab)))


def through_json(doc):
    again = spacy.blank("en")(doc.text)
    again._.tree_sentiment = json.loads(json.dumps(doc._.tree_sentiment))
    return again


@pytest.mark.parametrize(
    "passed_on",
    [
        lambda doc: doc,
        lambda doc: Doc(doc.vocab).from_bytes(doc.to_bytes()),
        through_a_doc_bin,
        through_json,
    ],
    ids=["itself", "bytes", "DocBin", "JSON"],
)
def test_a_doc_keeps_its_terms(doc, folder, passed_on):
    found, result = predictions(passed_on(doc)), thinstack.load(folder, threads=1)(TEXT)
    for mine, other in zip(found, result.sentences, strict=True):
        np.testing.assert_array_equal(mine.terms, other.terms)
        assert mine.to_dict() == other.to_dict()
    aspects = [each.to_dict() for one in found for each in one.aspects]
    assert aspects == [each.to_dict() for each in result.aspects]
    about = [each.to_dict() for one in found for each in one.about("staff")]
    assert about == [each.to_dict() for each in result.about("staff")]


def test_a_span_has_the_terms_of_its_phrase(doc):
    (whole, *_), (phrase,) = predictions(doc), predictions(doc[0:2])
    assert phrase.text == "A good"
    np.testing.assert_array_equal(phrase.terms, whole.terms[:3])
    (phrase,) = predictions(doc[2:3])
    assert [(each.text, each.start, each.end) for each in phrase.aspects] == [("battery", 7, 14)]


def test_another_model_leaves_no_terms(last_word):
    (sentence,) = predictions(pipeline(last_word.path)("good film"))
    assert sentence.terms is None
