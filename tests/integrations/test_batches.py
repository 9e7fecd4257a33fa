"""Scored rows, in columns and in Arrow record batches, against predictions sentence by sentence."""

import itertools
import sys

import numpy as np
import pyarrow as pa
import pytest
from predictions import failing, sentences_of

from thinstack.errors import BundleError, DataError, InputError, MissingExtraError, UnknownNameError
from thinstack.integrations.corpora import batches, score_batches, scored_schema
from thinstack.integrations.corpora.scored_rows import NOTHING
from thinstack.integrations.corpora.scoring import TextScorer
from thinstack.runtime.predictor import Predictor

TEXTS = ["  So good.   Very awful film!", "", "film", " \t ", "a b c d e f. It is (good)"]
FIELDS = ["id", "sentence", "start", "end", "text", "label", "polarity", "scores", "error"]


@pytest.fixture(scope="module")
def predictor(parsing):
    return Predictor(parsing, threads=1, max_words=4, abstain=0.5)


def batch(texts, ids=None, **more):
    ids = list(range(len(texts))) if ids is None else ids
    return pa.record_batch({"id": ids, "text": texts, **more})


def rows(found):
    return list(itertools.chain.from_iterable(one.to_pylist() for one in found))


@pytest.mark.parametrize("output", ["phrases", "sentences", "documents"])
def test_rows_are_those_of_the_scorer(predictor, output):
    wanted = TextScorer(predictor, output).score(TEXTS)
    made = list(score_batches([batch(TEXTS)], predictor, output=output))
    assert {one.schema for one in made} == {scored_schema(predictor.labels, output)}
    found = rows(iter(made))
    assert [int(row["id"]) for row in found] == wanted["text"].tolist()
    for name in ("sentence", "start", "end", *(["node", "parent"] if output == "phrases" else [])):
        numbers = [-1 if row[name] is None else row[name] for row in found]
        assert numbers == wanted[name].tolist()
    for row, number, scores in zip(found, wanted["label"], wanted["scores"], strict=True):
        assert row["label"] == (None if number < 0 else predictor.labels[number])
        assert row["text"] == TEXTS[int(row["id"])][row["start"] : row["end"]]
        assert row["polarity"] is None, "these classes are no scale of sentiment"
        if row["scores"] is None:
            assert np.isnan(scores).all()
        else:
            assert list(row["scores"].values()) == scores.tolist()
    assert all(row["error"] is None for row in found)


@pytest.mark.parametrize("output", ["phrases", "sentences", "documents"])
def test_polarity_is_the_mean_place_of_the_classes(scale_folder, output):
    found = rows(score_batches([batch(TEXTS)], scale_folder, output=output))
    assert len({row["polarity"] for row in found}) > 3
    for row in found:
        scores = row["scores"]
        wanted = scores and pytest.approx(scores["positive"] - scores["negative"], abs=1e-12)
        assert row["polarity"] == wanted


def test_the_schema_is_the_one_that_is_told():
    schema = scored_schema(("bad", "good"))
    assert schema.names == FIELDS
    assert schema.field("id").type == pa.string()
    assert {schema.field(name).type for name in ("sentence", "start", "end")} == {pa.int32()}
    assert schema.field("text").type == pa.string()
    assert schema.field("polarity").type == pa.float64()
    assert str(schema.field("scores").type) == "struct<bad: float, good: float>"
    assert str(schema.field("error").type) == "struct<kind: string, message: string>"
    assert all(field.nullable for field in schema)
    assert scored_schema(("bad", "good"), "documents") == schema
    assert scored_schema(("bad",), "phrases").names == [*FIELDS[:4], "node", "parent", *FIELDS[4:]]
    with pytest.raises(InputError, match="a model's labels, found 'sentiment'"):
        scored_schema("sentiment")


def test_a_row_that_fails_stands_in_its_place(predictor, monkeypatch):
    failing(monkeypatch, predictor, "poison", BundleError("the model failed" + 1000 * "!"))
    texts = ["good", None, "poison. film", "nan", "film", "a\0b", "awful"]
    found = rows(score_batches([batch(texts)], predictor))
    assert [row["id"] for row in found] == list("0123456")
    kinds = [row["error"] and row["error"]["kind"] for row in found]
    assert kinds == [None, "missing", "failed", "missing", None, "not_text", None]
    assert found[2]["error"]["message"].startswith("BundleError: the model failed!!!")
    assert len(found[2]["error"]["message"]) == 500
    assert found[1]["error"]["message"].startswith("row:2: expected a text in the column 'text'")
    for row in found:
        others = [row[name] for name in FIELDS[1:-1] if name != "polarity"]
        assert (row["error"] is None) == (None not in others) == any(x is not None for x in others)


def test_ids_and_texts_of_other_types(predictor):
    texts = pa.array([b"good", b"\xff", b"awful"], pa.binary())
    found = rows(score_batches([batch(texts, pa.array([1.0, 2.5, None]))], predictor))
    assert [row["id"] for row in found] == ["1", "2.5", None]
    assert [row["error"] and row["error"]["kind"] for row in found] == [None, "not_text", "id"]
    strings = pa.Array.from_buffers(pa.string(), 3, texts.buffers())  # as Spark may hand them over
    found = rows(score_batches([batch(strings)], predictor))
    assert [row["error"] and row["error"]["kind"] for row in found] == [None, "not_text", None]
    coded = pa.array(["good", "good"]).dictionary_encode()
    renamed = pa.record_batch({"body": coded, "key": pa.array(["a", "b"], pa.large_string())})
    found = rows(score_batches([renamed], predictor, text="body", id="key"))
    assert [row["id"] for row in found] == ["a", "b"]


def test_rows_are_numbered_through_all_batches(predictor):
    given = [batch(["good"] * 200), batch([]), batch(["good", None])]
    *_, last = rows(score_batches(given, predictor))
    assert last["error"]["message"].startswith("row:202:")


def test_no_batch_is_read_before_the_one_before_is_scored(predictor, monkeypatch):
    monkeypatch.setattr(batches, "BATCH_ROWS", 128)
    taken = []

    def given():
        for number in range(3):
            taken.append(number)
            yield batch(["good"] * 300)

    found = score_batches(given(), predictor)
    assert taken == []
    assert [(next(found).num_rows, len(taken)) for _ in range(4)] == [
        (128, 1), (128, 1), (44, 1), (128, 2),
    ]  # fmt: skip


def test_batches_that_are_given_are_of_bounded_size(predictor, monkeypatch):
    whole = rows(score_batches([batch(TEXTS)], predictor, output="phrases"))
    monkeypatch.setattr(batches, "MOST_ROWS", 4)
    parts = list(score_batches([batch(TEXTS)], predictor, output="phrases"))
    assert max(part.num_rows for part in parts) == 4 < len(whole)
    assert rows(iter(parts)) == whole


def test_what_cannot_be_scored_is_told_at_once(predictor, last_word):
    with pytest.raises(UnknownNameError, match="no-such-model"):
        score_batches([], "no-such-model")
    with pytest.raises(InputError, match="self"):
        score_batches([], last_word.path, source="self")
    with pytest.raises(DataError, match=r"column 'key', found 'id', 'text'; .*text= and id="):
        next(score_batches([batch(["good"])], predictor, id="key"))
    table = pa.table({"id": ["a"], "text": ["good"]})
    with pytest.raises(InputError, match=r"Table; .*to_batches"):
        next(score_batches([table], predictor))


def test_pyarrow_is_asked_for(predictor, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match="pip install pyarrow"):
        score_batches([], predictor)


# -- columns


def test_phrases_have_their_place_in_the_tree(predictor):
    found = TextScorer(predictor, "phrases").score(TEXTS)
    first = found["text"] == 0
    for number, sentence in enumerate(next(sentences_of(predictor, TEXTS))):
        rows = np.flatnonzero(first & (found["sentence"] == number))
        tree = sentence.tree
        assert found["node"][rows].tolist() == list(range(len(rows)))
        assert found["parent"][rows].tolist() == tree.parents.tolist()
    assert found["parent"][found["text"] == 1].tolist() == [NOTHING]


def test_models_without_phrases_and_unknown_sources_are_refused(predictor, last_word, monkeypatch):
    with pytest.raises(InputError, match="self"):
        TextScorer(Predictor(last_word), "sentences", "self")
    monkeypatch.setattr(predictor, "phrases", False)
    with pytest.raises(InputError, match="--output sentences"):
        TextScorer(predictor, "phrases")
