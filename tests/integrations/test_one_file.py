"""`thinstack predict --input FILE --out scored.csv`: all rows in one file, wherever a run is
stopped."""

import json
import shutil

import pytest
from last_word_model import LABELS
from scored_rows import read_rows
from test_corpus_run import TEXTS, breaking, predict, small_shards, texts, written

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
    predict(*again).check_refused("its encoding is", f"to start again, remove {parts}, or name")
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
