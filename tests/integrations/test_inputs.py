"""Rows of files of texts, and what is wrong with those that are none."""

import pandas as pd
import pytest
import spacy
from spacy.tokens import DocBin

from thinstack.errors import DataError, InputError
from thinstack.integrations.corpora import inputs
from thinstack.integrations.corpora.inputs import Columns, Row, open_corpus

TEXTS = ["A good film.", 'naïve – "film"', "", "awful"]


def written(path):
    """A file of TEXTS, whose ids are a to d."""
    frame = pd.DataFrame({"id": [*"abcd"], "text": TEXTS})
    if path.suffix == ".parquet":
        frame.to_parquet(path)
    elif path.suffix == ".spacy":
        DocBin(docs=map(spacy.blank("en").make_doc, TEXTS)).to_disk(path)
    elif path.suffix in (".jsonl", ".ndjson"):
        frame.to_json(path, orient="records", lines=True)
    elif path.suffix == ".txt":
        path.write_bytes(("\ufeff" + "\r\n".join(TEXTS)).encode())
    else:
        frame.to_csv(path, sep={".csv": ",", ".tsv": "\t"}[path.suffix], index=False)
    return path


def read(corpus):
    found = list(corpus.rows())
    assert not any(row.problem for row in found)
    return [(row.id, row.text) for row in found]


LINES = {".csv": "2345", ".tsv": "2345"}
KINDS = (".txt", ".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".spacy")


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_file_gives_the_same_texts(tmp_path, kind):
    path = written(tmp_path / f"texts{kind}")
    lines = LINES.get(kind, "1234")
    assert read(open_corpus(path)) == list(zip(lines, TEXTS, strict=True))
    if kind not in (".txt", ".spacy"):
        assert read(open_corpus(path, Columns(id="id"))) == list(zip("abcd", TEXTS, strict=True))
        assert [text for _, text in read(open_corpus(path, Columns("id")))] == list("abcd")


def test_a_folder_is_its_files_by_name(tmp_path):
    (tmp_path / "b").mkdir()
    for name in ("c.txt", "b/a.txt", "_SUCCESS", ".hidden", "b/.crc"):
        (tmp_path / name).write_text(f"in {name}")
    assert read(open_corpus(tmp_path)) == [("b/a.txt:1", "in b/a.txt"), ("c.txt:1", "in c.txt")]
    (tmp_path / "notes.md").write_text("a")
    with pytest.raises(InputError, match=r"\.txt, .*'notes\.md'"):
        open_corpus(tmp_path)


def test_what_is_no_corpus_is_refused(tmp_path):
    with pytest.raises(InputError, match="found nothing"):
        open_corpus(tmp_path / "missing")
    with pytest.raises(InputError, match="found none"):
        open_corpus(tmp_path)
    with pytest.raises(InputError, match="--text, --id and --columns"):
        open_corpus(written(tmp_path / "t.txt"), Columns(id="id"))
    with pytest.raises(DataError, match="'body', found 'id', 'text'"):
        list(open_corpus(written(tmp_path / "t.csv"), Columns("body")).rows())
    (tmp_path / "t.parquet").write_bytes(written(tmp_path / "u.parquet").read_bytes()[:-20])
    with pytest.raises(DataError, match="cannot be read as parquet"):
        list(open_corpus(tmp_path / "t.parquet").rows())


POISON = [
    ('{"id": 2, "text": NaN}', "2", "missing"),
    ('{"id": "3", "text": "nan"}', "3", "missing"),
    ('{"id": 4, "te', None, "row"),
    ("[5]", None, "row"),
    ('{"text": "good"}', None, "id"),
    ('{"id": 8, "text": ["good"]}', "8", "not_text"),
    (r'{"id": 9, "text": "lone \ud800"}', "9", "not_text"),
    (b'{"id": "\xe9", "text": "good"}', None, "id"),
    ('{"id": 12, "text": "' + 101 * "a" + '"}', "12", "too_long"),
]


def test_a_row_that_cannot_be_scored_says_why_and_keeps_its_neighbours(tmp_path, monkeypatch):
    monkeypatch.setattr(inputs, "LONGEST_TEXT", 100)
    path, good = tmp_path / "t.jsonl", b'{"id": "g", "text": "good"}'
    lines = [line.encode() if isinstance(line, str) else line for line, _, _ in POISON]
    path.write_bytes(b"\n".join([good, *lines, b'{"id": "o", "text": "ok", "x": "\xe9"}']))
    first, *found, last = open_corpus(path, Columns(id="id")).rows()
    assert (first, last) == (Row("g", "good"), Row("o", "ok"))
    assert [(row.id, row.problem and row.problem.kind) for row in found] == [
        (id, kind) for _, id, kind in POISON
    ]
    for line, row in enumerate(found, start=2):
        assert row.problem.message.startswith(f"{path}:{line}: expected ")
        assert row.text == ""
    without = [row.id for row in open_corpus(path).rows()]
    assert without == [str(line) for line in range(1, 12)]


def test_lines_in_another_encoding(tmp_path):
    path = tmp_path / "t.txt"
    path.write_bytes(b"caf\xe9\n\n a ")
    good, *others = open_corpus(path).rows()
    assert (good.id, good.problem and good.problem.kind) == ("1", "not_text")
    assert others == [Row("2", ""), Row("3", " a ")]
    assert next(open_corpus(path, encoding="latin-1").rows()) == Row("1", "café")
