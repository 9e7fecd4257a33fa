"""Compressed files are read as what they hold, whatever their name says; damaged ones say so."""

import bz2
import gzip
import io
import lzma
import zipfile

import pytest

from thinstack.data.files.reading import opened_text
from thinstack.data.tables.dialects import is_table
from thinstack.data.tables.table import Table
from thinstack.data.trees.treebank import read_trees
from thinstack.errors import DataError
from thinstack.integrations.corpora.inputs import open_corpus

PACK = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress, ".GZ": gzip.compress}
TABLES = {
    ".csv": b"text,label\ngood,a\nbad,b\n",
    ".tsv": b"text\tlabel\ngood\ta\nbad\tb\n",
    ".jsonl": b'{"text": "good", "label": "a"}\n{"text": "bad", "label": "b"}\n',
    ".json": b'[{"text": "good", "label": "a"}, {"text": "bad", "label": "b"}]',
}
ROWS = [["good", "a"], ["bad", "b"]]


def rows(path):
    return [list(row.values.values()) for row in Table(path).rows(["text", "label"])]


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("packed", PACK)
def test_compressed_tables(tmp_path, kind, packed):
    path = tmp_path / f"t{kind}{packed}"
    path.write_bytes(PACK[packed](TABLES[kind]))
    assert is_table(path)
    assert Table(path).columns == ["text", "label"]
    assert rows(path) == ROWS
    assert [row.text for row in open_corpus(path).rows()] == ["good", "bad"]
    unpacked_by_somebody = tmp_path / f"u{kind}{packed}"
    unpacked_by_somebody.write_bytes(TABLES[kind])
    assert rows(unpacked_by_somebody) == ROWS


def test_texts_and_trees(tmp_path):
    (tmp_path / "t.txt.gz").write_bytes(gzip.compress(b"good\nbad"))
    assert [row.text for row in open_corpus(tmp_path).rows()] == ["good", "bad"]
    (tmp_path / "trees.txt").write_bytes(gzip.compress(b"(1 (2 a) (0 b))\n"))
    assert len(read_trees(tmp_path / "trees.txt")) == 1


@pytest.mark.parametrize("packed", [".gz", ".bz2", ".xz"])
def test_damaged_files(tmp_path, packed):
    path = tmp_path / f"t.csv{packed}"
    whole = PACK[packed](TABLES[".csv"] * 2000)
    for content in (whole[:-20], whole[:-30] + bytes(20)):
        path.write_bytes(content)
        with pytest.raises(DataError, match=rf"{path}"):
            rows(path)


def test_archives_are_named(tmp_path):
    with zipfile.ZipFile(tmp_path / "t.csv", "w") as archive:
        archive.writestr("inner.csv", "text,label\n")
    with pytest.raises(DataError, match=r"t\.csv: .*zip"):
        rows(tmp_path / "t.csv")
    (tmp_path / "t.jsonl.zst").write_bytes(b"\x28\xb5\x2f\xfdrest")
    with pytest.raises(DataError, match=r"expected a table .*found '\.zst'"):
        rows(tmp_path / "t.jsonl.zst")
    (tmp_path / "t.tsv").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\n")
    with pytest.raises(DataError, match=r"t\.tsv: .*git lfs"):
        rows(tmp_path / "t.tsv")
    (tmp_path / "t.csv").write_bytes(b"BZh9 is a word,label\nBZh9,b\n")
    assert Table(tmp_path / "t.csv").columns == ["BZh9 is a word", "label"]


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"one\rmore\ntwo\n", ["one\rmore", "two"]),
        (b"one\r\ntwo\r\r\nthree", ["one", "two", "three"]),
        (b"old\rmac\rfile", ["old", "mac", "file"]),
        (b"one\r", ["one"]),
        ("a\u2028b\x85c\nd".encode(), ["a\u2028b\x85c", "d"]),
    ],
)
def test_lines_are_those_that_wc_counts(tmp_path, data, lines):
    path = tmp_path / "t.txt"
    path.write_bytes(data)
    found = list(open_corpus(path).rows())
    assert [row.text for row in found] == lines
    assert [row.id for row in found] == [str(number + 1) for number in range(len(lines))]
    with opened_text(io.BytesIO(data), "utf-8", name="stream") as stream:
        assert [line.rstrip("\r\n") for line in stream] == lines


def test_a_carriage_return_within_a_cell_moves_no_line(tmp_path):
    path = tmp_path / "t.tsv"
    path.write_bytes(b"text\tlabel\ngood\rfilm\ta\nbad\tb\n")
    found = list(Table(path).rows(["text"]))
    assert [(row.line, row.values["text"]) for row in found] == [(2, "good\rfilm"), (3, "bad")]
