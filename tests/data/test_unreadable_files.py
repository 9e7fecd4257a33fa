"""Files and cells that Python itself cannot take: the error is the reader's own, and names them."""

import os
import stat
import sys
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
import spacy
from pyarrow import parquet
from spacy.tokens import DocBin
from training.tiny_recipe import recipe as tiny_recipe

from thinstack.core.config.base import MOST_BYTES, read_toml
from thinstack.data.tables.cell_text import cell_text
from thinstack.data.tables.table import Table, read_mappings
from thinstack.data.trees.conllu import read_conllu, read_labelled_conllu
from thinstack.data.trees.text_files import write_lines
from thinstack.data.trees.treebank import read_trees
from thinstack.data.words.vectors import read_vectors
from thinstack.data.words.vocabulary import Vocabulary
from thinstack.errors import ConfigError, DataError, InputError, TreeError
from thinstack.integrations.corpora.inputs import open_corpus
from thinstack.integrations.spacy.doc_bins import doc_texts
from thinstack.training.examples.inputs import data_digests
from thinstack.training.recipe import Recipe

DIGITS = "9" * 5000
DEEP = "[" * 100_000 + "]" * 100_000


def rows(path, **settings):
    return list(Table(path, **settings).rows(["text"]))


def texts(path):
    return list(doc_texts(path))


READERS = {
    "trees": (read_trees, "a.txt"),
    "conllu": (read_conllu, "a.conllu"),
    "labelled conllu": (read_labelled_conllu, "a.conllu"),
    "vocabulary": (Vocabulary.load, "a.txt"),
    "vectors": (read_vectors, "a.txt"),
    "npz": (read_vectors, "a.npz"),
    "csv": (rows, "a.csv"),
    "json lines": (rows, "a.jsonl"),
    "parquet": (rows, "a.parquet"),
    "Docs": (texts, "a.spacy"),
    "lines": (lambda path: write_lines(path, ["a"]), "a.txt"),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("odd", ["\0", "\ud800"], ids=["NUL", "half"])
def test_names_that_no_file_has(reader, odd):
    read, name = READERS[reader]
    with pytest.raises(DataError, match="expected a file path") as caught:
        read(f"{odd}{name}")
    assert repr(odd)[1:-1] in str(caught.value)


def linked_pipe(path):
    os.mkfifo(path.with_name("pipe"))
    path.symlink_to("pipe")


NO_FILES = {
    "pipe": (lambda path: os.mkfifo(path), "a pipe"),
    "link": (linked_pipe, "a pipe"),
    "socket": (lambda path: os.mknod(path, stat.S_IFSOCK | 0o600), "a device"),
    "device": (lambda path: path.symlink_to("/dev/zero"), "a device"),
    "folder": (Path.mkdir, "a folder"),
}


plain_only = pytest.mark.skipif(sys.platform == "win32", reason="no pipes among the files")


@plain_only
@pytest.mark.parametrize("kind", NO_FILES)
@pytest.mark.parametrize("reader", sorted(READERS.keys() - {"lines"}))
def test_what_is_no_plain_file(reader, kind, tmp_path):
    (read, name), (make, what) = READERS[reader], NO_FILES[kind]
    make(tmp_path / name)
    with pytest.raises(DataError, match=f"{name}: .*found {what};"):
        read(tmp_path / name)


@plain_only
@pytest.mark.parametrize("kind", ["pipe", "device", "folder"])
def test_recipes_and_their_data_are_plain_files(kind, tmp_path):
    NO_FILES[kind][0](tmp_path / "recipe.toml")
    with pytest.raises(ConfigError, match=r"recipe\.toml: "):
        Recipe.read(tmp_path / "recipe.toml")
    recipe = tiny_recipe(data={"train": "t.txt", "dev": "recipe.toml"})
    (tmp_path / "t.txt").write_text("(1 a)")
    if kind != "folder":
        with pytest.raises(DataError, match=r"recipe\.toml: "):
            data_digests(recipe, tmp_path)


@plain_only
@pytest.mark.parametrize("kind", sorted(NO_FILES.keys() - {"folder"}))
def test_a_corpus_of_what_is_no_file(kind, tmp_path):
    make, what = NO_FILES[kind]
    (tmp_path / "good.txt").write_text("good\n")
    (tmp_path / "inner").mkdir()
    make(tmp_path / "inner" / "a.txt")
    for path in (tmp_path, tmp_path / "inner" / "a.txt"):
        with pytest.raises(DataError, match=rf"a\.txt: .*found {what};"):
            open_corpus(path)
    (tmp_path / "inner").rename(tmp_path / "_inner")  # which is left out
    assert list(open_corpus(tmp_path).files) == ["good.txt"]


@pytest.mark.parametrize("target", ["nowhere.txt", "folder"])
def test_links_in_a_corpus_that_lead_to_no_file(target, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "good.txt").write_text("good\n")
    (tmp_path / "corpus" / "b").symlink_to(Path("..") / target)
    with pytest.raises(InputError, match=rf"b: .* \.\./{target}"):
        open_corpus(tmp_path / "corpus")


TOO_MUCH = {
    "deep": f"a = {DEEP}",
    "digits": f"a = {DIGITS}",
    "table": "[" + " . ".join(['"a"', "b-c", "'d'"] * 40) + "]",
    "inline key": "a = {" + ".".join(["a"] * 3000) + " = 1}",
    "long": "#" * (MOST_BYTES + 1),
    "bytes": "\udcff",
}


@pytest.mark.parametrize("text", TOO_MUCH.values(), ids=TOO_MUCH)
def test_toml_that_is_too_much(text, tmp_path):
    path = tmp_path / "recipe.toml"
    path.write_text(text, encoding="utf-8", errors="surrogateescape")
    with pytest.raises(ConfigError, match=r"recipe\.toml: .+"):
        Recipe.read(path)


def test_dots_that_are_no_key_are_read(tmp_path):
    path, names = tmp_path / "recipe.toml", [f"cs.{number}" for number in range(300)]
    path.write_text(f"# {'.' * 300}\r\na.b.c = {names}\n")
    assert read_toml(path, "recipe") == {"a": {"b": {"c": names}}}


def test_what_a_recipe_may_not_have_is_shown_whatever_it_is(tmp_path):
    path = tmp_path / "recipe.toml"
    key = "k" * 5000
    path.write_text(f'{key} = 1\nodd = 0x{"f" * 10_000}\n"\\u001b[31m" = 2\n')
    with pytest.raises(ConfigError) as caught:
        Recipe.read(path)
    said = str(caught.value)
    assert "odd: Extra inputs are not permitted (found int (cannot be printed))" in said
    assert r"\x1b[31m: Extra" in said
    assert len(said) < 3000
    assert f"{'k' * 200}: Extra" in said


@pytest.mark.parametrize(
    "encoding", ["nope", "\0", "a\ud800", "punycode", "undefined", "rot13", "hex"], ids=ascii
)
def test_encodings_that_are_none(encoding, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text\n(1 a)\n")
    for read in (read_trees, rows):
        with pytest.raises((DataError, TreeError), match=r"a\.csv"):
            read(path, encoding=encoding)


NO_TEXT = {
    "thousands of digits": 10**5000,
    r"1E\+999999": Decimal("1e999999"),
    "NaN": Decimal("sNaN"),
    "inf": float("inf"),
    r"the character '.*ud800'": "\ud800",
}


@pytest.mark.parametrize("found", NO_TEXT)
def test_cells_that_are_no_text(found):
    value = NO_TEXT[found]
    with pytest.raises(DataError, match=found):
        cell_text(value)
    with pytest.raises(DataError, match=f"rows:1: .*{found}"):
        list(read_mappings([{"text": value}], ["text"]))


def bad_struct():
    text = pa.Array.from_buffers(pa.string(), 1, pa.array([b"\xff"]).buffers())
    return pa.StructArray.from_arrays([text], ["a"])


@pytest.mark.parametrize(
    "column",
    [
        pa.array([2**62], pa.timestamp("ns")),
        pa.array([2**31 - 1], pa.date32()),
        pa.array([2**62], pa.duration("s")),
        bad_struct(),
    ],
    ids=lambda column: str(column.type),
)
def test_values_that_python_has_not_cost_one_row(column, tmp_path):
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"text": pa.concat_arrays([column, column])}), path)
    skipped = []
    with pytest.raises(DataError, match=r"a\.parquet: "):
        list(Table(path).rows(["text"], skipped=skipped))
    assert [str(error).split(": expected")[0] for error in skipped] == [f"{path}:1", f"{path}:2"]


def test_columns_without_end_are_not_all_listed(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(",".join([f"{'x' * 5000}{number}" for number in range(200)]) + "\n")
    with pytest.raises(DataError, match="and 150 more") as caught:
        rows(path)
    assert len(str(caught.value)) <= 3005


def test_docs_that_break_when_they_are_made(tmp_path):
    path = tmp_path / "a.spacy"
    bin = DocBin(docs=[spacy.blank("en")("a")])
    bin.strings.clear()  # words by hashes of strings that are not there
    bin.to_disk(path)
    with pytest.raises(DataError, match=r"a\.spacy: .*DocBin"):
        texts(path)


def test_a_corpus_of_names_that_are_not_utf8(tmp_path):
    name = b"caf\xe9.txt".decode("utf-8", "surrogateescape")
    (tmp_path / name).write_text("good\n")
    for path in (tmp_path, tmp_path / name):
        with pytest.raises(InputError, match=r"'caf\\udce9.txt'"):
            open_corpus(path)
