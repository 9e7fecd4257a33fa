"""The text of a table cell, the marks for missing values, and the text of a CSV row."""

import csv
import math
import re
from collections.abc import Collection, Iterable, Sequence
from decimal import Decimal
from io import StringIO
from typing import Any, Final, NamedTuple

import numpy as np

from thinstack.errors import DataError, InputError, shown

_PANDAS = "#N/A|#N/A N/A|#NA|-1.#IND|-1.#QNAN|-NaN|-nan|1.#IND|1.#QNAN|<NA>|N/A|NA|NULL|NaN|None"
_PANDAS += "|n/a|nan|null"
_OTHERS = r"\N|NaT|NAN|Null|(null)|[null]|<null>|<NULL>|(blank)|undefined|N.A.|n.a.|#n/a"
_EXCEL = "#NULL!|#DIV/0!|#VALUE!|#REF!|#NAME?|#NUM!"
_MARKS: Final = frozenset("|".join((_PANDAS, _OTHERS, _EXCEL)).split("|"))
_NO_CLASS: Final = _MARKS | frozenset(("-", "--", "---", "?", "??", ".", "_", "na", "Na", "nil"))
_NO_TEXT = re.compile("[\0\ud800-\udfff]")
_WHOLE_FLOATS = 2**53  # floats above it are not exact counts, and their digits are noise


class Classes(NamedTuple):
    """The class column of a table.

    Attributes:
        column: the column name.
        names: valid classes that look like a mark for a missing value, such as "NA".
        advice: what to do about such a label; the end of the message.
    """

    column: str
    names: Collection[str] = ()
    advice: str = (
        "skip such rows with --skip-bad, or, if it is a class, list all classes (--labels "
        "A,B,C; in Python labels=)"
    )


def cell_text(value: object, classes: Classes | None = None) -> str:
    """Convert a cell to text. Text is unchanged. A number is formatted as a person writes it (3 and
    3.0 are "3"), a boolean as "true" or "false".

    In a column of `classes`, a list of one label is that label.

    Raises DataError, without the place, for a missing cell: None, NaN or blank text. Also for text
    that marks a missing value (`is_missing`), unless `classes` lists it as a name. Also for lists
    and other objects, and for text with a NUL character or that UTF-8 cannot encode.
    """
    if classes and isinstance(value, list):
        if len(value) > 1:
            raise DataError(f"found {len(value)} labels ({shown(value, 60)}), not one")
        value = value[0] if value else None
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float | Decimal):
        return _number(value)
    if not isinstance(value, str):
        kind = type(value).__name__
        error = MissingCellError if kind in _NOTHING else DataError
        raise error(f"found {_KINDS.get(type(value)) or f'a {kind}'}")
    if not value.strip():
        raise MissingCellError("found an empty cell")
    marks_nothing = is_missing(value) if classes is None else is_no_class(value)
    if marks_nothing and (classes is None or value not in classes.names):
        raise MissingCellError(f"found {value!r}, which means a missing value")
    if odd := _NO_TEXT.search(value):
        raise DataError(f"found the character {odd[0]!r}, which texts cannot contain")
    return value


def key_text(cell: object) -> str:
    """Return the `cell_text` of an id or a group, and `str` of other types, such as dates, UUIDs
    and bins."""
    read = str, int, float, Decimal, np.generic, bytes, list, dict, type(None)
    return cell_text(cell if isinstance(cell, read) else str(cell))


_KINDS = {type(None): "nothing", list: "a list", dict: "an object", bytes: "bytes"}
_NOTHING: Final = ("NoneType", "NAType", "NaTType")  # the last two are from pandas


class MissingCellError(DataError):
    """The cell is missing."""


def is_missing_cell(value: object) -> bool:
    """Return whether a cell is missing, as defined by `cell_text`."""
    try:
        cell_text(value)
    except DataError as error:
        return isinstance(error, MissingCellError)
    return False


def is_missing(text: str) -> bool:
    """Return whether a text is one of the marks of pandas, R, SQL, JavaScript and spreadsheets for
    a missing value, such as "NA", "None", "<NA>" or "#N/A". Case-sensitive, because many data sets
    have a class "none"."""
    return text.strip() in _MARKS


def is_no_class(label: str) -> bool:
    """Return whether a label `is_missing`, or is a sign that data sets use for a missing class,
    such as "-" or "?"."""
    return label.strip() in _NO_CLASS


def _number(value: float | Decimal) -> str:
    try:
        if isinstance(value, int):
            return str(value)
    except ValueError:  # more digits than Python converts
        raise DataError("found a number with thousands of digits") from None
    if value.is_nan() if isinstance(value, Decimal) else math.isnan(value):
        raise MissingCellError("found NaN")
    if not math.isfinite(value):
        raise DataError(f"found {value}")
    if value == int(value) and -_WHOLE_FLOATS < value < _WHOLE_FLOATS:
        return str(int(value))
    return format(value.normalize(), "f") if isinstance(value, Decimal) else repr(value)


def csv_line(cells: Iterable[Any]) -> str:
    """Format one row as pandas does, with quotes around cells that need them, for a stream that
    does not translate line feeds (`newline=""`). None and "" are empty cells. Text is unchanged,
    even if it begins with "=" like a formula."""
    # Before Python 3.13, `csv` quotes only cells that contain a character of the line terminator,
    # but a carriage return needs quotes too.
    row = StringIO(newline="")
    csv.writer(row, lineterminator="\r\n").writerow(cells)
    return row.getvalue().removesuffix("\r\n") + "\n"


def check_classes(option: str, labels: Iterable[str], columns: Sequence[str], instead: str) -> None:
    """Raise InputError for a class with the name of another of the `columns`, because each class
    gets a column of its name. `option` requests CSV; `instead` says what to do."""
    if twice := [label for label in labels if label in columns]:
        raise InputError(
            f"{option} adds a column per class, but the name {twice[0]!r} is already "
            f"taken: {instead}"
        )
