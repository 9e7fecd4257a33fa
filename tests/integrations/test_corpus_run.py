"""`thinstack predict --input`: a folder of scored rows, wherever a run is stopped."""

import errno
import json
import signal
import subprocess
import sys
from datetime import date

import pyarrow as pa
import pytest
from command_line import Answer
from last_word_model import LABELS, TABLE, write_last_word_bundle
from pyarrow import parquet
from scored_rows import read_rows

from thinstack.integrations.corpora import run_manifest, workers
from thinstack.integrations.corpora.inputs import Row

TEXTS = [f"{'very ' * (i % 4)}good film. It is awful" if i % 5 else "" for i in range(10)]


@pytest.fixture(autouse=True)
def small_shards(monkeypatch):
    monkeypatch.setattr(run_manifest, "SHARD_ROWS", 4)


@pytest.fixture
def texts(tmp_path):
    return written(tmp_path / "texts.jsonl", TEXTS)


def written(path, texts):
    lines = (json.dumps({"id": f"r{i}", "text": text}) for i, text in enumerate(texts))
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


@pytest.fixture
def predict(cli, last_word, tmp_path):
    def call(input, *options, **how):
        where = () if "--out" in options else ("--out", tmp_path / "out")
        jobs = () if "--jobs" in options else ("--jobs", 0)
        arguments = ("--input", input, *where, *jobs, "--model", last_word.path, *options)
        return cli("predict", *arguments, **how)

    return call


def rows_in(out):
    return [row for path in sorted(out.glob("part-*")) for row in read_rows(path, LABELS)]


def failed_in(out):
    lines = "".join(path.read_text("utf-8") for path in sorted(out.glob("errors/*")))
    records = [json.loads(line) for line in lines.splitlines()]
    assert all(list(record) == ["id", "kind", "message"] for record in records)
    return {record["id"]: record["kind"] for record in records}


@pytest.mark.parametrize("format", ["jsonl", "parquet", "csv"])
@pytest.mark.parametrize("output", ["phrases", "sentences", "documents"])
def test_every_text_has_its_rows(predict, cli, texts, tmp_path, last_word, output, format):
    out = tmp_path / "out"
    answer = predict(texts, "--id", "id", "--output", output, "--format", format)
    assert answer == Answer(0, "", f"10 rows; the scores are in {out}\n")
    found = rows_in(out)
    assert list(dict.fromkeys(row["id"] for row in found)) == [f"r{i}" for i in range(10)]
    scored = [row for row in found if row["label"] is not None]
    assert [row["id"] for row in found if row["label"] is None] == ["r0", "r5"]
    by_text = cli("predict", *TEXTS, "--jsonl", "--model", last_word.path).out.splitlines()
    sentences = list(map(json.loads, by_text))
    if output == "documents":
        wanted = [one["document"] for one in sentences if one["sentence_index"] == 0]
    elif output == "sentences":
        wanted = sentences
    else:
        wanted = [node for one in sentences for node in one["nodes"]]
    assert [row["label"] for row in scored] == [one["label"] for one in wanted]
    for row, one in zip(scored, wanted, strict=True):
        assert row["scores"] == pytest.approx(one["scores"], abs=2e-6)
        text = TEXTS[int(row["id"][1:])][row["start"] : row["end"]]
        assert text == row["text"] == one.get("text", TEXTS[int(row["id"][1:])])
    parts = sorted(path.name for path in out.rglob("*") if path.is_file())
    assert parts == [".lock", "manifest.json", *(f"part-00000{i}.{format}" for i in range(3))]


def test_rows_that_fail_are_under_errors_only(predict, tmp_path):
    poison = [None, "good", float("nan"), "bad \ud800", ["a"], *TEXTS, 3]
    out, path = tmp_path / "out", written(tmp_path / "texts.jsonl", poison)
    answer = predict(path, "--id", "id", "--fail-after", "0.25")
    assert answer.code == 1
    assert answer.err.startswith("16 rows, 4 failed, the first: ")
    assert answer.err.endswith(f"nothing; all are in {out / 'errors'}; the scores are in {out}\n")
    kinds = {"r0": "missing", "r2": "missing", "r3": "not_text", "r4": "not_text"}
    assert failed_in(out) == kinds
    scored = {row["id"] for row in rows_in(out)}
    assert scored == {f"r{i}" for i in range(16)} - kinds.keys()
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["finished"] == {"scored": 12, "failed": 4}
    assert predict(path, "--id", "id", "--fail-after", "0.25").code == 1
    predict(path, "--id", "id").check_refused("4 of 16 rows have failed, more than 1.000%")


def test_too_many_failed_rows_stop_a_run_which_goes_on(predict, tmp_path):
    path, out = written(tmp_path / "texts.jsonl", [None, *TEXTS, None]), tmp_path / "out"
    predict(path).check_refused("1 of 12 rows have failed", str(out / "errors"), "--fail-after")
    assert {row["id"] for row in rows_in(out)} == {"r1", "r2", "r3"}
    assert failed_in(out) == {"r0": "missing"}
    assert predict(path, "--fail-after", "0.2").code == 1
    assert {row["id"] for row in rows_in(out)} == {f"r{row}" for row in range(1, 11)}
    assert failed_in(out) == {"r0": "missing", "r11": "missing"}


def breaking(monkeypatch, error, number):
    """Make the shard of this number fail as its rows are written."""

    def opened(path, *rest, **others):
        if f"part-{number:06d}" in path.name:
            path.write_bytes(b"half")
            raise error
        return open_part(path, *rest, **others)

    open_part = workers.open_part
    monkeypatch.setattr(workers, "open_part", opened)
    return lambda: monkeypatch.setattr(workers, "open_part", open_part)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (KeyboardInterrupt(), ["stopped; the rows in", "run the same command again"]),
        (OSError(errno.ENOSPC, "No space left on device"), ["No space left", "again to continue"]),
    ],
)
def test_a_run_goes_on_where_it_was(predict, texts, tmp_path, monkeypatch, error, said):
    out = tmp_path / "out"
    mend = breaking(monkeypatch, error, 1)
    code = 130 if isinstance(error, KeyboardInterrupt) else 2
    predict(texts, "--id", "id").check_refused(*said, code=code)
    first = out / "part-000000.jsonl"
    whole, inode = first.read_bytes(), first.stat().st_ino
    assert [path.name for path in out.glob("part*")] == [first.name]
    (out / "part-000001.jsonl.123.partial").write_bytes(b"of a killed process")
    mend()
    answer = predict(texts, "--id", "id")
    assert answer == Answer(0, "", f"10 rows (4 before); the scores are in {out}\n")
    assert (first.read_bytes(), first.stat().st_ino) == (whole, inode)
    assert not list(out.rglob("*.partial"))
    predict(texts, "--id", "id", "--out", tmp_path / "other")
    assert rows_in(out) == rows_in(tmp_path / "other")
    before = {path: path.stat().st_mtime_ns for path in out.glob("part*")}
    assert "(10 before)" in predict(texts, "--id", "id").err
    assert {path: path.stat().st_mtime_ns for path in out.glob("part*")} == before


def test_another_runs_folder_is_refused(predict, texts, tmp_path, last_word):
    assert predict(texts, "--id", "id").code == 0
    predict(texts).check_refused("its id is 'id', but now it is None", "another folder")
    predict(texts, "--id", "id", "--max-words", 7).check_refused("max_words is 400")
    other = write_last_word_bundle(tmp_path / "model", table=TABLE + 1)
    predict(texts, "--id", "id", "--model", other.path).check_refused("its model is")
    written(texts, TEXTS[1:])
    predict(texts, "--id", "id").check_refused("rows of another run", "differs in texts.jsonl;")
    texts = texts.rename(tmp_path / "moved.jsonl")
    predict(texts, "--id", "id").check_refused("differs in texts.jsonl, moved.jsonl;")
    predict(texts, "--out", last_word.path).check_refused("expected the manifest of scored rows")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "part-000000.jsonl").write_text("mine")
    predict(texts, "--out", tmp_path / "full").check_refused(
        "expected an empty folder", "'part-000000"
    )


@pytest.mark.parametrize("name", ["scored.tsv", "a.b.NDJSON", "scores.jsonl.gz", "s.xlsx", ".txt"])
def test_a_folder_with_the_name_of_a_file_is_refused(predict, cli, texts, tmp_path, name):
    out = tmp_path / name
    if not out.suffix:
        assert predict(texts, "--out", out).code == 0  # a hidden folder
        return
    predict(texts, "--out", out).check_refused(f"{out}: --out expects a folder", "such as")
    cli("train", texts, "--out", out).check_refused(f"{out}: --out expects a folder", "such as")
    assert not out.exists()
    out.mkdir()  # by somebody who wants it so
    assert predict(texts, "--out", out).code == 0
    assert "(10 before)" in predict(texts, "--out", out).err


def test_repeated_ids_are_refused_unless_they_are_allowed(predict, tmp_path):
    path = tmp_path / "texts.csv"
    path.write_text("id,text\na,good\nb,film\na,awful\nc,\nb,film\nd,ok\n")
    predict(path, "--id", "id").check_refused("2 repeated ids: 'a', 'b';", "--allow-repeated")
    assert predict(path).code == 0
    out = tmp_path / "other"
    assert predict(path, "--id", "id", "--allow-repeated-ids", "--out", out).code == 0
    assert [row["id"] for row in rows_in(out)] == list("abacbd")


def test_standard_input_is_lines_or_json_lines(predict, texts, tmp_path):
    assert predict("-", stdin=b"\xef\xbb\xbfgood\n\nawful").code == 0
    found = [(row["id"], row["label"]) for row in rows_in(tmp_path / "out")]
    assert found == [("1", "good"), ("2", None), ("3", "bad")]
    out, lines = tmp_path / "lines", texts.read_bytes()
    options = ("-", "--id", "id", "--out", out)
    assert predict(*options, stdin=lines).code == 0
    assert len({row["id"] for row in rows_in(out)}) == 10
    assert "(10 before)" in predict(*options, stdin=lines).err
    predict(*options, stdin=lines[:-1]).check_refused("rows of another run")
    assert not list(out.glob("standard-input*"))


@pytest.mark.parametrize(
    ("content", "options", "texts"),
    [
        (b'key,text\n7,"good, or ""so"""\n8,awful\n', ("--id", "key"), ['good, or "so"', "awful"]),
        (b"key\ttext\n7\tgood\n8\tawful\n", ("--id", "key"), ["good", "awful"]),
        ("key;text\r\n7;good\r\n8;awful\r\n".encode("utf-16"), ("--id", "key"), ["good", "awful"]),
        (b'[{"text": "good"}, {"text": "awful"}]', (), ["good", "awful"]),
        (b'\xef\xbb\xbf[\n {"text": "good"},\n {"text": "awful"}\n]\n', (), ["good", "awful"]),
        (b'{"text": "good"}\n{"text": "awful"}\n', (), ["good", "awful"]),
        (b"[spoiler] good\n{awful}\n", (), ["[spoiler] good", "{awful}"]),
    ],
)
def test_standard_input_may_be_a_table_or_json(predict, tmp_path, content, options, texts):
    assert predict("-", *options, "--output", "documents", stdin=content).code == 0
    found = rows_in(tmp_path / "out")
    assert [row["text"] for row in found] == texts
    assert [row["id"] for row in found] == (["7", "8"] if options else ["1", "2"])
    if options:
        kept = tmp_path / "kept"
        assert predict("-", "--columns", "key", "--out", kept, stdin=content).code == 0
        assert [row["key"] for row in rows_in(kept)] == ["7", "8"]


def test_what_is_scored_of_parquet_is_parquet(predict, tmp_path):
    path = tmp_path / "texts.parquet"
    parquet.write_table(pa.table({"body": ["café", "good"], "key": [7, 8]}), path)
    assert predict(path, "--text", "body", "--id", "key").code == 0
    assert [path.name for path in (tmp_path / "out").glob("part*")] == ["part-000000.parquet"]
    assert [row["id"] for row in rows_in(tmp_path / "out")] == ["7", "8"]


def test_ids_may_be_dates(predict, tmp_path):
    path, days = tmp_path / "texts.parquet", pa.array([date(2024, 3, 9), None])
    parquet.write_table(pa.table({"text": ["café", "good"], "id": days}), path)
    assert predict(path).code == 0
    assert [row["id"] for row in rows_in(tmp_path / "out")] == ["2024-03-09", "line 2"]


PROGRAM = """
import sys, time
from pathlib import Path
from thinstack.data.files.writing import locked
with locked(Path(sys.argv[1])):
    print("locked", flush=True)
    sys.stdin.read()
"""


def test_the_lock_of_a_dead_process_is_taken_over(predict, texts, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    command = [sys.executable, "-c", PROGRAM, str(out)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"locked\n"
        predict(texts).check_refused(f"another run writes there (process {process.pid} on ")
        process.send_signal(signal.SIGKILL)
    assert predict(texts).code == 0


def test_shards_are_bounded_by_characters_too(monkeypatch):
    monkeypatch.setattr(run_manifest, "SHARD_CHARACTERS", 5)
    rows = [Row(None, size * "a") for size in (9, 1, 1, 4, 1, 0, 0, 0, 0)]
    shards = run_manifest.shards_of(rows)
    found = [(shard.number, [len(row.text) for row in shard.rows]) for shard in shards]
    assert found == [(0, [9]), (1, [1, 1]), (2, [4, 1]), (3, [0, 0, 0, 0])]
