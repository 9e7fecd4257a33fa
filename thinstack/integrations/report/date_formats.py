"""How dates are written, as a user says: a format of `strptime`, or what numbers count."""

import re
from datetime import UTC, date, datetime, timedelta
from functools import cache
from typing import Final

from thinstack.errors import InputError, shown

NUMBERS: Final = ("unix", "excel")
"""Seconds since 1970, or milliseconds and less; the days of Excel."""

CANDIDATES: Final = (
    *("excel", "unix", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d-%m-%Y", "%m-%d-%Y", "%d/%m/%y"),
    *("%m/%d/%y", "%d.%m.%y", "%d-%m-%y", "%y-%m-%d", "%d %m %Y", "%m %d, %Y", "%d-%b-%Y"),
    *("%d-%b-%y", "%d %b %y", "%b-%y", "%b-%Y", "%m/%Y", "%m.%Y", "%m-%Y", "%G-W%V", "%Y-%d-%m"),
    *("%a %d %b %Y", "%a, %d %b %Y", "%A, %d %B %Y", "%A, %B %d, %Y", "%a %b %d %Y"),
    *("%a %b %d %H:%M:%S %Y", "%a %b %d %H:%M:%S %z %Y", "%H:%M %d/%m/%Y", "%H:%M %m/%d/%Y"),
)
"""Formats that a message may name, the most frequent first."""

_SAMPLE: Final = datetime(2024, 3, 9, 14, 5, tzinfo=UTC)
_NUMBER: Final = re.compile(r"-?\d{1,20}(?:\.\d*)?", re.ASCII)
_TIME: Final = re.compile(r"(?:t|[ ,]+)\d\d?:\d\d.*", re.ASCII | re.IGNORECASE)
_FIRST_DAYS: Final = {"W": (" %w", " 1"), "U": (" %w", " 0"), "V": (" %u", " 1")}  # of weeks


@cache
def _completed(format: str) -> tuple[str, str, frozenset[str]]:
    """The format, what is put behind each text, and the letters of its parts. Without a day of the
    week, `strptime` would read a week as none."""
    parts = frozenset(re.findall("%(.)", format.replace("%%", "")))
    week = next((part for part in _FIRST_DAYS if part in parts), None)
    more = _FIRST_DAYS[week] if week and not parts & {*"aAwudj"} else ("", "")
    return format + more[0], more[1], parts


def check_format(format: object) -> None:
    """Raise InputError for what does not say how dates are written."""
    if format is None or format in NUMBERS:
        return
    problem = "has no year"
    if isinstance(format, str) and (known := _completed(format))[2] & {*"YyGcx"}:
        try:
            datetime.strptime(_SAMPLE.strftime(known[0]), known[0])
            return
        except (ValueError, re.error) as error:
            problem = f"cannot be read ({error})"
    raise InputError(
        f"--dates (in Python dates=): the format {shown(format, 60)} {problem}. Write it as "
        "Python's strptime takes it, such as %d/%m/%Y, or say unix or excel for numbers"
    )


def read_date(text: str, format: str) -> date | None:
    """The date of a text in this format, or None. A time may stand behind a date."""
    try:
        if format in NUMBERS:
            return _of_number(float(text), format) if is_number(text) else None
        completed, behind, parts = _completed(format)
        text = text if parts & {*"HIXc"} else without_time(text)
        return datetime.strptime(text + behind, completed).date()
    except (ValueError, OverflowError):
        return None


def without_time(text: str) -> str:
    """A date without the time behind it."""
    return _TIME.sub("", text)


def is_number(text: str) -> bool:
    """Whether a cell may count days or seconds."""
    return _NUMBER.fullmatch(text) is not None


def _of_number(number: float, format: str) -> date:
    if format == "excel":
        return date(1899, 12, 30) + timedelta(days=int(number))
    while abs(number) >= 1e11:  # of seconds, in 5138
        number /= 1000
    return date(1970, 1, 1) + timedelta(seconds=number)
