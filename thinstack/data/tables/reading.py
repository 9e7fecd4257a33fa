"""Reads tables of texts: CSV, tab-separated, JSON, parquet. Only a file that is one JSON array is
held in memory."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from thinstack.data.tables.json_tables import json_records
from thinstack.data.tables.parquet import parquet_records
from thinstack.data.tables.separated import separated_records
from thinstack.data.tables.table_kinds import TABLE_SUFFIXES, is_table, table_kind
from thinstack.data.tables.table_rows import (
    COLUMN_ADVICE,
    Classes,
    Found,
    Record,
    TableRow,
    checked_rows,
)
from thinstack.errors import DataError, shown

__all__ = [
    "TABLE_SUFFIXES",
    "TableRow",
    "columns_of",
    "is_table",
    "read_mappings",
    "read_table",
    "table_records",
]


def columns_of(
    path: str | Path,
    *,
    encoding: str = "utf-8",
    separator: str | None = None,
    header: bool | None = None,
) -> list[str]:
    """The names of a table's columns. In JSON they are the keys of the first object. Raises what
    `read_table` raises, and DataError for a line before it that is no object."""
    for found in table_records(path, (), encoding, separator=separator, header=header):
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
    separator: str | None = None,
    header: bool | None = None,
    skipped: list[DataError] | None = None,
    advice: str = COLUMN_ADVICE,
    classes: Classes | None = None,
) -> Iterator[TableRow]:
    """The rows of a table, one after the other, with the texts of `columns`.

    CSV is as in RFC 4180. A cell in quotes may hold separators and line ends, and a quote in it is
    doubled. Tab-separated text is the same, but a row whose quotes do not fit is read without any:
    a quote mark in it is text. JSON has one object a line, or one array of objects. Parquet is
    always UTF-8, whatever `encoding` is. A file may be compressed (`opened_bytes`). A byte order
    mark and blank lines are ignored. Cells become text as `cell_text` says; in CSV they are text
    already, so 3.0 stays "3.0".

    `separator`: the character between cells; by default it is found (`find_dialect`). `header`:
    False for a table without a header, whose columns are named "1", "2" and so on; by default there
    is one, and a first row that looks like another row is an error.

    A row is bad if `cell_text` refuses a cell, or if it has too few or too many cells. So is a row
    that repeats the header, and one with bytes that are not in `encoding`. A quote makes its row
    bad if it is not doubled, is never closed or takes other rows along. A line of JSON is bad if it
    is no object. The DataErrors of bad rows start with file and line. They go to the list
    `skipped`; without it the first is raised.

    Nothing is opened before the first row is asked for. Then it raises DataError for a file that is
    missing, is no table, or has no row that can be used. Also for a column that is missing or
    occurs twice; in JSON the first object is looked at. `advice` ends the message where a column
    is missing.
    Raises MissingExtraError for parquet without pyarrow (extra `data`).
    """
    found = table_records(path, columns, encoding, separator=separator, header=header)
    settings: Any = {"skipped": skipped, "advice": advice, "classes": classes}
    return checked_rows(str(path), found, columns, **settings)


def read_mappings(
    rows: Iterable[object],
    columns: Sequence[str],
    *,
    source: str = "rows",
    skipped: list[DataError] | None = None,
    advice: str = COLUMN_ADVICE,
    classes: Classes | None = None,
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

    settings: Any = {"skipped": skipped, "advice": advice, "classes": classes}
    return checked_rows(source, found(), columns, **settings)


def table_records(
    path: str | Path,
    wanted: Sequence[str],
    encoding: str,
    *,
    separator: str | None = None,
    header: bool | None = None,
) -> Iterator[Found]:
    """The columns and the rows of a table, whose cells are not checked. From parquet only the
    `wanted` columns are read.

    Raises DataError for a file that is missing, is no table or is damaged, and for a `separator` or
    `header` of a table that has none. Raises MissingExtraError as `read_table` does.
    """
    kind = table_kind(path, separated=separator is not None or header is not None)
    if kind == ".parquet":
        return parquet_records(path, wanted)
    if kind in (".json", ".jsonl"):
        return json_records(path, encoding)
    return separated_records(path, wanted, encoding, separator=separator, header=header)
