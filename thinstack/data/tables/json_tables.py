"""Reads tables of JSON objects: one a line, or all in one array."""

import json
from collections.abc import Iterator
from itertools import chain
from typing import Any, TextIO

from thinstack.data.files.paths import FilePath
from thinstack.data.tables.table_rows import Found, Record
from thinstack.data.tables.text_streams import opened_text, undecoded
from thinstack.errors import DataError, shown

__all__ = ["json_records"]


def json_records(path: FilePath, encoding: str) -> Iterator[Found]:
    """The columns and the rows of a file of JSON, whatever its name, as `Table.records` gives them.

    The file has an object a line, or is one array of objects, which is held in memory. The line of
    a row is then its place in the array, from 1. Raises DataError for a file that starts as an
    array and is none, and for one object over several lines.
    """
    first = True
    with opened_text(path, encoding) as stream:
        for record in _records(path, stream, encoding):
            if first and not record.problem:
                first = False
                yield list(record.cells)
            yield record


def _records(path: FilePath, stream: TextIO, encoding: str) -> Iterator[Record]:
    lines = ((number, line) for number, line in enumerate(stream, start=1) if line.strip())
    first = next(lines, None)
    if first is None:
        return
    number, line = first
    second = None
    if line.lstrip().startswith("["):
        whole = _is_line(line)
        second = next(lines, None) if whole else None
        if second is None:
            yield from _array(path, line + ("" if whole else stream.read()))
            return
    elif line.strip() == "{":
        raise DataError(
            f"{path}:{number}: expected an object a line, or one array of objects, found an object "
            "over several lines; write it without indents (in Python json.dumps without indent=)"
        )
    elif _is_whole(line):
        raise DataError(
            f"{path}:{number}: expected an object for each row, found one that holds only lists "
            "and other objects; write the rows as one array, or one a line (in pandas "
            "df.to_json(FILE, orient='records', lines=True))"
        )
    for number, text in chain([first], [second] if second else [], lines):
        record = _object(path, number, text)
        problem = undecoded(path, number, text, encoding)
        yield record._replace(problem=problem) if problem else record


def _is_line(text: str) -> bool:
    """Whether a text is JSON by itself."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _is_whole(text: str) -> bool:
    """Whether a line is an object that holds a whole table, such as {"data": [...]}: no value is
    the text of a row."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return (
        isinstance(value, dict)
        and all(isinstance(one, dict | list) and one for one in value.values())
        and bool(value)
    )


def _array(path: FilePath, text: str) -> Iterator[Record]:
    try:
        values: list[Any] = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: expected one JSON array of objects: {error}") from None
    for number, value in enumerate(values, start=1):
        yield _row(path, number, value, shown(value, 60))


def _object(path: FilePath, line: int, text: str) -> Record:
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        return Record(line, {}, DataError(f"{path}:{line}: expected a JSON object: {error}"))
    return _row(path, line, value, f"{text.strip():.60}")


def _row(path: FilePath, line: int, value: object, found: str) -> Record:
    if isinstance(value, dict):
        return Record(line, value)
    return Record(line, {}, DataError(f"{path}:{line}: expected a JSON object, found {found}"))
