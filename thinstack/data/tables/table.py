"""Tables of texts: CSV, tab-separated, JSON or parquet files; and rows in memory, with the same
checks."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from io import BytesIO
from itertools import chain
from typing import Any, Unpack

from thinstack.data.files.paths import FileContent, FilePath, file_path, why_unreadable
from thinstack.data.files.reading import opened_text, undecoded
from thinstack.data.tables.dialects import table_kind
from thinstack.data.tables.separated import separated_records
from thinstack.data.tables.table_rows import (
    Found,
    Record,
    RowChecks,
    TableRow,
    checked_rows,
    with_columns,
)
from thinstack.errors import DataError, needs_extra, shown

_BATCH = 1024
"""Rows of parquet read at a time."""
_BUFFER = 1 << 20
"""Bytes read at a time; by default, pyarrow reads the columns of a whole row group at once."""


@dataclass(eq=False)
class Table:
    """A table in a file, which is opened on first access.

    Rows are streamed; only a file that is one JSON array is held in memory. `FileContent` instead
    of a path is read once for any number of passes.

    `encoding`: the text encoding; parquet is always UTF-8. `separator`: the character between
    cells; detected by default (`find_dialect`). `header`: False for columns named "1", "2" and so
    on; by default there is a header.

    Reading raises DataError for a file that is missing, damaged or not a table, and for a
    `separator` or `header` that its kind lacks; MissingExtraError for parquet without pyarrow.
    """

    path: FilePath
    _: KW_ONLY
    encoding: str = "utf-8"
    separator: str | None = None
    header: bool | None = None

    @property
    def kind(self) -> str:
        """The kind, as in `table_kind`."""
        named = self.separator is not None or self.header is not None
        return table_kind(self.path, separated=named)

    @cached_property
    def columns(self) -> list[str]:
        """The column names. In JSON, they are the keys of the first objects; a line before these
        that is not an object raises DataError."""
        for item in self.records(()):
            if isinstance(item, list):
                return item
            if item.problem:
                raise item.problem
        raise DataError(f"{self.path}: expected a table with rows, found nothing")

    def records(self, wanted: Sequence[str]) -> Iterator[Found]:
        """Iterate over the columns and the rows, with unchecked cells. From parquet, only the
        `wanted` columns are read."""
        if (kind := self.kind) == ".parquet":
            return _parquet_records(self.path, wanted)
        if kind in (".json", ".jsonl"):
            return with_columns(_json_rows(self.path, self.encoding), wanted)
        return separated_records(
            self.path, self.encoding, separator=self.separator, header=self.header
        )

    def rows(self, columns: Sequence[str], **checks: Unpack[RowChecks]) -> Iterator[TableRow]:
        """Iterate over the rows with the texts of `columns`, as `checked_rows` does.

        CSV follows RFC 4180, except that a single column needs no quotes. So does tab-separated
        text, but a stray quotation mark is text and triggers a UserWarning. JSON is one object per
        line, or one array of objects. A file may be compressed (`opened_bytes`). A byte order mark
        and blank lines are ignored. Cells become text as in `cell_text`; in CSV, 3.0 stays "3.0".

        A row is also bad if it has too few or too many cells, or bytes that are invalid in
        `encoding`; if a quotation mark in it is not doubled, is never closed or swallows other
        rows; or if it is a line of JSON but not an object. The DataErrors of bad rows start with
        file and line.
        """
        return checked_rows(str(self.path), self.records(columns), columns, **checks)


def read_mappings(
    rows: Iterable[object],
    columns: Sequence[str],
    *,
    source: str = "rows",
    **checks: Unpack[RowChecks],
) -> Iterator[TableRow]:
    """Iterate over the rows of a table in memory, as `Table.rows` does for a file.

    `rows`: mappings of columns to cells, numbered from 1. The columns of the table are the keys of
    the first row. `source` begins every message. Raises the errors of `checked_rows`.
    """
    expected = "a mapping of columns (for pandas, df.to_dict('records'))"
    records = (_record(source, line, row, expected) for line, row in enumerate(rows, start=1))
    return checked_rows(source, with_columns(records, columns), columns, **checks)


def _record(
    source: FilePath, line: int, row: object, expected: str, problem: str | None = None
) -> Record:
    if isinstance(row, Mapping):
        return Record(line, row)
    problem = problem or f", found {shown(row, 60)}"
    return Record(line, {}, DataError(f"{source}:{line}: expected {expected}{problem}"))


def _json_rows(path: FilePath, encoding: str) -> Iterator[Record]:
    """Iterate over the rows of a JSON file, whatever its name: one object per line, or one array of
    objects, which is held in memory. The line of a row is then its index in the array, from 1."""
    expected = "a JSON object (one per line, or all in an array)"
    with opened_text(path, encoding) as stream:
        lines = ((number, line) for number, line in enumerate(stream, start=1) if line.strip())
        first, line = next(lines, (0, ""))
        if line.lstrip().startswith("["):
            whole = line + stream.read()
            if problem := undecoded(path, first, whole, encoding):
                raise problem
            try:
                values = json.loads(whole)
            except (ValueError, RecursionError) as error:
                raise DataError(f"{path}: expected one JSON array of objects: {error}") from None
            for place, value in enumerate(values, start=1):
                yield _record(path, place, value, expected)
            return
        for number, text in chain([(first, line)] if line else [], lines):
            try:
                value, what = json.loads(text), f", found {text.strip():.60}"
            except (ValueError, RecursionError) as error:
                value, what = None, f": {error}"
            record = _record(path, number, value, expected, what)
            problem = undecoded(path, number, text, encoding)
            yield record._replace(problem=problem) if problem else record


def _parquet_records(path: FilePath, wanted: Sequence[str]) -> Iterator[Found]:
    """Iterate over the column names of a file, then its rows, with only the `wanted` columns."""
    with needs_extra("data", "pyarrow"):
        import pyarrow as pa
        from pyarrow import parquet
    try:
        source = BytesIO(path.content()) if isinstance(path, FileContent) else file_path(path)
        with parquet.ParquetFile(source, buffer_size=_BUFFER, pre_buffer=False) as file:
            yield (names := list(file.schema_arrow.names))
            wanted, line = [name for name in wanted if name in names], 1
            for batch in file.iter_batches(_BATCH, columns=wanted):
                yield from batch_records(batch, wanted, line)
                line += batch.num_rows
            if line - 1 != (rows := file.metadata.num_rows):
                raise DataError(
                    f"{path}: expected {rows:,} rows, found {line - 1:,}: it is damaged"
                )
    except (OSError, UnicodeDecodeError, pa.ArrowException) as error:  # also in column names
        problem = why_unreadable(path, error) if isinstance(error, OSError) else error
        raise DataError(f"{path}: cannot be read as parquet: {problem}") from None


def batch_records(batch: Any, wanted: Sequence[str], line: int) -> Iterator[Record]:
    """Iterate over the rows of an Arrow record batch, with the `wanted` columns. `line` is the
    number of its first row. Needs pyarrow."""
    import pyarrow as pa

    columns = []
    for name in wanted:
        column = batch.column(name)
        kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        if pa.types.is_float32(kind):  # use the shortest digits: 2.3, not 2.299999952316284
            column = column.cast(pa.string()).cast(pa.float64())
        elif pa.types.is_binary(kind):
            column = column.cast(pa.string(), safe=False)
        try:
            columns.append(column.to_pylist())
        except (ValueError, OverflowError, pa.ArrowException):  # as a date beyond Python's range
            columns.append(map(_cell_value, column))
    for number, cells in enumerate(zip(*columns, strict=True), line):
        yield Record(number, dict(zip(wanted, cells, strict=True)))


def _cell_value(cell: Any) -> Any:
    """Convert a cell to a Python type: to bytes if it is not UTF-8, or if there is none for such a
    value, as for a date in the year 29349. The result, unlike the cell, can be printed."""
    try:
        return cell.as_py()
    except Exception:  # pyarrow and its time zones raise many types
        if hasattr(cell, "as_buffer"):
            return cell.as_buffer().to_pybytes()
    try:
        return str(cell.cast("string")).encode()
    except Exception:  # nested, such as a list of these dates
        return str(cell.type).encode()
