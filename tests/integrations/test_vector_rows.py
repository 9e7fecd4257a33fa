"""Rows of a corpus with vectors: those of phrases, sentences and texts, in parquet and in Arrow."""

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from vector_models import SIZE, write_vector_bundle

import thinstack
from thinstack.errors import InputError
from thinstack.integrations.corpora import score_batches, scored_schema

LABELS = ("negative", "neutral", "positive")
TEXTS = {"a": "Good film. The plot but the film.", "b": "", "c": "awful", "d": "The good film."}


@pytest.fixture(scope="module", params=[LABELS, ()], ids=["both", "alone"])
def folder(tmp_path_factory, request):
    folder = tmp_path_factory.mktemp("model") / "vectors"
    return write_vector_bundle(folder, labels=request.param).path


@pytest.fixture
def table(tmp_path):
    table = tmp_path / "texts.csv"
    lines = (f'{name},"{text}"\n' for name, text in TEXTS.items())
    table.write_text(f"id,text\n{''.join(lines)}")
    return table


def vectors_of(model, output):
    """The id and vector of each row that there should be."""
    for name, text in TEXTS.items():
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
    batch = pa.record_batch({"id": [*TEXTS], "text": [*TEXTS.values()]})
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
    with pytest.raises(InputError, match=r'no labels: .*thinstack\.load\("sentiment"\)'):
        score_batches([], model)
