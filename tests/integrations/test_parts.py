"""Files of scored rows, the same in all formats; rows of files of texts, and what is wrong with
those that are none; how far a run is."""

import csv
import io
import json
import re

import numpy as np
import pandas as pd
import pytest
import spacy
from rich.console import Console
from scored_rows import read_rows
from spacy.tokens import DocBin

from thinstack.cli.table_query import watched
from thinstack.errors import DataError, InputError
from thinstack.integrations.corpora import inputs
from thinstack.integrations.corpora.inputs import Columns, Problem, Row, open_corpus
from thinstack.integrations.corpora.output_files import OutFolder
from thinstack.integrations.corpora.run_manifest import Progress
from thinstack.integrations.corpora.scored_rows import NOTHING, Layout, check_format, open_part

LABELS = ("bad", '100% "good" –')
LONG = "=x\r" + 70_000 * "é"
GIVEN = [Row("a", "a,\nb. cde"), Row('b "\u2028"', "\x85"), Row("c", LONG)]
NUMBERS = {"a": 7, GIVEN[1].id: 2**40, "c": 2**40 + 1}
NAN = float("nan")
COLUMNS = {
    "sentence": [0, 1, NOTHING, 0],
    "start": [0, 3, 0, 1],
    "end": [2, 9, 1, 70_000],
    "label": [1, NOTHING, NOTHING, 0],
    "scores": [[0.25, 0.75], [0.5, 0.5], [NAN, NAN], [1, 1e-9]],
    "polarity": [0.5, 0.0, NAN, -1 / 3],
    "node": [0, 2, NOTHING, 0],
    "parent": [2, NOTHING, NOTHING, 2],
    "because_start": [0, NOTHING, NOTHING, 2],
    "because_end": [1, NOTHING, NOTHING, 4],
    "row": [7, 7, 2**40, 2**40 + 1],
}
RECORDS = [
    {"id": "a", "sentence": 0, "start": 0, "end": 2, "node": 0, "parent": 2}
    | {"text": "a,", "label": LABELS[1], "polarity": 0.5}
    | {"scores": {"bad": 0.25, LABELS[1]: 0.75}},
    {"id": "a", "sentence": 1, "start": 3, "end": 9, "node": 2, "parent": None}
    | {"text": "b. cde", "label": None, "polarity": 0.0}
    | {"scores": {"bad": 0.5, LABELS[1]: 0.5}},
    {"id": GIVEN[1].id, "sentence": None, "start": 0, "end": 1, "node": None, "parent": None}
    | {"text": "\x85", "label": None, "polarity": None, "scores": None},
    {"id": "c", "sentence": 0, "start": 1, "end": 70_000, "node": 0, "parent": 2}
    | {"text": LONG[1:70_000], "label": "bad", "polarity": -0.333333}
    | {"scores": {"bad": 1.0, LABELS[1]: 0.0}},
]
BECAUSE = [(0, 1, "a"), (None, None, None), (None, None, None), (2, 4, "\ré")]


def wanted(output):
    """The records with the fields that rows of this output have, in their order."""
    for record, (start, end, because) in zip(RECORDS, BECAUSE, strict=True):
        items = []
        for name, value in record.items():
            if output == "phrases" or name not in ("node", "parent"):
                items.append((name, value))
            if output == "aspects" and name == "id":
                items.append(("row", NUMBERS[value]))
            if output == "aspects" and name == "end":
                items += [("because_start", start), ("because_end", end)]
            if output == "aspects" and name == "text":
                items.append(("because", because))
        yield dict(items)


def records(path, format):
    found = read_rows(path, LABELS, format)
    for record in found if format == "parquet" else ():
        record["polarity"] = record["polarity"] and round(record["polarity"], 6)
        if record["scores"]:
            record["scores"] = {name: round(x, 6) for name, x in record["scores"].items()}
    return found


@pytest.mark.parametrize("format", ["jsonl", "parquet", "csv"])
@pytest.mark.parametrize("output", ["phrases", "sentences", "documents", "aspects"])
def test_a_file_holds_the_rows(tmp_path, format, output):
    path = tmp_path / "part"
    layout = Layout(LABELS, output)
    rows = layout.rows(np.array([0, 0, 1, 2]), **COLUMNS)
    with open_part(path, format, layout) as write:
        write(GIVEN, rows)
        write(GIVEN[:1], rows[:1])
    expected = [*wanted(output), next(wanted(output))]
    found = records(path, format)
    assert found == expected
    assert [list(record) for record in found] == [list(record) for record in expected]


@pytest.mark.parametrize("format", ["jsonl", "parquet", "csv"])
def test_a_file_without_rows_is_one(tmp_path, format):
    with open_part(tmp_path / "part", format, Layout(LABELS)):
        pass
    assert records(tmp_path / "part", format) == []
    if format == "csv":
        with (tmp_path / "part").open(encoding="utf-8", newline="") as stream:
            assert list(csv.reader(stream)) == [Layout(LABELS).csv_columns]


@pytest.mark.parametrize("label", ["text", "polarity", "parent"])
def test_a_class_with_the_name_of_a_column_has_no_column(label):
    for format in ("jsonl", "parquet"):
        check_format(format, Layout(["good", label], "phrases"))
    with pytest.raises(InputError, match=f"'{label}'.*--format jsonl"):
        check_format("csv", Layout(["good", label], "phrases"))
    assert Layout(["node"]).csv_columns[-2:] == ["polarity", "node"]


def test_rows_that_failed_are_lines(tmp_path):
    folder = OutFolder(tmp_path, "jsonl")
    failed = [(Row("é", ""), Problem("row", "a\nb")), (Row(None, ""), Problem("id", "c"))]
    folder.write_failed(3, failed)
    lines = folder.failed_part(3).read_text("utf-8").splitlines()
    assert list(map(json.loads, lines)) == [
        {"id": "é", "kind": "row", "message": "a\nb"},
        {"id": None, "kind": "id", "message": "c"},
    ]
    folder.write_failed(3, [])
    assert not folder.failed_part(3).exists()


def test_a_terminal_shows_rows_speed_and_time_left():
    now = 0.0
    shown = io.StringIO()
    console = Console(file=shown, force_terminal=True, width=120, color_system=None)
    with watched("stopped", console, lambda: now) as tell:
        tell(Progress(4096))
        tell(Progress(8192))
        for done in (1000, 3000, 5000):  # 1,000 were done before
            tell(Progress(done, rows=8192, before=1000))
            now += 2
        tell(Progress(5000, rows=8192, before=1000))
    last = re.sub(r"\x1b\[[^a-zA-Z]*[a-zA-Z]", "", shown.getvalue())
    assert "counting rows" in last
    assert "5000/8192 1,000 rows/s 0:00:04" in re.sub(" +", " ", last)


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
