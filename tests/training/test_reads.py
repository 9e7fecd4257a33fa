"""A run opens each table once, and hashes the model that it starts from once."""

import csv
import hashlib
import sys
from collections import Counter

import pytest
import tiny_texts

import thinstack
from thinstack.bundle import open_bundle
from thinstack.errors import DataError


@pytest.fixture
def reads(monkeypatch):
    """How often each file was opened ("open"), and hashed as it was read ("hash")."""
    counts, watching, digest = Counter[tuple[str, str]](), [True], hashlib.file_digest

    def watch(event, args):
        if watching and event == "open":
            counts[event, str(args[0])] += 1

    def hashed(file, name):
        counts["hash", str(file.name)] += 1
        return digest(file, name)

    sys.addaudithook(watch)
    monkeypatch.setattr(hashlib, "file_digest", hashed)
    yield counts
    watching.clear()


@pytest.fixture
def start(tmp_path):
    return tiny_texts.start(tmp_path / "start")


def check_start(start, reads):
    files = [file for file in start.iterdir() if file.stem != "manifest"]
    assert {reads["hash", str(file)] for file in files} == {1}


def test_files_are_read_once(cli, tmp_path, start, reads):
    train, dev = (tiny_texts.table(tmp_path / f"{name}.csv", 12) for name in ("train", "dev"))
    reads.clear()
    answer = cli("train", train, "--dev", dev, "--init", start, "--out", tmp_path / "out")
    assert answer.code == 0
    assert [reads["open", str(file)] for file in (train, dev)] == [1, 1]
    check_start(start, reads)


def test_rows_in_memory_are_any_mappings_and_are_read_once(tmp_path, start, reads):
    with tiny_texts.table(tmp_path / "t.csv", 12).open(encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    rows = [{"review": row["text"], "up": row["label"] == "up"} for row in table]
    out = tmp_path / "out"
    reads.clear()
    predictor = thinstack.train_texts(
        iter(rows), text="review", label="up", dev=rows[:6], init=str(start), out=out
    )
    files = [str(out / "data" / f"{name}.jsonl") for name in ("train", "dev")]
    assert [reads["open", file] for file in files] == [1, 1]
    check_start(start, reads)
    assert open_bundle(out / "model-best").config.labels == predictor.labels == ("false", "true")
    with pytest.raises(DataError, match=r"rows:1: .*|column 'text'"):
        thinstack.train_texts(rows, label="up", out=tmp_path / "other")
