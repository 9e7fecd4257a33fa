"""Files of scored rows: all formats hold the same records; and how far a run is."""

import csv
import io
import json
import re

import numpy as np
import pytest
from rich.console import Console
from scored_rows import read_rows

from thinstack.cli.table_query import watched
from thinstack.errors import InputError
from thinstack.integrations.corpora.inputs import Problem, Row
from thinstack.integrations.corpora.part_files import check_format, failed_lines, open_part
from thinstack.integrations.corpora.row_columns import NOTHING, Layout
from thinstack.integrations.corpora.run_manifest import Progress

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


def test_rows_that_failed_are_lines():
    failed = [(Row("é", ""), Problem("row", "a\nb")), (Row(None, ""), Problem("id", "c"))]
    lines = failed_lines(failed).splitlines()
    assert list(map(json.loads, lines)) == [
        {"id": "é", "kind": "row", "message": "a\nb"},
        {"id": None, "kind": "id", "message": "c"},
    ]


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
