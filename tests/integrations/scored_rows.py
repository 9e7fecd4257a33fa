"""Files of scored rows, read back as records whatever their format."""

import csv
import json

from pyarrow import parquet

NUMBERS = {"row", "sentence", "start", "end", "node", "parent", "because_start", "because_end"}


def read_rows(path, labels, format=None):
    """The rows of a file; of CSV, in which nothing is empty text, as the other formats have them.
    `format` is that of the name unless it is told."""
    format = format or path.suffix[1:]
    if format == "parquet":
        return parquet.read_table(path).to_pylist()
    if format == "jsonl":
        lines = path.read_text("utf-8").removesuffix("\n").split("\n")
        return [json.loads(line) for line in lines if line]
    with path.open(encoding="utf-8", newline="") as stream:
        return [_of_csv(cells, labels) for cells in csv.DictReader(stream, strict=True)]


def _of_csv(cells, labels):
    scores = {name: float(cell) for name in labels if (cell := cells.pop(name))}
    row = {name: cell or None for name, cell in cells.items()}
    row |= {name: row[name] and int(row[name]) for name in NUMBERS & row.keys()}
    return row | {"polarity": row["polarity"] and float(row["polarity"]), "scores": scores or None}
