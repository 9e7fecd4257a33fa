"""`thinstack predict --input FILE --out scored.csv`: all rows in one file, wherever a run stops,
with the columns of the table, and those of terms and categories against `score_frame`."""

import json
import math
import shutil
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from last_word_model import LABELS
from pyarrow import parquet
from scored_rows import read_rows
from test_corpus_run import TEXTS, breaking, predict, small_shards, texts, written

import thinstack
from thinstack import Category
from thinstack.core.scale import FIVE
from thinstack.errors import NoMentionWarning
from thinstack.integrations.corpora import run

__all__ = ["predict", "small_shards", "texts"]
NAMES = ["scored.csv", "scored.jsonl", "a.b.PARQUET"]


def table(path):
    return read_rows(path, LABELS, path.suffix[1:].lower())


def in_parts(folder, suffix):
    return [row for path in sorted(folder.glob("part*")) for row in table(renamed(path, suffix))]


def renamed(path, suffix):
    return path.rename(path.with_suffix(suffix))


@pytest.mark.parametrize("name", NAMES)
def test_one_file_holds_the_rows_of_all_parts(predict, texts, tmp_path, name):
    out, format = tmp_path / "one" / name, name.split(".")[-1].lower()
    answer = predict(texts, "--id", "id", "--out", out)
    assert (answer.code, answer.err) == (0, f"10 rows; the scores are in {out}\n")
    assert [path.name for path in out.parent.iterdir()] == [name]
    assert predict(texts, "--id", "id", "--format", format).code == 0
    assert len(list((tmp_path / "out").glob("part*"))) == 3
    assert table(out) == in_parts(tmp_path / "out", out.suffix)
    before = out.read_bytes()
    predict(texts, "--out", out).check_refused(f"{out}: already exists")
    assert out.read_bytes() == before


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("step", ["shard", "join", "remove"])
def test_a_stopped_run_goes_on_to_the_same_file(predict, texts, tmp_path, monkeypatch, name, step):
    predict(texts, "--out", tmp_path / "whole" / name)
    out = tmp_path / "one" / name

    def killed(*rest, **others):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        if step == "shard":
            breaking(patch, KeyboardInterrupt(), 1)
        else:
            patch.setattr(run, {"join": "join_parts", "remove": "remove_parts"}[step], killed)
        predict(texts, "--out", out).check_refused(f".{name}.parts are kept", code=130)
    assert out.exists() == (step == "remove")
    before = 4 if step == "shard" else 10
    assert f"({before} before); the scores are in {out}" in predict(texts, "--out", out).err
    assert [path.name for path in out.parent.iterdir()] == [name]
    assert out.read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_rows_that_fail_have_a_file_of_their_own(predict, tmp_path):
    path, out = written(tmp_path / "t.jsonl", [None, *TEXTS, None]), tmp_path / "one" / "s.csv"
    predict(path, "--out", out).check_refused("1 of 12 rows have failed", "errors")
    answer = predict(path, "--out", out, "--fail-after", "0.5")
    errors = out.parent / "s.csv.errors.jsonl"
    reason = f"{path}:1: expected a text in the column 'text', found nothing; all are in {errors}"
    end = f"{reason}; the scores are in {out}\n"
    assert answer.err == f"12 rows (4 before), 2 failed, the first: {end}"
    assert [json.loads(line)["id"] for line in errors.read_text().splitlines()] == ["r0", "r11"]
    assert {row["id"] for row in table(out)} == {f"r{row}" for row in range(1, 11)}
    out.unlink()
    predict(path, "--out", out).check_refused(f"{errors}: already exists")


def test_a_file_in_another_encoding_names_the_way_out(predict, tmp_path):
    path, out = tmp_path / "t.csv", tmp_path / "one" / "s.csv"
    path.write_bytes("text\ngood\ncaf\xe9 film\n".encode("cp1252"))
    predict(path, "--out", out).check_refused("1 of 2 rows have failed", "t.csv:3: ", "--encoding")
    parts, again = out.parent / ".s.csv.parts", (path, "--out", out, "--encoding", "cp1252")
    predict(*again).check_refused("its encoding is", f"to start again, remove {parts}, or choose")
    shutil.rmtree(parts)
    assert predict(*again).code == 0


@pytest.mark.parametrize("name", ["s.csv", "s.csv.errors.jsonl"])
@pytest.mark.parametrize("moment", ["before", "after a stop", "meanwhile", "after the end"])
def test_a_file_that_came_to_the_name_stays(predict, tmp_path, monkeypatch, name, moment):
    path, out = written(tmp_path / "t.jsonl", [None, *TEXTS]), tmp_path / "one" / "s.csv"
    arguments = (path, "--out", out, "--fail-after", "0.5")
    (out.parent / ".s.csv.parts").mkdir(parents=True)
    foreign, join = out.parent / name, run.join_parts

    def late(*rest, **others):
        foreign.write_text("precious")
        join(*rest, **others)

    with monkeypatch.context() as patch:
        if moment == "meanwhile":
            patch.setattr(run, "join_parts", late)
        if moment == "after a stop":
            breaking(patch, KeyboardInterrupt(), 1)
        if moment == "after the end":
            patch.setattr(run, "remove_parts", lambda folder: None)
        answer = None if moment == "before" else predict(*arguments)
    if moment != "meanwhile":
        foreign.write_text("precious")
        answer = predict(*arguments)
    answer.check_refused(f"{foreign}: already exists")
    assert foreign.read_text() == "precious"
    foreign.unlink()
    assert predict(*arguments).code == 1, "without it, the same command goes on"
    assert {row["id"] for row in table(out)} == {f"r{row}" for row in range(1, 11)}


def test_a_folder_with_the_name_of_a_file_stays_one(predict, texts, tmp_path):
    (tmp_path / "b.csv").mkdir()
    assert predict(texts, "--out", tmp_path / "b.csv").code == 0
    assert (tmp_path / "b.csv" / "part-000000.jsonl").exists()


def test_a_mark_for_excel_on_request(predict, texts, tmp_path):
    plain, marked = tmp_path / "a.csv", tmp_path / "b.csv"
    for out, options in ((plain, ()), (marked, ("--bom",))):
        assert predict(texts, "--id", "id", "--out", out, *options).code == 0
    assert marked.read_bytes() == b"\xef\xbb\xbf" + plain.read_bytes()


PARAGRAPHS = "Good film\nand fine.\r\n\n \t\nAwful\n\n"


def test_paragraphs_of_files_and_of_standard_input(predict, cli, tmp_path, last_word):
    path = tmp_path / "texts.txt"
    path.write_text(PARAGRAPHS)
    outs = [tmp_path / "file.csv", tmp_path / "input.csv"]
    assert predict(path, "--paragraphs", "--output", "documents", "--out", outs[0]).code == 0
    options = ("--paragraphs", "--output", "documents", "--out", outs[1])
    assert predict("-", *options, stdin=PARAGRAPHS.encode()).code == 0
    assert outs[0].read_bytes() == outs[1].read_bytes()
    found = [(row["id"], row["text"]) for row in table(outs[0])]
    assert found == [("1", "Good film\nand fine."), ("5", "Awful")]
    typed = cli("predict", "--jsonl", "--paragraphs", "--model", last_word.path, stdin=b"a\nb\n\nc")
    assert [json.loads(line)["text"] for line in typed.out.splitlines()] == ["a\nb", "c"]


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
    assert rows["id"].tolist() == ["a", "b", f"line {4 if suffix == 'csv' else 3}", "b"]
    assert rows["store"].fillna("-").tolist() == ["Leeds", "Hull", "-", "Bath"]
    assert [int(cell) for cell in rows["stars"]] == [4, 1, 2, 5]
    chosen = scored("--output", "documents", "--columns", "stars", suffix=suffix)
    assert [*chosen.columns] == [name for name in rows.columns if name != "store"]
    none = scored("--output", "documents", "--keep", "none", suffix=suffix)
    assert [*none.columns] == [name for name in rows.columns if name not in ("store", "stars")]
    assert none["id"].tolist() == rows["id"].tolist()
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
    message = f"names of score columns: {name!r}, 'start'"
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
