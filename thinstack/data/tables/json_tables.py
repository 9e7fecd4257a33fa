"""Reads tables of JSON objects: one a line, or all in one array."""

import json
from collections.abc import Iterator
from itertools import chain
from typing import Any, TextIO

from thinstack.data.files.paths import FilePath
from thinstack.data.tables.table_rows import Found, Record, with_columns
from thinstack.data.tables.text_streams import opened_text, undecoded
from thinstack.errors import DataError, shown


def json_records(path: FilePath, encoding: str) -> Iterator[Found]:
    """The columns and the rows of a file of JSON, whatever its name, as `Table.records` gives them.

    The file has an object a line, or is one array of objects, which is held in memory. The line of
    a row is then its place in the array, from 1. Raises DataError for a file that starts as an
    array and is none, and for one object over several lines.
    """
    with opened_text(path, encoding) as stream:
        yield from with_columns(_records(path, stream, encoding))


def _records(path: FilePath, stream: TextIO, encoding: str) -> Iterator[Record]:
    lines = ((number, line) for number, line in enumerate(stream, start=1) if line.strip())
    if (first := next(lines, None)) is None:
        return
    number, line = first
    value = _parsed(line)
    ahead = [first]
    if line.lstrip().startswith("["):
        whole = not isinstance(value, Exception)
        second = next(lines, None) if whole else None
        if second is None:
            yield from _array(path, value if whole else _parsed(line + stream.read()))
            return
        ahead.append(second)
    elif line.strip() == "{":
        raise DataError(
            f"{path}:{number}: expected an object a line, or one array of objects, found an object "
            "over several lines; write it without indents (in Python json.dumps without indent=)"
        )
    elif isinstance(value, dict) and value and all(map(_is_inner, value.values())):
        raise DataError(
            f"{path}:{number}: expected an object for each row, found one that holds only lists "
            "and other objects; write the rows as one array, or one a line (in pandas "
            "df.to_json(FILE, orient='records', lines=True))"
        )
    for number, text in chain(ahead, lines):
        record = _row(path, number, _parsed(text), f"{text.strip():.60}")
        problem = undecoded(path, number, text, encoding)
        yield record._replace(problem=problem) if problem else record


def _parsed(text: str) -> Any:
    """The value of a text of JSON, or the error of one that is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        return error


def _is_inner(value: object) -> bool:
    """Whether a value is a list or an object, and not the text of a row."""
    return isinstance(value, dict | list) and bool(value)


def _array(path: FilePath, values: Any) -> Iterator[Record]:
    if isinstance(values, Exception):
        raise DataError(f"{path}: expected one JSON array of objects: {values}")
    for number, value in enumerate(values, start=1):
        yield _row(path, number, value, shown(value, 60))


def _row(path: FilePath, line: int, value: object, found: str) -> Record:
    if isinstance(value, dict):
        return Record(line, value)
    what = f": {value}" if isinstance(value, Exception) else f", found {found}"
    return Record(line, {}, DataError(f"{path}:{line}: expected a JSON object{what}"))
