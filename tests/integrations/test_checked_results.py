"""What no component can have left on a Doc is a DataError, however it came there."""

import copy

import pytest
from spacy.tokens import Doc

from thinstack.errors import DataError

KEY = ("._.", "tree_sentiment_by_name", None, None)
TEXT = "good film. awful film"


def read(nlp, value):
    """A Doc as spaCy reads it, with other results than it was written with."""
    doc = nlp(TEXT)
    doc.user_data[KEY] = value
    return Doc(nlp.vocab).from_bytes(doc.to_bytes())


def first(**changes):
    """Changes of the first sentence."""
    return lambda value: value["sentences"][0].update(changes)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda value: value.pop("labels"), "labels"),
        (lambda value: value.update(labels=["bad", "bad", "good"]), "names of classes"),
        (lambda value: value.update(polarity=[0.0]), "polarity of each"),
        (lambda value: value.update(aggregation="tokens"), "aggregation"),
        (lambda value: value.update(abstain=float("nan")), "abstain"),
        (lambda value: value.update(about=["!"]), "!"),
        (lambda value: value.update(root=[float("nan")] * 3), "scores"),
        (lambda value: value["sentences"].reverse(), "one after the other"),
        (lambda value: value["sentences"].append(3), "sentences"),
        (first(words=["good", 3, "."]), "words"),
        (first(words=[]), "words"),
        (first(characters=[[0, 4], [5, 9], [9, 22]]), "of 21"),
        (first(characters=[[-1, 4], [5, 9], [9, 10]]), "characters"),
        (first(characters=[[5, 9], [0, 4], [9, 10]]), "characters"),
        (first(characters=[0] * 6), "characters"),
        (first(characters=[1 << 40] * 6), "OverflowError"),
        (first(characters=[0] * 5), "reshape"),
        (first(transitions=[0] * 5), "TreeError"),
        (first(transitions=["x"]), "ValueError"),
        (first(scores=[[float("nan")] * 3] * 5), "scores of each phrase"),
        (first(scores=[0.5] * 6), "scores of each phrase"),
        (first(weight=-1.0), "weight"),
        (first(parts=[[0, 2]]), "parts of 3 words"),
        (first(parts=[[1, 3]]), "parts of 3 words"),
        (first(parts=[[0, 3], [3, 3]]), "parts of 3 words"),
        (first(terms=[0.5] * 2), "scores of each phrase, found those of 2"),
        (first(terms=[float("nan")] * 5), "scores of each phrase"),
    ],
)
def test_what_none_can_have_left_is_refused(nlp, change, problem):
    value = copy.deepcopy(nlp(TEXT)._.tree_sentiment)
    change(value)
    doc = read(nlp, {"tree_sentiment": value})
    for ask in (lambda: doc._.sentiment_label, lambda: doc[0:2]._.sentiment_tree):
        with pytest.raises(DataError, match=problem):
            ask()
    other = nlp.make_doc(TEXT)
    with pytest.raises(DataError, match=problem):
        other._.tree_sentiment = value
    assert other._.tree_sentiment is None
    assert nlp.get_pipe("tree_sentiment")(doc)._.sentiment_label is not None  # takes its place


@pytest.mark.parametrize("value", [3, [], {"labels": ["a"], "sentences": 1}, "x"])
def test_what_is_no_mapping_is_refused(nlp, value):
    with pytest.raises(DataError):
        nlp.make_doc(TEXT)._.tree_sentiment = value
    with pytest.raises(DataError):
        _ = read(nlp, value)._.tree_sentiment
