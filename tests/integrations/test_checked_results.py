"""What no component can have left on a Doc is a DataError, however it came there."""

import copy

import pytest
from spacy.tokens import Doc

from thinstack.errors import DataError
from thinstack.integrations.spacy.doc_results import predictions

KEY = ("._.", "tree_sentiment_by_name", None, None)
TEXT = "good film. awful film"


def read(nlp, kept):
    """A Doc as spaCy reads it, with other results than it was written with."""
    doc = nlp(TEXT)
    doc.user_data[KEY] = kept
    return Doc(nlp.vocab).from_bytes(doc.to_bytes())


def first(**changes):
    """Changes of the first sentence."""
    return lambda value: value["sentences"][0].update(changes)


def test_what_a_component_left_is_read_back(nlp):
    doc = nlp(TEXT)
    again = read(nlp, dict(doc.user_data[KEY]))
    assert again._.tree_sentiment == doc._.tree_sentiment
    again._.tree_sentiment = doc._.tree_sentiment
    assert again._.sentiment_phrases == doc._.sentiment_phrases
    assert len(predictions(again)) == 2


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda value: value.pop("labels"), "labels"),
        (lambda value: value.update(labels=["bad", "bad", "good"]), "names of classes"),
        (lambda value: value.update(aggregation="tokens"), "aggregation"),
        (lambda value: value.update(abstain=float("nan")), "abstain"),
        (lambda value: value["sentences"].reverse(), "one after the other"),
        (lambda value: value["sentences"].append(3), "TypeError"),
        (first(words=["good", 3, "."]), "expected words"),
        (first(end_char=22), "characters of the 21"),
        (first(characters=bytes(24)), "the characters of each word"),
        (first(transitions=bytes(5)), "TreeError"),
        (first(scores=b"\xff" * 60), "scores of each phrase"),
        (first(weight=-1.0), "weight"),
        (first(parts=[[0, 2]]), "parts of 3 words"),
        (first(parts=[[1, 3]]), "parts of 3 words"),
        (first(terms=bytes(8)), "scores of each phrase, found those of 2"),
        (first(terms=b"\xff" * 20), "scores of each phrase"),
    ],
)
def test_what_none_can_have_left_is_refused(nlp, change, problem):
    kept = copy.deepcopy(dict(nlp(TEXT).user_data[KEY]))
    change(kept["tree_sentiment"])
    doc = read(nlp, kept)
    for ask in (lambda: doc._.sentiment_label, lambda: doc[0:2]._.sentiment_tree):
        with pytest.raises(DataError, match=problem):
            ask()
    other = nlp.make_doc(TEXT)
    with pytest.raises(DataError, match=problem):
        other._.tree_sentiment = kept["tree_sentiment"]
    assert other._.tree_sentiment is None


@pytest.mark.parametrize("value", [3, [], {"labels": ["a"], "sentences": 1}, "x"])
def test_what_is_no_mapping_is_refused(nlp, value):
    with pytest.raises(DataError, match="no results of tree_sentiment"):
        nlp.make_doc(TEXT)._.tree_sentiment = value
    with pytest.raises(DataError, match="no results of tree_sentiment"):
        _ = read(nlp, value)._.tree_sentiment
