"""Tables, suites, vectors, vocabularies, recipes, and what lies in a corpus's folders."""

import bz2
import gzip
import io
import lzma
import warnings
from functools import partial
from pathlib import Path

import numpy as np
from fuzz.changes import any_of, mutated_bytes, mutated_json, mutated_lines, mutated_text
from fuzz.target import Target, of_file
from pyarrow import parquet, table

from thinstack.data.tables.table import Table
from thinstack.data.words.vectors import read_vectors
from thinstack.data.words.vocabulary import WordVocabulary
from thinstack.data.words.wordpiece import WordpieceVocabulary
from thinstack.errors import DataError
from thinstack.evaluate.suite import halves, read_suite
from thinstack.integrations.corpora.inputs import Columns, open_corpus
from thinstack.integrations.corpora.output_files import OutFolder
from thinstack.integrations.corpora.run_manifest import (
    MANIFEST,
    RunManifest,
    Settings,
    read_run_manifest,
)
from thinstack.training.recipe import Recipe

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden" / "schema-1"
CSV = b'id,text,label\n1,"a ""good"" film, yes",pos\n2,"two\nlines",neg\n3,x,3.0\n'
SPACED = b'sep=;\nid; text; label\n1; "a ""good"" film; yes"; pos\n2; two; neg\n3; x; 3.0\n'
STRAY = b'id\ttext\tlabel\n1\t"a film\tpos\n2\t5" disk\tneg\n3\ty"\tpos\n4\tz\tneg\n5\tq\tpos\n'
JSON_LINES = b'{"id": 1, "text": "a film", "label": "pos"}\n\n{"text": "caf\\u00e9", "label": 3}\n'
SUITE = (
    b"id\thalf\tkind\tpolarity\ttest\tpartner\tmoves\ttext\n"
    b"a\topen\tk\tpositive\tMFT\t-\t-\tgood\n"
    b"b\topen\tk\tpositive\tINV\ta\t-\tvery good\n"
    b"c\topen\tk\tnegative\tDIR\ta\tdown\tbad\n"
)
OF_ASPECTS = (
    b"id\thalf\tkind\tterms\ttext\n"
    b"a\topen\tk\t0-4 positive; 9-13 negative\tgood but poor\n"
    b"b\topen\tk\t-\tvery good\n"
)
VECTORS = b"3 2\nthe 0.5 -1\nfilm 1e-3 2\n. . 0 0.25\n"
MANIFESTED = RunManifest(
    input={"a.csv": "00"}, model="00", labels=("bad", "good"), settings=Settings(), shards=(4096, 3)
)


def rows(path):
    """The rows of a table, and those that are left where bad ones are skipped."""
    skipped = []
    _ = Table(path).columns
    rest = list(Table(path).rows(["text", "label"], skipped=skipped))
    try:
        found, told = list(Table(path).rows(["text", "label"])), []
    except DataError as error:
        found, told = rest, [str(error)]
    assert found == rest
    assert told == [str(error) for error in skipped[:1]]
    assert all(value.strip() for row in found for value in row.values.values())
    return min(len(found), 9)


def corpus(path):
    """The rows of a corpus: every one has a text, or says why not."""
    columns = None if path.suffix == ".txt" else Columns("text", "id")
    found = list(open_corpus(path, columns).rows())
    assert all(not row.text for row in found if row.problem)
    return min(len(found), 9)


def vectors(path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of words that are there twice
        found = read_vectors(path)
    assert found.vectors.shape[0] == len(set(found.words))
    assert np.isfinite(found.vectors).all()
    return found.vectors.shape[1]


def vocabulary(kind, path):
    """The entries come back, and every word has ids in range."""
    found = kind.load(path)
    assert kind.load(path) == found
    path.write_bytes(found.to_bytes())
    assert kind.load(path) == found
    fields = found.fields(["the", "-LRB-", "Films", "\u0130", "", *found.entries[:50]])
    ids = next(iter(fields.values()))
    assert ids.min() >= 0
    assert ids.max() < len(found)
    return min(len(found), 9)


def recipe(path):
    found = Recipe.read(path)
    assert Recipe.parse(found.model_dump(mode="json"), source="itself") == found
    return found.task.name


def manifest(path):
    found = read_run_manifest(path.parent)
    assert found is not None
    assert not found.difference(found)
    found.write(path.parent)
    assert read_run_manifest(path.parent) == found
    return min(found.rows, 9)


def out_folder(content, folder):
    """A folder of these files, a name a line; after `/` stands what is in them."""
    where = folder / "out"
    for path in sorted(where.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    where.mkdir(exist_ok=True)
    for line in content.decode(errors="replace").splitlines()[:50]:
        name, _, text = line.partition("/")
        if name.strip(".") and len(name.encode()) < 200 and "\0" not in name:
            (where / name).write_text(text, encoding="utf-8")
    found = OutFolder(where, "jsonl")
    found.check()
    found.clean()
    assert not list(where.glob("*.partial"))
    return len(found.done()) + sum(map(found.failed, found.done()))


def json_line(content, random):
    """One of the lines as `mutated_json` changes it."""
    lines = content.split(b"\n")
    place = int(random.integers(len(lines)))
    lines[place] = mutated_json(lines[place], random)
    return b"\n".join(lines)


def npz(**arrays):
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def parquet_file(**columns):
    file = io.BytesIO()
    parquet.write_table(table(columns), file)
    return file.getvalue()


_TEXT = any_of(mutated_text("\ufeff"), mutated_bytes, mutated_lines)
_WORDS_OF_CELLS = ('"', '""', ",", "\t", "text", "label", "-", "MFT", "INV", "DIR")
_CELLS = any_of(
    mutated_text(*_WORDS_OF_CELLS, separators=r'[,"\t\n]'), mutated_bytes, mutated_lines
)
_WORDS_OF_TOML = ("[", "]", "=", "{}", "[]", '"x"', "true", "self")
_TOML = any_of(mutated_text(*_WORDS_OF_TOML, separators=r"[\s=\"]+"), mutated_lines, mutated_bytes)
_JSON = any_of(mutated_json, mutated_json, mutated_bytes)
_PIECES = any_of(mutated_lines, mutated_bytes, mutated_text("##", "[UNK]", "##s"))
_ARRAY = b"[" + JSON_LINES.strip().replace(b"\n\n", b",\n") + b"]"
_PACKED = gzip.compress(CSV), bz2.compress(CSV), lzma.compress(CSV)
_PARQUET = parquet_file(text=["a film", "b"], label=["pos", "neg"], id=[1, 2])
_OUT = b"manifest.json/{}\npart-000000.jsonl/{}\npart-000001.jsonl.1.partial/\n"
_NAMES = mutated_text("part-", "part-x.jsonl", ".partial", "errors", separators="[-/.\n]")
_WORDS = np.array(["the", "film", "."])
_ARRAYS = (
    npz(words=_WORDS, vectors=np.eye(3, 2, dtype=np.float32)),
    npz(pieces=_WORDS, vectors=np.eye(3, 2).astype(np.int8), scale=np.ones((3, 1))),
)
_RECIPES = [path.read_bytes() for path in sorted((ROOT / "lab" / "recipes").glob("*.toml"))[:2]]
_of_words, _of_pieces = (
    partial(vocabulary, kind) for kind in (WordVocabulary, WordpieceVocabulary)
)
TARGETS = {
    "CSV": of_file("a.csv", rows, _CELLS, 400, CSV),
    "tab-separated": of_file("a.tsv", rows, _CELLS, 400, CSV.replace(b",", b"\t")),
    "tab-separated without quotes": of_file("a.tsv", rows, _CELLS, 400, STRAY),
    "semicolons and spaces": of_file("a.csv", rows, _CELLS, 400, SPACED),
    "an array of JSON": of_file("a.json", rows, any_of(mutated_json, _CELLS), 400, _ARRAY),
    "compressed tables": of_file("a.csv.gz", rows, mutated_bytes, 400, *_PACKED),
    "JSON lines": of_file("a.jsonl", rows, any_of(json_line, _CELLS), 400, JSON_LINES),
    "parquet": of_file("a.parquet", rows, mutated_bytes, 150, _PARQUET),
    "texts of a corpus": of_file("a.txt", corpus, _TEXT, 1000, b"A film.\n\nGood.\n"),
    "table of a corpus": of_file("b.csv", corpus, _CELLS, 1000, CSV),
    "manifest of a corpus": of_file(
        MANIFEST, manifest, _JSON, 800, MANIFESTED.model_dump_json().encode()
    ),
    "folder of a corpus": Target(lambda: [_OUT], _NAMES, out_folder, 300),
    "suite": of_file(
        "s.tsv", lambda path: len(halves(read_suite(path), "all")), _CELLS, 400, SUITE, OF_ASPECTS
    ),
    "vectors as text": of_file("v.txt", vectors, _CELLS, 1000, VECTORS),
    "vectors as arrays": of_file("v.npz", vectors, mutated_bytes, 400, *_ARRAYS),
    "vocabulary of words": of_file("words.txt", _of_words, _TEXT, 800, b"the\nfilm\n-LRB-\n"),
    "vocabulary of pieces": of_file(
        "pieces.txt", _of_pieces, _PIECES, 800, b"[UNK]\nfilm\n##s\nthe\n"
    ),
    "recipe": of_file("recipe.toml", recipe, _TOML, 300, *_RECIPES),
}
