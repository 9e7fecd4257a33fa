"""What is no text is an error with its place or a failed row; its neighbours keep their results."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import spacy
from last_word_model import best, expected, pipeline
from predictions import failing

from thinstack.errors import InputError
from thinstack.integrations.corpora import score_batches
from thinstack.runtime.predictor import Predictor

GOOD = best(expected("good", 2))

NO_TEXTS = {
    "None": (None, "expected a text, found None"),
    "NaN": (float("nan"), "expected a text, found nan"),
    "NaN of numpy": (np.float32("nan"), "expected a text, found .*nan"),
    "a whole number": (1, "expected a text, found 1"),
    "a number": (1.5, "expected a text, found 1.5"),
    "bytes": (b"x", "expected a text, found b'x'"),
    "a list": ([], r"expected a text, found \[\]"),
    "digits": (10**5000, "expected a text, found int .cannot be printed"),
    "half": ("a \ud800", r"not Unicode text, character 2 is '\\ud800'"),
}
TEXTS = {
    "empty": ("", 0),
    "blank": (" \t\n", 0),
    "NUL": ("\0", 1),
    "escape": ("\x1b[31m", 1),
    "very long": ("film " * 3000, 1),
}
"""Odd texts, and how many sentences they have."""


@pytest.fixture(scope="module")
def predictor(last_word):
    return Predictor(last_word, threads=1)


@pytest.mark.parametrize("kind", NO_TEXTS)
def test_of_a_stream(predictor, kind):
    bad, said = NO_TEXTS[kind]
    texts = ["so good", bad, "so good", bad]
    found = predictor.stream(texts)
    assert next(found).label == GOOD
    with pytest.raises(InputError, match=f"^text 1: {said}"):
        next(found)
    told = []
    read = predictor(texts, on_error=lambda *each: told.append(each))
    assert [result.label for result in read] == [GOOD, None, GOOD, None]
    assert [(place, type(error)) for place, error in told] == [(1, InputError), (3, InputError)]
    assert str(told[1][1]).startswith("text 3: ")


@pytest.mark.parametrize("kind", TEXTS)
def test_odd_texts_are_texts(predictor, kind):
    text, sentences = TEXTS[kind]
    read = predictor(["so good", text, "so good"])
    assert [len(result.sentences) for result in read] == [1, sentences, 1]
    assert [read[0].label, read[2].label] == [GOOD, GOOD]


def test_a_text_that_the_model_fails_on_is_told_too(last_word, monkeypatch):
    predictor, told = Predictor(last_word, threads=1), list[int]()
    failing(monkeypatch, predictor, "awful", InputError("too long"))
    texts = ["so good", "awful", "so good"]
    read = predictor(texts, on_error=lambda place, _: told.append(place))
    assert ([len(result.sentences) for result in read], told) == ([1, 0, 1], [1])
    stream = predictor.stream(texts)
    assert next(stream).label == GOOD
    with pytest.raises(InputError, match=r"^text 1: too long$"):
        next(stream)


@pytest.mark.parametrize("kind", NO_TEXTS)
def test_of_words(predictor, kind):
    """Half of a surrogate pair is a word that no vocabulary has."""
    bad = NO_TEXTS[kind][0]
    if kind != "half":
        with pytest.raises(InputError, match=r"^sentence 1: "):
            predictor.predict([["good"], ["a", bad]])
    with pytest.raises(InputError, match=r"^sentence 1"):
        predictor.predict([["good"], bad])
    if kind != "a list":
        with pytest.raises(InputError, match="sentences of words"):
            predictor.predict(bad)


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (pa.array(["so good", None, "so good"]), "missing"),
        (pa.array(["so good", "NaN", "so good"]), "missing"),
        (pa.array([b"so good", b"\xff", b"so good"]), "not_text"),
        (pa.array([None, float("nan"), None], pa.float64()), "missing"),
        (pa.array([["a"], [], None]), "not_text"),
        (pa.array([1, 2**62, 1], pa.timestamp("ns")), "not_text"),
    ],
    ids=["null", "NaN as text", "bytes", "NaN", "list", "time"],
)
def test_of_arrow_rows(predictor, column, kind):
    """A row that is no text has an error, and costs no other."""
    batch = pa.record_batch({"id": ["0", "1", "2"], "text": column})
    (found,) = score_batches([batch], predictor)
    rows = found.to_pylist()
    assert [row["id"] for row in rows] == ["0", "1", "2"]
    assert rows[1]["error"]["kind"] == kind
    assert rows[1]["error"]["message"].startswith("row:2: expected ")
    if pa.types.is_string(column.type) or pa.types.is_binary(column.type):
        assert [row["label"] is None for row in rows] == [False, True, False]
        assert rows[0]["scores"] == rows[2]["scores"]


@pytest.fixture(scope="module")
def nlp(last_word):
    return pipeline(last_word.path, threads=2)


@pytest.mark.parametrize("kind", NO_TEXTS)
def test_of_the_component(nlp, kind):
    """What is no Doc goes to the error handler. Texts are for spaCy: it makes the Docs."""
    bad = NO_TEXTS[kind][0]
    component, told = nlp.get_pipe("tree_sentiment"), list[Any]()
    split = nlp.get_pipe("sentencizer")
    docs = [split(nlp.make_doc("so good")), bad, split(nlp.make_doc("so good"))]
    with pytest.raises(InputError, match="spaCy Doc"):
        list(component.pipe(docs))
    component.set_error_handler(lambda *error: told.append(error[3]))
    try:
        found = list(component.pipe(docs))
    finally:
        component.set_error_handler(spacy.util.raise_error)
    assert [max(doc.cats, key=doc.cats.__getitem__) for doc in found] == [GOOD, GOOD]
    assert [type(error) for error in told] == [InputError]
