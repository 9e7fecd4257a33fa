"""`thinstack.score_frame`: frames of pandas, polars and pyarrow in, the same kind out."""

import numpy as np
import pyarrow as pa
import pytest
from last_word_model import write_last_word_bundle
from vector_models import write_vector_bundle

import thinstack
from thinstack.errors import DataError, InputError
from thinstack.integrations import frames

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

TEXTS = ["It is good. An awful film", None, "good", "", "very awful", " ", "good film. It is good"]
NEW = ["label", "polarity", "most_positive", "most_negative"]
LABELS = ("negative", "neutral", "positive")
MAKE = {
    "pandas": lambda texts: pd.DataFrame({"n": range(len(texts)), "text": texts}),
    "pandas of Arrow": lambda texts: MAKE["pandas"](texts).convert_dtypes(dtype_backend="pyarrow"),
    "pandas of objects": lambda texts: MAKE["pandas"](texts).astype({"text": object}),
    "pandas of categories": lambda texts: MAKE["pandas"](texts).astype({"text": "category"}),
    "polars": lambda texts: pl.DataFrame({"n": range(len(texts)), "text": texts}),
    "polars of categories": lambda texts: MAKE["polars"](texts).cast({"text": pl.Categorical}),
    "pyarrow": lambda texts: pa.table({"n": range(len(texts)), "text": texts}),
    "pyarrow of large strings": lambda texts: MAKE["pyarrow"](texts).cast(
        pa.schema([("n", pa.int64()), ("text", pa.large_string())])
    ),
    "pyarrow in chunks": lambda texts: pa.concat_tables(
        [MAKE["pyarrow"](texts).slice(0, 2), MAKE["pyarrow"](texts).slice(2)]
    ),
}


@pytest.fixture(scope="module")
def model(scale_folder):
    return thinstack.load(scale_folder)


def rows_of(frame):
    """Rows as dicts; None in place of all that pandas has for a missing value."""
    if isinstance(frame, pd.DataFrame):
        records = frame.to_dict("records")
        return [{k: None if pd.isna(v) else v for k, v in row.items()} for row in records]
    return frame.to_dicts() if isinstance(frame, pl.DataFrame) else frame.to_pylist()


def expected(model, text):
    if text is None or not text.strip():
        return dict.fromkeys([*NEW, *LABELS])
    result = model(text)
    scores = result.scores
    sides = {phrase.label: phrase.text for phrase in reversed(result.highlights(99))}
    return {
        "label": result.label,
        "polarity": pytest.approx(scores["positive"] - scores["negative"], abs=1e-12),
        "most_positive": sides.get("positive"),
        "most_negative": sides.get("negative"),
        **scores,
    }


@pytest.mark.parametrize("kind", MAKE)
def test_a_frame_comes_back_with_new_columns(model, kind, monkeypatch):
    monkeypatch.setattr(frames, "_ROWS", 2)
    frame = MAKE[kind](TEXTS)
    found = thinstack.score_frame(frame, model=model, scores=True)
    assert type(found) is type(frame)
    rows = rows_of(found)
    assert list(rows[0]) == ["n", "text", *NEW, *LABELS]
    for number, (row, text) in enumerate(zip(rows, TEXTS, strict=True)):
        assert row == {"n": number, "text": text} | expected(model, text)
    assert (rows[0]["most_positive"], rows[0]["most_negative"]) == ("It is good", "An awful")
    assert rows[6]["most_positive"] == "It is good", "the stronger one, of two"
    assert len(rows_of(frame)[0]) == 2, "the frame that was given stays as it was"


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_frames_without_rows_and_without_texts_have_the_same_types(model, kind):
    full = thinstack.score_frame(MAKE[kind](TEXTS), model=model, scores=True)
    for texts in ([], [None, None]):
        found = thinstack.score_frame(MAKE[kind](texts), model=model, scores=True)
        assert len(rows_of(found)) == len(texts)
        assert types(found)[2:] == types(full)[2:]
        assert all(list(row.values())[1:] == [None] * 8 for row in rows_of(found))


def types(frame):
    return [*map(str, frame.schema.types if isinstance(frame, pa.Table) else frame.dtypes)]


@pytest.mark.parametrize(
    "index",
    [[5, 5, 2, 2, 2, 9, 1], list("gfedcba"), pd.MultiIndex.from_product([[1], list("gfedcba")])],
)
def test_an_index_stays(model, index):
    frame = MAKE["pandas"](TEXTS).set_index(pd.Index(index))
    found = thinstack.score_frame(frame, model=model)
    assert found.index.equals(frame.index)
    plain = thinstack.score_frame(MAKE["pandas"](TEXTS), model=model)
    assert found.reset_index(drop=True).equals(plain)


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA, pd.NaT, np.nan])
def test_all_that_is_missing_stays_missing(model, missing):
    frame = pd.DataFrame({"text": pd.Series(["good", missing], dtype=object)})
    first, second = rows_of(thinstack.score_frame(frame, model=model))
    assert first["label"] == "positive"
    assert set(second.values()) == {None}


def test_columns_that_are_there_are_not_lost(model):
    frame = MAKE["pandas"](TEXTS).assign(label="mine", positive=1)
    with pytest.raises(InputError, match=r"column 'label' .*prefix="):
        thinstack.score_frame(frame, model=model)
    with pytest.raises(InputError, match="Unicode"):
        thinstack.score_frame(frame, model=model, prefix="\ud800")
    found = thinstack.score_frame(frame, model=model, prefix="sst_")
    assert list(found)[2:] == ["label", "positive", *(f"sst_{name}" for name in NEW)]
    with pytest.raises(InputError, match="column 'positive' would"):
        thinstack.score_frame(frame.drop(columns="label"), model=model, scores=True)


@pytest.mark.parametrize("kind", MAKE)
def test_a_column_in_place_of_its_name_is_refused(model, kind):
    frame = MAKE[kind](TEXTS)
    for text in (frame["text"], ["text"]):
        for call in (thinstack.score_frame, thinstack.report):
            with pytest.raises(DataError, match=f"found a {type(text).__name__}; set the"):
                call(frame, text, model=model)


def test_a_column_that_is_not_there(model):
    frame = pd.DataFrame({"id": [1], "Review": ["good"]})
    with pytest.raises(DataError, match=r"'review', found 'id', 'Review' \(did you mean 'Review'"):
        thinstack.score_frame(frame, "review", model=model)
    with pytest.raises(DataError, match="found 0"):
        thinstack.score_frame(pd.DataFrame([["good"]]), model=model)
    numbered = thinstack.score_frame(pd.DataFrame([["good"]]), 0, model=model)
    assert list(numbered) == [0, *NEW]


@pytest.mark.parametrize("twice", ["text", "n"])
def test_two_columns_of_one_name(model, twice):
    arrow = pa.Table.from_arrays([pa.array(["good"])] * 3, ["text", "n", twice])
    for frame in (arrow, pd.DataFrame([["a", "b", "c"]], columns=["text", "n", twice])):
        with pytest.raises(DataError, match=f"'{twice}' twice"):
            thinstack.score_frame(frame, model=model)


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        (pd.DataFrame({"text": ["a", None, 3]}), r"row 2 .*found 3.*\.astype\('string'\)"),
        (pd.DataFrame({"text": [1.5]}), r"row 0 .*found 1\.5"),
        (pd.DataFrame({"text": [b"a"]}), r"row 0 .*b'a'.*\.str\.decode"),
        (pl.DataFrame({"text": [None, 3]}), r"row 1 .*polars\.String"),
        (pa.table({"text": [True]}), r"row 0 .*found True.*pyarrow\.string"),
        (pd.DataFrame({"text": ["good", "\ud800"]}, dtype=object), r"text 1: not valid Unicode"),
    ],
)
def test_a_cell_that_is_no_text_is_named(model, frame, said):
    with pytest.raises(InputError, match=said):
        thinstack.score_frame(frame, model=model)


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"text": ["a"]}, "found a dict.*pandas.DataFrame"),
        (["good"], "found a list.*model"),
        ("reviews.csv", "'reviews.csv'.*--input"),
        (None, "found a NoneType"),
        (pd.Series(["a"]), "found a Series.*whole frame"),
        (pa.record_batch({"text": ["a"]}), "found a RecordBatch.*from_batches"),
        (pl.LazyFrame({"text": ["a"]}), r"found a LazyFrame.*frame\.collect\(\)"),
    ],
)
def test_what_is_no_frame_in_memory_is_refused(model, other, said):
    with pytest.raises(InputError, match=said):
        thinstack.score_frame(other, model=model)


def test_classes_that_are_no_scale_have_no_polarity(last_word):
    frame = MAKE["polars"](TEXTS)
    found = thinstack.score_frame(frame, model=last_word.path, scores=True)
    assert found["label"].to_list() == ["so-so", None, "good", None, "bad", None, "good"]
    assert found.select(NEW[1:]).null_count().row(0) == (7, 7, 7)
    assert found.columns[-3:] == ["bad", "so-so", "good"]


def test_a_class_with_the_name_of_a_new_column(tmp_path):
    folder = write_last_word_bundle(tmp_path / "own", labels=("label", "so", "b")).path
    with pytest.raises(InputError, match="'label'"):
        thinstack.score_frame(MAKE["pandas"](["good"]), model=folder, scores=True)


class Survey(pd.DataFrame):
    """As geopandas has a frame of its own."""

    _metadata = ("source",)

    @property
    def _constructor(self):
        return Survey


def test_a_class_and_attributes_stay(model):
    frame = Survey({"text": TEXTS}, index=[1] * len(TEXTS))
    frame.source, frame.attrs["year"] = "a", 2024
    found = thinstack.score_frame(frame, model=model)
    assert (type(found), found.source, found.attrs) == (Survey, "a", {"year": 2024})
    assert list(frame.columns) == ["text"]


@pytest.mark.parametrize("names", [[("t", "x"), ("n", "x")], [("t", 1, "a"), ("t", 1, "b")]])
def test_levels_of_columns_stay(model, names):
    columns = pd.MultiIndex.from_tuples(names, names=[f"level {n}" for n in range(len(names[0]))])
    frame = pd.DataFrame(dict.fromkeys(range(2), TEXTS)).set_axis(columns, axis=1)
    found = thinstack.score_frame(frame, names[0], model=model)
    plain = thinstack.score_frame(pd.DataFrame({"text": TEXTS}), model=model)
    assert found.columns.names == frame.columns.names
    assert [*found.columns] == [*names, *((name, *[""] * (len(names[0]) - 1)) for name in NEW)]
    assert found["label"].squeeze().equals(plain["label"])
    with pytest.raises(InputError, match="label"):
        thinstack.score_frame(found, names[0], model=model)


@pytest.mark.parametrize("name", [0, None, ("t", "x"), pd.Timestamp("2024-01-01")])
def test_a_column_has_a_name_of_any_type(model, name):
    frame = pd.DataFrame({0: TEXTS}).set_axis(pd.Index([name], tupleize_cols=False), axis=1)
    found = thinstack.score_frame(frame, name, model=model)
    assert found["label"].notna().sum() == sum(bool(text and text.strip()) for text in TEXTS)


@pytest.fixture(scope="module")
def vectors(vector_folder, tmp_path_factory):
    """Models of vectors beside classes, and of vectors alone."""
    alone = write_vector_bundle(tmp_path_factory.mktemp("model") / "alone", labels=()).path
    return thinstack.load(vector_folder), thinstack.load(alone)


def cells_of(frame, name):
    column = frame[name]
    return column.to_pylist() if isinstance(frame, pa.Table) else column.to_list()


@pytest.mark.parametrize("kind", MAKE)
@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("texts", [TEXTS, [], [None, ""]])
def test_vectors_are_the_last_column(vectors, kind, number, texts, monkeypatch):
    monkeypatch.setattr(frames, "_ROWS", 2)
    model, frame = vectors[number], MAKE[kind](texts)
    found = thinstack.score_frame(frame, model=model, vectors=True, prefix="x_")
    names = getattr(found, "column_names", None) or [*found.columns]
    assert names == ["n", "text", *(f"x_{name}" for name in (*NEW, "vector"))]
    for cell, text in zip(cells_of(found, "x_vector"), texts, strict=True):
        expected = model(text or "").vector
        assert (cell is None) == (expected is None)
        if expected is not None:
            np.testing.assert_allclose(np.asarray(cell, np.float32), expected, atol=1e-3)
    if number == 1:
        assert all(label is None or label != label for label in cells_of(found, "x_label"))
    of_lists = "Array(Float32, shape=(4,))", "fixed_size_list<item: float>[4]"
    assert types(found)[-1] in (["object"] if kind.startswith("pandas") else of_lists)


def test_vectors_of_a_model_without_and_labels_of_vectors_alone(model, vectors):
    frame = MAKE["pandas"](TEXTS)
    with pytest.raises(InputError, match=r'score_frame: .* no vectors.*load\("vectors"\)'):
        thinstack.score_frame(frame, model=model, vectors=True)
    with pytest.raises(InputError, match=r'score_frame: .* not labels.*load\("sentiment"\)'):
        thinstack.score_frame(frame, model=vectors[1])
    with pytest.raises(InputError, match="column 'vector' would"):
        thinstack.score_frame(frame.assign(vector=1), model=vectors[0], vectors=True)
