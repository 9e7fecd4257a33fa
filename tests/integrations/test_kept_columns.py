"""`thinstack predict --input` keeps the columns of a table, and writes columns of terms and
categories, against `score_frame`."""

import json
import math
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet
from scored_rows import read_rows

import thinstack
from thinstack import Category
from thinstack.core.scale import FIVE
from thinstack.errors import NoMentionWarning

FRAME = pd.DataFrame(
    {
        "store": ["Leeds", "Hull", None, "Bath"],
        "id": ["a", "b", None, "b"],
        "review": ["Good film.", "The screen is not good, and awful.", "", "Good screen, film."],
        "stars": [4, 1, 2, 5],
    }
)
CATEGORY = "looks=good screen,awful"


@pytest.fixture
def scored(cli, vector_folder, tmp_path):
    """Scores FRAME, or another table, and gives the rows, or what was refused."""

    def call(*options, text="review", suffix="csv", frame=FRAME, code=0):
        path, out = tmp_path / f"in.{suffix}", tmp_path / f"out.{suffix}"
        out.unlink(missing_ok=True)
        if suffix == "csv":
            frame.to_csv(path, index=False)
        elif suffix == "parquet":
            frame.to_parquet(path)
        else:
            frame.to_json(path, orient="records", lines=True)
        asked = ("predict", "--input", path, "--text", text, "--out", out, "--jobs", "0")
        answer = cli(*asked, "--model", vector_folder, *options)
        assert answer.code == code, answer.err
        if code:
            return answer.err
        if suffix == "jsonl":
            return pd.DataFrame(map(json.loads, out.read_text("utf-8").splitlines()))
        read = pd.read_csv(out, dtype=str) if suffix == "csv" else pd.read_parquet(out)
        return read.drop(columns="scores", errors="ignore")

    return call


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_the_columns_of_a_table_are_kept(scored, suffix):
    rows = scored("--output", "documents", suffix=suffix)
    assert [*rows.columns[:3]] == ["id", "store", "stars"]
    assert rows["id"].tolist() == ["a", "b", "4" if suffix == "csv" else "3", "b"]
    assert rows["store"].fillna("-").tolist() == ["Leeds", "Hull", "-", "Bath"]
    assert [int(cell) for cell in rows["stars"]] == [4, 1, 2, 5]
    chosen = scored("--output", "documents", "--columns", "stars", suffix=suffix)
    assert [*chosen.columns] == [name for name in rows.columns if name != "store"]
    none = scored("--output", "documents", "--keep", "none", suffix=suffix)
    assert [*none.columns] == [name for name in rows.columns if name not in ("store", "stars")]
    assert none["id"].tolist() != rows["id"].tolist()
    sentences = scored(suffix=suffix)
    assert [*sentences.columns[:3]] == ["id", "store", "stars"]


def test_columns_are_written_once_and_may_be_that_of_the_texts(scored):
    rows = scored("--columns", "stars,review,stars")
    assert [*rows.columns[:4]] == ["id", "stars", "review", "sentence"]
    assert rows["review"].fillna("").tolist() == [FRAME["review"][place] for place in range(4)]


def test_rows_of_json_may_have_different_columns(scored):
    frame = pd.DataFrame({"review": ["Good.", "Awful."], "x": [{"y": [1]}, None]})
    rows = scored("--output", "documents", suffix="jsonl", frame=frame)
    assert rows["x"].tolist() == [{"y": [1]}, None]


def test_terms_and_categories_have_columns(scored, vector_folder):
    asked = ("--about", "screen", "--about", "films|movie", "--category", CATEGORY)
    rows = scored(*asked)
    about = ["screen", "films|movie", Category("looks", ["good screen", "awful"])]
    model = thinstack.load(vector_folder)
    expected = thinstack.score_frame(FRAME, "review", model=model, about=about)
    for name in ("screen", "films", "looks"):
        assert [*map(int, rows[f"{name}_mentions"])] == expected[f"{name}_mentions"].tolist()
        shown = rows[f"{name}_polarity"].astype(float)
        pd.testing.assert_series_equal(shown, expected[f"{name}_polarity"], atol=2e-3)
    assert expected["screen_mentions"].sum() == 2
    with pytest.raises(NoMentionWarning, match="no text mentions 'sound'"):
        scored("--about", "sound", "--about", "screen")


@pytest.mark.parametrize("name", ["label", "polarity", "text", "screen_mentions", "negative"])
def test_columns_with_the_names_of_those_that_are_written_are_left_out(scored, name):
    frame = FRAME.rename(columns={"stars": name}).assign(start=7)
    message = f"with names of the scores: {name!r}, 'start'"
    with pytest.raises(UserWarning, match=message):
        scored("--about", "screen", frame=frame)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = scored("--about", "screen", frame=frame)
    assert [*rows.columns].count(name) == 1
    assert "store" in rows
    assert rows[name].tolist() != frame[name].tolist()
    columns = ("--columns", f"store,{name},start")
    assert message in scored("--about", "screen", *columns, frame=frame, code=2)


def test_columns_without_a_header_are_named_by_numbers(scored):
    rows = scored("--no-header", "--columns", "4,1", text="3")
    assert [*rows.columns[:3]] == ["id", "4", "1"]
    assert rows["4"].tolist()[1:] == ["4", "1", "2", "5"]


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_cells_that_python_or_json_lacks_are_copied(cli, suffix, tmp_path):
    columns = {
        "text": ["Good.", "Bad."],
        "day": pa.array([10_000_000, 0], pa.date32()),
        "days": pa.array([[10_000_000], [0]], pa.list_(pa.date32())),
        "name": pa.array([b"\xffa", b"b"]).cast(pa.string(), safe=False),
        "numbers": [[math.nan, 1.5], [math.inf]],
    }
    path, out = tmp_path / "in.parquet", tmp_path / f"out.{suffix}"
    parquet.write_table(pa.table(columns), path)
    assert cli("predict", "--input", path, "--out", out, "--jobs", "0").code == 0
    rows = read_rows(out, FIVE)
    assert [row["day"] for row in rows] == [str(np.datetime64(day, "D")) for day in (10_000_000, 0)]
    assert [row["name"] for row in rows] == ["\ufffda", "b"]
    assert "date32" in rows[0]["days"]
    numbers = [row["numbers"] for row in rows]
    assert (numbers if suffix == "jsonl" else [*map(json.loads, numbers)]) == [[None, 1.5], [None]]
