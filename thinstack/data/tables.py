"""Reads tables of texts: CSV, tab-separated, JSON lines, parquet. No file is held in memory."""

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from thinstack.data.parquet import parquet_records
from thinstack.data.table_rows import COLUMN_ADVICE, Found, Record, TableRow, checked_rows
from thinstack.data.text_streams import opened_text, undecoded
from thinstack.errors import DataError, shown

__all__ = [
    "TABLE_SUFFIXES",
    "TableRow",
    "columns_of",
    "is_table",
    "json_line_records",
    "read_mappings",
    "read_table",
    "table_records",
]

TABLE_SUFFIXES = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet")

LONGEST_CELL = 1 << 24
"""Characters. It bounds how much a quote that is never closed takes with it."""

_SEPARATORS = {".csv": ",", ".tsv": "\t"}


def is_table(path: str | Path) -> bool:
    """Whether the name of a file ends as a table's name does (`TABLE_SUFFIXES`, in any case)."""
    return Path(path).suffix.lower() in TABLE_SUFFIXES


def columns_of(path: str | Path, *, encoding: str = "utf-8") -> list[str]:
    """The names of a table's columns. In JSON lines they are the keys of the first object. Raises
    what `read_table` raises, and DataError for a line before it that is no object."""
    for found in table_records(path, (), encoding):
        if isinstance(found, list):
            return found
        if found.problem:
            raise found.problem
    raise DataError(f"{path}: expected a table with rows, found nothing")


def read_table(
    path: str | Path,
    columns: Sequence[str],
    *,
    encoding: str = "utf-8",
    skipped: list[DataError] | None = None,
    advice: str = COLUMN_ADVICE,
) -> Iterator[TableRow]:
    """The rows of a table, one after the other, with the texts of `columns`.

    CSV is as in RFC 4180, tab-separated text the same with tabs. A cell in quotes may hold
    separators and line ends, and a quote in it is doubled. JSON lines hold one object each. Parquet
    is always UTF-8, whatever `encoding` is. A byte order mark and blank lines are ignored. Cells
    become text as `cell_text` says; in CSV they are text already, so 3.0 stays "3.0".

    A row is bad if `cell_text` refuses a cell, or if it has too few or too many cells. So is a row
    with a quote that is not doubled or never closed, or with bytes that are not in `encoding`. So
    is a line of JSON that is no object. The DataErrors of bad rows start with file and line. They
    go to the list `skipped`; without it the first is raised.

    Nothing is opened before the first row is asked for. Then it raises DataError for a file that is
    missing, is no table or has no row. Also for a column that is missing or occurs twice; in JSON
    lines, the first object is looked at. `advice` ends the message where a column is missing.
    Raises MissingExtraError for parquet without pyarrow (extra `data`).
    """
    found = table_records(path, columns, encoding)
    return checked_rows(str(path), found, columns, skipped=skipped, advice=advice)


def read_mappings(
    rows: Iterable[object],
    columns: Sequence[str],
    *,
    source: str = "rows",
    skipped: list[DataError] | None = None,
    advice: str = COLUMN_ADVICE,
) -> Iterator[TableRow]:
    """The rows of a table in memory, as `read_table` gives the rows of a file.

    `rows`: mappings of columns to cells, numbered from 1. The columns of the table are the keys of
    the first row. `source` leads every message. Raises what `read_table` raises for cells and
    columns.
    """

    def found() -> Iterator[Found]:
        first = True
        for line, row in enumerate(rows, start=1):
            if not isinstance(row, Mapping):
                expected = "expected a mapping of columns (of a pandas table df.to_dict('records'))"
                problem = DataError(f"{source}:{line}: {expected}, found {shown(row, 60)}")
                yield Record(line, {}, problem)
                continue
            if first:
                yield list(row)
            first = False
            yield Record(line, row)

    return checked_rows(source, found(), columns, skipped=skipped, advice=advice)


def table_records(path: str | Path, wanted: Sequence[str], encoding: str) -> Iterator[Found]:
    """The columns and the rows of a table, whose cells are not checked. From parquet only the
    `wanted` columns are read.

    Raises DataError for a file that is missing, is no table or is damaged, and MissingExtraError as
    `read_table` does.
    """
    suffix = Path(path).suffix.lower()
    if suffix == ".parquet":
        return parquet_records(path, wanted)
    if suffix in _SEPARATORS:
        return _separated(path, encoding, _SEPARATORS[suffix])
    if is_table(path):
        return json_line_records(path, encoding)
    expected = f"expected a table, whose name ends in one of {', '.join(TABLE_SUFFIXES)}"
    raise DataError(f"{path}: {expected}, found {suffix or 'no ending'!r}; rename or convert it")


def _separated(path: str | Path, encoding: str, separator: str) -> Iterator[Found]:
    # This limit holds for the whole process; other code may have set it higher.
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_CELL))
    with opened_text(path, encoding) as stream:
        reader = csv.reader(stream, delimiter=separator, strict=True)
        header: list[str] = []
        while True:
            line = reader.line_num + 1
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                problem: DataError | None = _quoting(path, line, reader.line_num, error)
                cells = []
            else:
                if not cells:  # a blank line
                    continue
                problem = undecoded(path, line, separator.join(cells), encoding)
            if not header:
                if problem:
                    raise problem
                _check_separator(path, line, cells, separator)
                header = cells
                yield header
            elif len(cells) != len(header):
                expected = f"expected {len(header)} cells, as the header has"
                mend = f"put cells that hold {separator!r} or line ends in double quotes"
                counted = DataError(f"{path}:{line}: {expected}, found {len(cells)}; {mend}")
                yield Record(line, {}, problem or counted)
            else:
                yield Record(line, dict(zip(header, cells, strict=True)), problem)


def json_line_records(path: str | Path, encoding: str) -> Iterator[Found]:
    """The columns and the rows of a file of JSON lines, whatever its name, as `table_records` gives
    them."""
    first = True
    with opened_text(path, encoding) as stream:
        for line, text in enumerate(stream, start=1):
            if not text.strip():
                continue
            record = _object(path, line, text)
            if problem := undecoded(path, line, text, encoding):
                record = record._replace(problem=problem)
            if first and not record.problem:
                first = False
                yield list(record.cells)
            yield record


def _object(path: str | Path, line: int, text: str) -> Record:
    expected = f"{path}:{line}: expected a JSON object"
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        return Record(line, {}, DataError(f"{expected}: {error}"))
    if not isinstance(value, dict):
        return Record(line, {}, DataError(f"{expected}, found {text.strip():.60}"))
    return Record(line, value)


def _quoting(path: str | Path, line: int, last: int, error: csv.Error) -> DataError:
    where = f"lines {line} to {last}" if last > line else f"line {line}"
    return DataError(
        f"{path}:{line}: expected double quotes around whole cells only, and doubled inside them "
        f'("a ""good"" film"), found others in {where}: {error}'
    )


def _check_separator(path: str | Path, line: int, header: list[str], separator: str) -> None:
    other = re.search(r"[,;\t|]", header[0])
    if len(header) == 1 and other:
        expected = f"expected cells separated by {separator!r}, found {header[0]!r:.80}"
        raise DataError(f"{path}:{line}: {expected}; write the table with {separator!r}")
