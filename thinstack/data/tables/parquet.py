"""Reads the records of Arrow batches, and of a parquet file some rows at a time."""

import io
from collections.abc import Iterator, Sequence
from typing import Any

from thinstack.data.files.paths import FileContent, FilePath, file_path, why_unreadable
from thinstack.data.tables.table_rows import Found, Record
from thinstack.errors import DataError, needs_extra

_ROWS = 1024
_BUFFER = 1 << 20
"""Bytes read at a time; by default pyarrow reads the columns of a whole row group at once."""


def parquet_records(path: FilePath, wanted: Sequence[str]) -> Iterator[Found]:
    """The names of a file's columns, then its rows, which hold only the `wanted` columns."""
    with needs_extra("data", "pyarrow"):
        import pyarrow as pa
        from pyarrow import parquet
    try:
        content = path.content() if isinstance(path, FileContent) else None
        source = file_path(path) if content is None else io.BytesIO(content)
        with parquet.ParquetFile(source, buffer_size=_BUFFER, pre_buffer=False) as file:
            yield list(file.schema_arrow.names)
            line = 1
            for batch in file.iter_batches(_ROWS, columns=list(wanted)):
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

    columns = [_values(pa, batch.column(name)) for name in wanted]
    for number, cells in enumerate(zip(*columns, strict=True), line):
        yield Record(number, dict(zip(wanted, cells, strict=True)))


def _values(pa: Any, column: Any) -> list[Any]:
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if pa.types.is_float32(kind):  # by its shortest digits: 2.3, not 2.299999952316284
        column = column.cast(pa.string()).cast(pa.float64())
    elif pa.types.is_binary(kind):
        column = column.cast(pa.string(), safe=False)
    try:
        return list(column.to_pylist())
    except (ValueError, OverflowError, pa.ArrowException):  # a date, say, that Python has not
        return list(map(_value, column))


def _value(cell: Any) -> Any:
    """A cell in Python's types; as it is where they have no such value or it is not UTF-8."""
    try:
        return cell.as_py()
    except Exception:
        return cell
