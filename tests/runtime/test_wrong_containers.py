"""A table, a dict or another container that does not iterate over its texts is refused wherever
texts or sentences are given."""

from collections import UserString
from pathlib import Path

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc

import thinstack
from thinstack.errors import InputError, TreeError
from thinstack.integrations.corpora import score_batches
from thinstack.integrations.spacy.component import TreeSentiment
from thinstack.runtime.predictor import Predictor
from thinstack.text.sentences import splitter

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")

FRAME = pd.DataFrame({"text": ["so good", "awful"], "label": ["a", "b"]})
ROWS = [{"text": "so good", "label": "a"}]
DOC = Doc(spacy.blank("en").vocab, ["so", "good"])


@pytest.fixture(scope="module")
def predictor(last_word):
    return Predictor(last_word, threads=1)


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


ALLOWED = [
    ("call", "so good"),
    ("render", "so good"),
    ("predict of one", "so good"),
    ("train_texts, dev", None),
]
"""A text; a tree in brackets, which this is not; a sentence, whose own message the next test reads;
and no rows to measure on."""


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "value",
    [FRAME, {"text": ["so good"]}, {"a": "so good"}, "so good", pa.Table.from_pandas(FRAME), None],
    ids=lambda x: type(x).__name__,
)
def test_is_refused_with_what_to_give(predictor, way, value):
    if any(way == each and value is odd for each, odd in ALLOWED):
        return
    name = type(value).__name__ if not isinstance(value, str | None) else repr(value)
    with pytest.raises(InputError, match=rf"found .*{name}"):
        WAYS[way](predictor, value)
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


def test_a_single_tree_is_put_in_a_list(predictor):
    tree = thinstack.from_brackets("(so good)")
    with pytest.raises(InputError, match="in a list"):
        predictor.predict_trees(tree)
    with pytest.raises(TreeError, match=r"tree 0: .*from_brackets"):
        predictor.predict_trees(["(so good)"])


def test_batches_are_put_in_a_list(predictor):
    (batch,) = pa.Table.from_pandas(FRAME).to_batches()
    with pytest.raises(InputError, match="in a list"):
        score_batches(batch, predictor, id="label")
    assert next(score_batches([batch], predictor, id="label")).num_rows == 2


def test_a_single_doc_is_put_in_a_list(last_word):
    component = TreeSentiment(model=str(last_word.path), threads=1)
    with pytest.raises(InputError, match="so good"):
        component.predict(DOC)


@pytest.mark.parametrize("given", [UserString("so"), np.array("so")])
def test_a_text_in_other_clothes(predictor, given):
    for call in (predictor.predict, thinstack.render, splitter(), splitter(sentences=False)):
        with pytest.raises(InputError, match=f"found a {type(given).__name__}"):
            list(call(given))
