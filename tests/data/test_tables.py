"""Tables of texts: every format gives the same rows, and bad rows say where they stand."""

import json
import math
import sys
import tracemalloc
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from thinstack.data.tables.cell_text import Classes
from thinstack.data.tables.dialects import is_table
from thinstack.data.tables.table import Table, read_mappings
from thinstack.errors import DataError, MissingExtraError

WANTED = ["text", "label"]
TEXTS = [' a "good",  film', "two\nlines\tand a tab", "ein Café – 5€", "x" * 300_000, "0 -- 0"]
ROWS = [
    {"id": i, "text": text, "label": label}
    for i, (text, label) in enumerate(zip(TEXTS, "abcab", strict=True))
]


def write(path, rows):
    """A table of rows with equal keys, in the format of the path's suffix."""
    if path.suffix == ".parquet":
        table = pa.Table.from_pylist(rows)
        parquet.write_table(table, path, compression="none", use_dictionary=False)
    elif path.suffix == ".jsonl":
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    else:
        lines = [list(rows[0]), *(row.values() for row in rows)]
        quoted = [['"' + str(cell).replace('"', '""') + '"' for cell in line] for line in lines]
        separator = "," if path.suffix == ".csv" else "\t"
        text = "".join(f"{separator.join(line)}\n" for line in quoted)
        path.write_text(text, encoding="utf-8", newline="")
    return path


def values(path, columns=WANTED, skipped=None, encoding="utf-8"):
    table = Table(path, encoding=encoding)
    return [list(row.values.values()) for row in table.rows(columns, skipped=skipped)]


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".parquet", ".CSV"])
def test_every_format_gives_the_same_rows(tmp_path, suffix):
    path = write(tmp_path / f"t{suffix.lower()}", ROWS).rename(tmp_path / f"t{suffix}")
    assert is_table(path)
    assert Table(path).columns == ["id", "text", "label"]
    rows = list(Table(str(path)).rows(WANTED))
    assert [row.values for row in rows] == [{key: row[key] for key in WANTED} for row in ROWS]
    lines = {".csv": [2, 3, 5, 6, 7], ".jsonl": [1, 2, 3, 4, 5]}  # the second text has two lines
    kind = ".csv" if suffix in (".CSV", ".tsv") else ".jsonl" if suffix == ".parquet" else suffix
    assert [row.line for row in rows] == lines[kind]
    assert [row.values for row in read_mappings(ROWS, WANTED)] == [row.values for row in rows]


@pytest.mark.parametrize(
    ("data", "encoding", "expected"),
    [
        ("\ufefftext,label\r\ncaf\xe9,a\r\n\r\nb,b", "utf-8", ["caf\xe9", "b"]),
        ("text,label\ncaf\xe9,a\n", "latin-1", ["caf\xe9"]),
        ("text,label\ncaf\xe9,a\n", "utf-16", ["caf\xe9"]),
        ("text,label\rold,a\r", "utf-8", ["old"]),
        (",text,label,\n0,\u2028 a,b,\n", "utf-8", ["\u2028 a"]),
        ('text,label\n5" disk,a\n', "utf-8", ['5" disk']),
    ],
)
def test_files_as_programs_write_them(tmp_path, data, encoding, expected):
    path = tmp_path / "t.csv"
    path.write_bytes(data.encode(encoding))
    assert [text for text, _ in values(path, encoding=encoding)] == expected


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *[(3, "3"), (3.0, "3"), (1e300, "1e+300"), (True, "true"), (" a  b ", " a  b ")],
        *[(Decimal("2.50"), "2.5"), (Decimal("7.00"), "7"), (np.float32(0.5), "0.5")],
    ],
)
def test_cells_become_text_as_a_person_writes_it(value, text):
    (row,) = read_mappings([{"label": value}], ["label"])
    assert row.values == {"label": text}


class NAType:
    """As that of pandas is called."""


MARKS = (None, float("nan"), np.float32("nan"), Decimal("nan"), NAType(), "", " ", "NA", "nan")


def test_in_an_optional_column_nothing_may_stand():
    optional = {"optional": ["label"]}
    given = [{"text": "a"}, *({"text": "a", "label": mark} for mark in (*MARKS, 3.0))]
    rows = [*read_mappings(given, WANTED, **optional)]
    assert [row.values["label"] for row in rows] == [""] * (1 + len(MARKS)) + ["3"]
    named = [*read_mappings(given[-2:], WANTED, classes=Classes("label", ["nan"]), **optional)]
    assert [row.values["label"] for row in named] == ["nan", "3"]
    for bad in ({"text": "a", "label": []}, {"text": None, "label": "b"}):
        with pytest.raises(DataError, match=r"1: .*column '(text|label)', found (a list|nothing)"):
            list(read_mappings([bad], WANTED, **optional))
    with pytest.raises(DataError, match=r"column 'label', found 'text', 'labels' .*did you mean"):
        list(read_mappings([{"text": "a", "labels": "b"}], WANTED, **optional))


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_a_table_without_an_optional_column_says_so(tmp_path, suffix):
    path = write(tmp_path / f"t{suffix}", [{"text": "a"}])
    with pytest.raises(DataError, match="expected the column 'label', found 'text'"):
        list(Table(path).rows(WANTED, optional=["label"]))


def test_parquet_columns_of_other_types(tmp_path):
    columns = {
        "single": pa.array([2.3, 4.0], pa.float32()),
        "kind": pa.array(["a", "b"]).dictionary_encode(),
        "large": pa.array(["a", "b"], pa.large_string()),
        "bytes": pa.array(["\xe9".encode(), b"b"]),
        "whole": pa.array([1, 2]),
    }
    parquet.write_table(pa.table(columns), tmp_path / "t.parquet")
    expected = [["2.3", "a", "a", "\xe9", "1"], ["4", "b", "b", "b", "2"]]
    assert values(tmp_path / "t.parquet", list(columns)) == expected


BAD_CSV = [
    (b"a,\n", ":3: .*column 'label', found an empty cell; fix .*--skip-bad"),
    (b"a,NaN\n", ":3: .*column 'label', found 'NaN', which means a missing value"),
    (b"a\n", ":3: expected 2 cells, .* found 1"),
    (b"a,b,a\n", ":3: expected 2 cells, .* found 3; .*cells that contain ','"),
    (b"caf\xe9,a\n", r":3: expected text in utf-8, found the byte 0xe9; .*--encoding NAME"),
    (b"a\0,a\n", ":3: .*found the byte 0x00"),
    (b'"a\nb" c,a\n', r":3: lines 3 to 4: .* not closed"),
]
BAD_JSON = [
    (b'{"text": "a"}\n', ":2: .*column 'label', found nothing"),
    (b'{"text": "a", "label": NaN}\n', ":2: .*found NaN"),
    (b'{"text": ["a"], "label": 1}\n', ":2: .*column 'text', found a list"),
    (b'{"text": "a", "label": {}}\n', ":2: .*found an object"),
    (b'{"text": "\\ud83d", "label": 1}\n', r":2: .*found the character '\\ud83d'"),
    (b'{"text": "\xe9", "label": 1}\n', ":2: expected text in utf-8, found the byte 0xe9"),
    (b'["a", "b"]\n', r':2: expected a JSON object .*found \["a"'),
    (b"[" * 100_000 + b"\n", ":2: expected a JSON object .*recursion"),
]


@pytest.mark.parametrize(
    ("name", "bad", "message"),
    [("t.csv", *case) for case in BAD_CSV] + [("t.jsonl", *case) for case in BAD_JSON],
)
def test_a_bad_row_says_where_it_is_and_can_be_left_out(tmp_path, name, bad, message):
    header, good = b"text,label\n", b"good,a\n"
    if name == "t.jsonl":
        header, good = b"", b'{"text": "good", "label": "a"}\n'
    path = tmp_path / name
    path.write_bytes(header + good + bad + good)
    found = Table(path).rows(WANTED)
    assert next(found).values["text"] == "good"
    with pytest.raises(DataError, match=f"^{path}{message}") as caught:
        next(found)
    skipped = []
    assert values(path, skipped=skipped) == [["good", "a"]] * 2
    assert [str(error) for error in skipped] == [str(caught.value)]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view(), "dictionary"])
def test_bad_rows_of_parquet(tmp_path, kind):
    texts = pa.array([b"a", b"caf\xe9", b"b", b"c"]).cast(pa.string(), safe=False)
    texts = texts.dictionary_encode() if kind == "dictionary" else texts.cast(kind, safe=False)
    labels = pa.array([1.0, 2.0, math.nan, None])
    parquet.write_table(pa.table({"text": texts, "label": labels}), tmp_path / "t.parquet")
    skipped = []
    assert values(tmp_path / "t.parquet", skipped=skipped) == [["a", "1"]]
    problems = [str(error).partition("t.parquet:")[2] for error in skipped]
    assert [line[:2] for line in problems] == ["2:", "3:", "4:"]
    assert ["'text'" in problems[0], "NaN" in problems[1], "nothing" in problems[2]] == [True] * 3


def test_bad_rows_of_mappings():
    rows, skipped = [("a", "b"), {"text": "a", "label": 1}, {"text": "a"}], []
    read = read_mappings(rows, WANTED, source="reviews", skipped=skipped)
    assert [row.line for row in read] == [2]
    assert "reviews:1: expected a mapping" in str(skipped[0])
    assert "reviews:3: expected a text or a number in the column 'label'" in str(skipped[1])


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("t.csv", b"body,stars\na,b\n", "column 'text', found 'body', 'stars'; .*--text"),
        ("t.jsonl", b'{"text": 1}\n', "column 'label', found 'text'; .*--label"),
        ("t.csv", b"text,label,text\na,b,c\n", "column names, found 'text' twice"),
        ("t.csv", b"\n\n", "expected a table with rows, found nothing"),
        ("t.csv", b"text,label\n", "with rows, found only the columns 'text', 'label'"),
        ("t.csv", b"caf\xe9,label\n", ":1: expected text in utf-8, found the byte 0xe9"),
        ("t.parquet", b"text,label\n", "cannot be read as parquet: "),
        ("t.parquet", None, "cannot be read as parquet: .*No such file"),
        ("t.csv", None, "cannot be read: No such file"),
        ("t.xlsx", b"", r"expected a table .*\.parquet, found '.xlsx'"),
        ("t", b"", "expected a table with rows, found nothing"),
    ],
)
def test_what_is_no_table_is_refused_even_where_rows_may_be_bad(tmp_path, name, data, message):
    if data is not None:
        (tmp_path / name).write_bytes(data)
    with pytest.raises(DataError, match=f"{tmp_path / name}.*{message}"):
        list(Table(tmp_path / name).rows(WANTED, skipped=[]))


def test_other_refusals(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_bytes(b"text,label\na,b\n")
    with pytest.raises(DataError, match=r"t\.csv: unknown encoding 'klingon'"):
        values(path, encoding="klingon")
    with pytest.raises(DataError, match=r"t\.csv: not in utf-16.*--encoding"):
        values(path, encoding="utf-16")
    array = tmp_path / "t.json"
    array.write_bytes('[{"text": "caf\xe9"}]'.encode("cp1252"))
    with pytest.raises(DataError, match=r"t\.json:1: .*byte 0xe9.*--encoding"):
        values(array)
    with pytest.raises(DataError, match=r"; say id=$"):
        list(read_mappings(ROWS, ["key"], advice="say id="))
    (tmp_path / "t.jsonl").write_text("1\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"t\.jsonl:1: expected a JSON object .*found 1"):
        _ = Table(tmp_path / "t.jsonl").columns
    with pytest.raises(DataError, match=r"t\.ndjson: expected a table with rows"):
        _ = Table(write(tmp_path / "t.jsonl", []).rename(tmp_path / "t.ndjson")).columns
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"'pyarrow'.*pip install pyarrow"):
        _ = Table(tmp_path / "t.parquet").columns


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_a_large_table_streams(tmp_path, suffix):
    rows = 20_000
    path = tmp_path / f"t{suffix}"
    write(path, [{"text": f"{i} {i * i} " * 50, "label": i % 5} for i in range(rows)])
    size = path.stat().st_size
    assert size > 4_000_000
    before, most = pa.total_allocated_bytes(), 0
    tracemalloc.start()
    try:
        for count, _ in enumerate(Table(path).rows(WANTED), start=1):  # noqa: B007
            most = max(most, pa.total_allocated_bytes() - before)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert count == rows
    assert max(peak, most) < 4_000_000, (peak, most, size)


def test_the_first_object_of_json_may_lack_a_key(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text('{"text": "a"}\n{"text": "b", "label": "x"}\n', encoding="utf-8")
    with pytest.raises(DataError, match=r"t\.jsonl:1: .*column 'label', found nothing"):
        list(Table(path).rows(WANTED))
    (row,) = Table(path).rows(WANTED, skipped=(skipped := []))
    assert (row.line, len(skipped)) == (2, 1)
