"""Rows of aspects and of vectors: of corpora, of record batches, and columns of frames."""

import itertools
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from aspect_models import LABELS
from pyarrow import parquet
from scored_rows import read_rows
from vector_models import SIZE, write_vector_bundle

import thinstack
from thinstack.errors import InputError
from thinstack.integrations.corpora import run_manifest, score_batches, scored_schema

TEXTS = ["A good battery! The staff is awful.", "", "so good", "a screen, good staff", "nothing"]
FIELDS = ["id", "row", "sentence", "start", "end", "because_start", "because_end"]
FIELDS += ["text", "because", "label", "polarity", "scores"]


@pytest.fixture(scope="module")
def model(aspect_folder):
    return thinstack.load(aspect_folder, threads=1)


def expected(model):
    """A row for each aspect, and an empty one for a text without any."""
    for number, result in enumerate(model(TEXTS)):
        if not result.aspects:
            yield {"id": str(number), "row": number} | dict.fromkeys(FIELDS[2:])
        for each in result.aspects:
            data, why = each.to_dict(), each.because
            row = {"id": str(number), "row": number} | {name: data.get(name) for name in FIELDS[2:]}
            row |= {"sentence": result.sentences.index(each.sentence), "because": why and why.text}
            row |= {"because_start": why and why.start, "because_end": why and why.end}
            close = {name: pytest.approx(data[name], abs=2e-6) for name in ("polarity", "scores")}
            yield row | close


@pytest.mark.parametrize("format", ["jsonl", "csv", "parquet"])
def test_a_corpus_has_a_row_for_each_aspect(
    cli, aspect_folder, model, tmp_path, monkeypatch, format
):
    monkeypatch.setattr(run_manifest, "SHARD_ROWS", 2)
    lines = (json.dumps({"id": str(number), "text": text}) for number, text in enumerate(TEXTS))
    given, out = tmp_path / "texts.jsonl", tmp_path / f"scored.{format}"
    given.write_text("\n".join(lines))
    asked = ("predict", "--input", given, "--id", "id", "--out", out, "--output", "aspects")
    answer = cli(*asked, "--jobs", "0", "--model", aspect_folder)
    assert (answer.code, answer.err) == (0, f"5 rows; the scores are in {out}\n")
    found = read_rows(out, LABELS[1:])
    assert found == list(expected(model))
    assert all(list(row) == FIELDS for row in found)


def test_batches_have_a_row_for_each_aspect(model):
    batch = pa.record_batch({"id": [*"01234"], "text": TEXTS})
    found = list(score_batches([batch], model, output="aspects"))
    assert {one.schema for one in found} == {scored_schema(model.labels, "aspects")}
    fields = [name for name in FIELDS if name != "row"]  # an engine numbers no rows
    assert found[0].schema.names == [*fields, "error"]
    rows = list(itertools.chain.from_iterable(one.to_pylist() for one in found))
    assert {row["error"] for row in rows} == {None}
    known = [{name: row[name] for name in fields} for row in expected(model)]
    assert [{name: row[name] for name in fields} for row in rows] == known
    batch = pa.record_batch({"id": [*"012"], "text": [None, "a staff", "nothing"]})
    rows = next(iter(score_batches([batch], model, output="aspects"))).to_pylist()
    kinds = [(row["text"], row["error"] and row["error"]["kind"]) for row in rows]
    assert kinds == [(None, "missing"), ("staff", None), (None, None)]


def test_rows_that_cannot_be_read_do_not_end_a_run_with_terms(cli, tmp_path, monkeypatch):
    monkeypatch.setattr(run_manifest, "SHARD_ROWS", 1)  # so that all rows of a batch are bad
    given, out = tmp_path / "texts.jsonl", tmp_path / "scored.csv"
    given.write_text('{"text": [1]}\n{"text": "a good battery"}\n')
    asked = ("predict", "--input", given, "--out", out, "--output", "documents")
    answer = cli(*asked, "--about", "battery", "--jobs", "0", "--fail-after", "1")
    assert answer.code == 1
    assert "2 rows" in answer.err


CELLS = ["The staff is awful. Good staff!", None, "Nothing here", "a screen"]
MAKE = {
    "pandas": lambda: pd.DataFrame({"text": CELLS}, index=[3, 1, 4, 5]),
    "polars": lambda: pl.DataFrame({"text": CELLS}),
    "pyarrow": lambda: pa.table({"text": CELLS}),
}
NEW = ["staff_polarity", "staff_mentions", "screen_polarity", "screen_mentions"]


@pytest.mark.parametrize("kind", MAKE)
@pytest.mark.parametrize("own", [False, True])
def test_frames_have_columns_for_each_term(aspect_folder, kind, own):
    model = thinstack.load(aspect_folder if own else "sentiment", threads=1)
    frame = thinstack.score_frame(
        MAKE[kind](), model=model, about=["staff", "screen|display"], prefix="x_"
    )
    names = [*(frame.columns if kind != "pyarrow" else frame.column_names)]
    assert names[-4:] == [f"x_{name}" for name in NEW]
    if kind == "pandas":
        assert frame.index.tolist() == [3, 1, 4, 5]
        rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
    else:
        rows = frame.to_dicts() if kind == "polars" else frame.to_pylist()
    staff, screen = (
        [[each.polarity for each in model(cell or "").about(term)] for cell in CELLS]
        for term in ("staff", "screen|display")
    )
    assert [[len(one) for one in each] for each in (staff, screen)] == [[2, 0, 0, 0], [0, 0, 0, 1]]
    for term, found in (("staff", staff), ("screen", screen)):
        assert [row[f"x_{term}_mentions"] for row in rows] == [*map(len, found)]
        for row, some in zip(rows, found, strict=True):
            wanted = pytest.approx(np.mean(some), abs=1e-12) if some else None
            assert row[f"x_{term}_polarity"] == wanted


@pytest.mark.parametrize(
    ("about", "problem"),
    [
        ("battery", "about: expected a list of terms, .*found 'battery'"),
        (3, "about: expected a list of terms, .*found 3"),
        ([3], "expected each term to be text.*found 3"),
        (["?"], "a letter or digit"),
        (["staff", "staff|waiter"], "the column 'staff_polarity'"),
    ],
)
def test_terms_of_a_frame_that_are_none_are_refused(model, about, problem):
    frame = pl.DataFrame({"text": ["a"]})
    with pytest.raises(InputError, match=problem):
        thinstack.score_frame(frame, model=model, about=about)


def test_a_frame_that_has_a_column_of_a_term_is_refused(model, last_word):
    frame = pl.DataFrame({"text": ["a"], "staff_polarity": [1]})
    with pytest.raises(InputError, match="'staff_polarity' would be"):
        thinstack.score_frame(frame, model=model, about=["staff"])
    with pytest.raises(InputError, match=r"about: .*bad, so-so, good"):
        thinstack.score_frame(frame.select("text"), model=last_word.path, about=["staff"])


CLASSES = ("negative", "neutral", "positive")
BY_ID = {"a": "Good film. The plot but the film.", "b": "", "c": "awful", "d": "The good film."}


@pytest.fixture(scope="module", params=[CLASSES, ()], ids=["both", "alone"])
def folder(tmp_path_factory, request):
    folder = tmp_path_factory.mktemp("model") / "vectors"
    return write_vector_bundle(folder, labels=request.param).path


@pytest.fixture
def table(tmp_path):
    table = tmp_path / "texts.csv"
    lines = (f'{name},"{text}"\n' for name, text in BY_ID.items())
    table.write_text(f"id,text\n{''.join(lines)}")
    return table


def vectors_of(model, output):
    """The id and vector of each row that there should be."""
    for name, text in BY_ID.items():
        result = model(text)
        parts = {"documents": [result], "sentences": result.sentences, "phrases": result.phrases}
        for part in parts[output] or [result]:
            yield name, part.vector


def check(rows, model, output):
    for row, (name, vector) in zip(rows, vectors_of(model, output), strict=True):
        assert row["id"] == name
        assert (row["vector"] is None) == (vector is None)
        if vector is not None:
            np.testing.assert_allclose(row["vector"], vector, atol=1e-3)
            assert np.linalg.norm(row["vector"]) == pytest.approx(1, abs=1e-6)
        label = None if vector is None or not model.labels else row["label"]
        assert row["label"] == label


@pytest.mark.parametrize("output", ["phrases", "sentences", "documents"])
def test_parquet_has_the_vector_of_each_row(cli, folder, table, output, tmp_path):
    out = tmp_path / "scored.parquet"
    options = ("--input", table, "--id", "id", "--output", output, "--jobs", 0, "--vectors")
    assert cli("predict", "--model", folder, *options, "--out", out).code == 0
    rows, model = parquet.read_table(out), thinstack.load(folder)
    assert rows.schema.field("vector").type == pa.list_(pa.float32(), SIZE)
    assert ("scores" in rows.schema.names) == bool(model.labels)
    check(rows.to_pylist(), model, output)


@pytest.mark.parametrize("output", ["phrases", "sentences", "documents"])
def test_arrow_batches_with_vectors(folder, output):
    model = thinstack.load(folder)
    batch = pa.record_batch({"id": [*BY_ID], "text": [*BY_ID.values()]})
    rows = pa.Table.from_batches(score_batches([batch], model, output=output, vectors=True))
    assert rows.schema == scored_schema(model.labels, output, vectors=SIZE)
    check(rows.to_pylist(), model, output)


def test_a_text_that_fails_has_no_vector(folder):
    model = thinstack.load(folder)
    batch = pa.record_batch({"id": ["a", "b"], "text": ["good", None]})
    (rows,) = score_batches([batch], model, vectors=True)
    assert rows["vector"].is_null().to_pylist() == [False, True]
    assert rows["error"].is_null().to_pylist() == [True, False]


def test_rows_of_vectors_alone_need_vectors(tmp_path):
    model = thinstack.load(write_vector_bundle(tmp_path / "alone", labels=()).path)
    with pytest.raises(InputError, match=r'not labels: .*thinstack\.load\("sentiment"\)'):
        score_batches([], model)
