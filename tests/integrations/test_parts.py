"""Files of scored rows: both formats hold the same records."""

import json

import numpy as np
import pytest
from pyarrow import parquet

from thinstack.integrations.corpora import part_files as parts
from thinstack.integrations.corpora.part_files import failed_lines, open_part
from thinstack.integrations.corpora.rows import Problem, Row
from thinstack.integrations.corpora.scoring import NOTHING, ScoredRows

LABELS = ("bad", '100% "good" –')
IDS = ["a", 'b "\u2028"', "c"]
NAN = float("nan")
ROWS = ScoredRows(
    text=np.array([0, 0, 1, 2]),
    sentence=np.array([0, 1, NOTHING, 0]),
    start=np.array([0, 3, 0, 1]),
    end=np.array([2, 9, 1, 70_000]),
    label=np.array([1, NOTHING, NOTHING, 0]),
    scores=np.array([[0.25, 0.75], [0.5, 0.5], [NAN, NAN], [1, 1e-9]], np.float32),
    node=np.array([0, 2, NOTHING, 0]),
    parent=np.array([2, NOTHING, NOTHING, 2]),
)
RECORDS = [
    {"id": "a", "sentence": 0, "start": 0, "end": 2, "node": 0, "parent": 2}
    | {"label": LABELS[1], "scores": {"bad": 0.25, LABELS[1]: 0.75}},
    {"id": "a", "sentence": 1, "start": 3, "end": 9, "node": 2, "parent": None}
    | {"label": None, "scores": {"bad": 0.5, LABELS[1]: 0.5}},
    {"id": IDS[1], "sentence": None, "start": 0, "end": 1, "node": None, "parent": None}
    | {"label": None, "scores": None},
    {"id": "c", "sentence": 0, "start": 1, "end": 70_000, "node": 0, "parent": 2}
    | {"label": "bad", "scores": {"bad": 1.0, LABELS[1]: 0.0}},
]


def records(path, format):
    if format == "jsonl":
        return [json.loads(line) for line in path.read_text("utf-8").removesuffix("\n").split("\n")]
    found = parquet.read_table(path).to_pylist()
    for record in found:
        if record["scores"]:
            record["scores"] = {name: round(x, 6) for name, x in record["scores"].items()}
    return found


@pytest.mark.parametrize("format", ["jsonl", "parquet"])
@pytest.mark.parametrize("phrases", [True, False])
def test_a_file_holds_the_rows(tmp_path, format, phrases):
    path = tmp_path / "part"
    with open_part(path, format, LABELS, phrases=phrases) as write:
        write(IDS, ROWS)
        write(IDS[:1], ScoredRows(*(column[:1] for column in ROWS)))
    left_out = () if phrases else ("node", "parent")
    wanted = [
        {name: value for name, value in record.items() if name not in left_out}
        for record in [*RECORDS, RECORDS[0]]
    ]
    found = records(path, format)
    assert found == wanted
    assert [list(record) for record in found] == [list(record) for record in wanted]


def test_groups_of_parquet_are_large(tmp_path, monkeypatch):
    monkeypatch.setattr(parts, "_GROUP", 3)
    with open_part(tmp_path / "part", "parquet", LABELS, phrases=True) as write:
        for _ in range(2):
            write(IDS, ROWS)
    file = parquet.ParquetFile(tmp_path / "part")
    groups = [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)]
    assert groups == [3, 4, 1]
    assert records(tmp_path / "part", "parquet") == [*RECORDS, *RECORDS]


@pytest.mark.parametrize("format", ["jsonl", "parquet"])
def test_a_file_without_rows_is_one(tmp_path, format):
    with open_part(tmp_path / "part", format, LABELS, phrases=False):
        pass
    if format == "jsonl":
        assert (tmp_path / "part").read_bytes() == b""
    else:
        assert parquet.read_table(tmp_path / "part").num_rows == 0


def test_rows_that_failed_are_lines():
    failed = [(Row("é", ""), Problem("row", "a\nb")), (Row(None, ""), Problem("id", "c"))]
    lines = failed_lines(failed).splitlines()
    assert list(map(json.loads, lines)) == [
        {"id": "é", "kind": "row", "message": "a\nb"},
        {"id": None, "kind": "id", "message": "c"},
    ]
