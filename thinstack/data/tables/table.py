"""A table of texts: CSV, tab-separated, JSON or parquet; and rows in memory, which are read as its
rows are."""

import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, starmap
from typing import Any, Unpack

from thinstack.data.files.paths import FileContent, FilePath, file_path, why_unreadable
from thinstack.data.tables.separated import separated_records
from thinstack.data.tables.table_kinds import table_kind
from thinstack.data.tables.table_rows import (
    Found,
    Record,
    RowChecks,
    TableRow,
    checked_rows,
    with_columns,
)
from thinstack.data.tables.text_streams import opened_text, undecoded
from thinstack.errors import DataError, needs_extra, shown

_BATCH = 1024
"""Rows of parquet that are read at a time."""
_BUFFER = 1 << 20
"""Bytes read at a time; by default pyarrow reads the columns of a whole row group at once."""


class Table:
    """A table in a file. Nothing is opened before something is asked for.

    The rows of a path stream; only a file that is one JSON array is held in memory. `FileContent`
    in place of a path is read once, however often the table is gone through.

    `encoding`: of text; parquet is always UTF-8. `separator`: the character between cells; by
    default it is found (`find_dialect`). `header`: False for a table whose columns are named "1",
    "2" and so on; by default there is a header.

    Whatever reads the file raises DataError if it is missing, damaged or no table, and for a
    `separator` or `header` of a table that has none; MissingExtraError for parquet without pyarrow.
    """

    def __init__(
        self,
        path: FilePath,
        *,
        encoding: str = "utf-8",
        separator: str | None = None,
        header: bool | None = None,
    ):
        self.path, self.encoding = path, encoding
        self.separator, self.header = separator, header

    @property
    def kind(self) -> str:
        """As `table_kind` gives it."""
        named = self.separator is not None or self.header is not None
        return table_kind(self.path, separated=named)

    @cached_property
    def columns(self) -> list[str]:
        """The names of the columns. In JSON they are the keys of the first objects; a line before
        these that is no object raises DataError."""
        for item in self.records(()):
            if isinstance(item, list):
                return item
            if item.problem:
                raise item.problem
        raise DataError(f"{self.path}: expected a table with rows, found nothing")

    def records(self, wanted: Sequence[str]) -> Iterator[Found]:
        """The columns and the rows, whose cells are not checked. From parquet only the `wanted`
        columns are read."""
        if (kind := self.kind) == ".parquet":
            return _parquet_records(self.path, wanted)
        if kind in (".json", ".jsonl"):
            return with_columns(_json_rows(self.path, self.encoding), wanted)
        return separated_records(
            self.path, self.encoding, separator=self.separator, header=self.header
        )

    def rows(self, columns: Sequence[str], **checks: Unpack[RowChecks]) -> Iterator[TableRow]:
        """The rows, one after the other, with the texts of `columns`, as `checked_rows` gives them.

        CSV is as in RFC 4180, except that one column needs no quotes. Tab-separated text is the
        same, but a quote mark that does not fit is text, which warns (UserWarning). JSON has one
        object a line, or one array of objects. A file may be compressed (`opened_bytes`). A byte
        order mark and blank lines are ignored. Cells become text as `cell_text` says; in CSV 3.0
        stays "3.0".

        A row is also bad if it has too few or too many cells, or bytes that are not in `encoding`.
        So is one with a quote that is not doubled, is never closed or takes other rows along, and a
        line of JSON that is no object. The DataErrors of bad rows start with file and line.
        """
        return checked_rows(str(self.path), self.records(columns), columns, **checks)


def read_mappings(
    rows: Iterable[object],
    columns: Sequence[str],
    *,
    source: str = "rows",
    **checks: Unpack[RowChecks],
) -> Iterator[TableRow]:
    """The rows of a table in memory, as `Table.rows` gives the rows of a file.

    `rows`: mappings of columns to cells, numbered from 1. The columns of the table are the keys of
    the first row. `source` leads every message. Raises what `checked_rows` raises.
    """

    def record(line: int, row: object) -> Record:
        if isinstance(row, Mapping):
            return Record(line, row)
        expected = "expected a mapping of columns (of a pandas table df.to_dict('records'))"
        return Record(line, {}, DataError(f"{source}:{line}: {expected}, found {shown(row, 60)}"))

    records = starmap(record, enumerate(rows, start=1))
    return checked_rows(source, with_columns(records, columns), columns, **checks)


def _json_rows(path: FilePath, encoding: str) -> Iterator[Record]:
    """The rows of a file of JSON, whatever its name: an object a line, or one array of objects,
    which is held in memory. The line of a row is then its place in the array, from 1."""

    def row(line: int, value: object, what: str) -> Record:
        if isinstance(value, dict):
            return Record(line, value)
        expected = "expected a JSON object (one a line, or all in one array)"
        return Record(line, {}, DataError(f"{path}:{line}: {expected}{what}"))

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
                yield row(place, value, f", found {shown(value, 60)}")
            return
        for number, text in chain([(first, line)] if line else [], lines):
            try:
                record = row(number, json.loads(text), f", found {text.strip():.60}")
            except (ValueError, RecursionError) as error:
                record = row(number, None, f": {error}")
            problem = undecoded(path, number, text, encoding)
            yield record._replace(problem=problem) if problem else record


def _parquet_records(path: FilePath, wanted: Sequence[str]) -> Iterator[Found]:
    """The names of a file's columns, then its rows, which hold only the `wanted` ones of these."""
    with needs_extra("data", "pyarrow"):
        import pyarrow as pa
        from pyarrow import parquet
    try:
        content = path.content() if isinstance(path, FileContent) else None
        source = file_path(path) if content is None else io.BytesIO(content)
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
    except (OSError, UnicodeDecodeError, pa.ArrowException) as error:  # also in names of columns
        problem = getattr(error, "strerror", None) or error
        if isinstance(error, FileNotFoundError):
            problem = why_unreadable(path, error)
        raise DataError(f"{path}: cannot be read as parquet: {problem}") from None


def batch_records(batch: Any, wanted: Sequence[str], line: int) -> Iterator[Record]:
    """The rows of an Arrow record batch, with the `wanted` columns. `line` is the number of its
    first row. Needs pyarrow."""
    import pyarrow as pa

    columns = [_column_values(pa, batch.column(name)) for name in wanted]
    for number, cells in enumerate(zip(*columns, strict=True), line):
        yield Record(number, dict(zip(wanted, cells, strict=True)))


def _column_values(pa: Any, column: Any) -> list[Any]:
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if pa.types.is_float32(kind):  # by its shortest digits: 2.3, not 2.299999952316284
        column = column.cast(pa.string()).cast(pa.float64())
    elif pa.types.is_binary(kind):
        column = column.cast(pa.string(), safe=False)
    try:
        return list(column.to_pylist())
    except (ValueError, OverflowError, pa.ArrowException):  # a date, say, that Python has not
        return list(map(_cell_value, column))


def _cell_value(cell: Any) -> Any:
    """A cell in Python's types; as it is where they have no such value or it is not UTF-8."""
    try:
        return cell.as_py()
    except Exception:
        return cell
