"""Containers that do not iterate over their texts are refused wherever texts are given. What is no
text is an error with its place or a failed row; its neighbours keep their results."""

from collections import UserString
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import spacy
from last_word_model import best, expected, pipeline
from predictions import failing
from spacy.tokens import Doc

import thinstack
from thinstack.errors import InputError, TreeError
from thinstack.integrations.corpora import score_batches
from thinstack.integrations.spacy.component import TreeSentiment
from thinstack.runtime.predictor import Predictor
from thinstack.text.sentences import splitter

FRAME = pd.DataFrame({"text": ["so good", "awful"], "label": ["a", "b"]})
ROWS = [{"text": "so good", "label": "a"}]
DOC = Doc(spacy.blank("en").vocab, ["so", "good"])


WAYS = {
    "call": lambda predictor, x: predictor(x),
    "stream": lambda predictor, x: predictor.stream(x),
    "splitter": lambda predictor, x: list(splitter()(x)),
    "predict": lambda predictor, x: predictor.predict(x),
    "predict of one": lambda predictor, x: predictor.predict([["good"], x]),
    "trees_and_scores": lambda predictor, x: predictor.trees_and_scores(x),
    "predict_trees": lambda predictor, x: predictor.predict_trees(x),
    "score_batches": lambda predictor, x: list(score_batches(x, predictor, id="label")),
    "render": lambda predictor, x: thinstack.render(x),
    "train_texts": lambda predictor, x: thinstack.train_texts(x, out="never"),
    "train_texts, dev": lambda predictor, x: thinstack.train_texts(ROWS, dev=x, out="never"),
}


ALLOWED = [(way, "so good") for way in ("call", "render", "predict of one")]
ALLOWED += [("train_texts, dev", None)]
"""A text; a tree in brackets, which this is not; a sentence, whose own message the next test reads;
and no rows to measure on."""


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "value",
    [
        FRAME,
        {"text": ["so good"]},
        {"a": "so good"},
        "so good",
        pa.Table.from_pandas(FRAME),
        None,
        np.float64("nan"),
    ],
    ids=lambda x: type(x).__name__,
)
def test_a_container_is_refused_with_what_to_give(predictor, way, value):
    if any(way == each and value is odd for each, odd in ALLOWED):
        return
    name = type(value).__name__ if not isinstance(value, str | None) else repr(value)
    with pytest.raises(InputError, match=rf"found .*{name}"):
        WAYS[way](predictor, value)
    assert not Path("never").exists()


def test_labels_are_no_letters():
    with pytest.raises(InputError, match=r"expected a list.*'no,yes'"):
        thinstack.train_texts(ROWS, labels="no,yes", out="never")
    assert not Path("never").exists()


def test_words_need_an_order(predictor):
    with pytest.raises(InputError, match=r"^sentence 1: .*\{"):
        predictor.predict([["good"], {"so", "good"}])


def test_columns_count_by_place_and_not_by_their_index(predictor):
    words = [["so", "good"], ["awful"], ["film", "awful", "."]]
    expected = [found.label for found in predictor.predict(words)]
    column = pd.Series(words, index=[2, 0, 1])
    steps = pd.Series([found.transitions for found in predictor.predict(words)], index=[9, 5, 7])
    inner = [pd.Series(one, index=range(9, 9 - len(one), -1)) for one in words]
    for given in (column, column.to_numpy(), inner):
        assert [found.label for found in predictor.predict(given)] == expected
        assert [found.label for found in predictor.predict(given, source=steps)] == expected
    assert len(predictor.predict(np.array([["so", "good"], ["so", "awful"]]))) == 2


def test_a_single_tree_batch_or_doc_is_put_in_a_list(predictor, last_word):
    (batch,) = pa.Table.from_pandas(FRAME).to_batches()
    trees = [thinstack.from_brackets(text) for text in ("(so good)", "(so awful)")]
    assert [each.label for each in predictor.predict_trees(iter(trees))] == ["good", "bad"]
    with pytest.raises(InputError, match="in a list"):
        predictor.predict_trees(trees[0])
    with pytest.raises(TreeError, match=r"tree 0: .*from_brackets"):
        predictor.predict_trees(["(so good)"])
    with pytest.raises(InputError, match="in a list"):
        score_batches(batch, predictor, id="label")
    assert next(score_batches([batch], predictor, id="label")).num_rows == 2
    with pytest.raises(InputError, match="so good"):
        TreeSentiment(model=str(last_word.path), threads=1).predict(DOC)


@pytest.mark.parametrize("given", [UserString("so"), np.array("so")])
def test_a_text_in_other_clothes(predictor, given):
    for call in (predictor.predict, thinstack.render, splitter(), splitter(sentences=False)):
        with pytest.raises(InputError, match=f"found a {type(given).__name__}"):
            list(call(given))


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
    "half": ("a \ud800", r".*character 2 is '\\ud800'"),
}
TEXTS = {
    "empty": ("", 0),
    "blank": (" \t\n", 0),
    "NUL": ("\0", 1),
    "escape": ("\x1b[31m", 1),
    "very long": ("film " * 3000, 1),
}
"""Odd texts, and how many sentences they have."""


@pytest.mark.parametrize("kind", NO_TEXTS)
def test_what_is_no_text_in_a_stream(predictor, kind):
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
def test_what_is_no_word(predictor, kind):
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
def test_what_is_no_text_in_arrow_rows(predictor, column, kind):
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
def test_what_is_no_doc(nlp, kind):
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
