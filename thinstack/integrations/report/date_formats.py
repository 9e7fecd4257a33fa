"""How dates are written, as a user says: a format of `strptime`, or what numbers count."""

import re
from datetime import UTC, date, datetime, timedelta
from functools import cache
from typing import Final, NamedTuple

from thinstack.errors import InputError, shown

NUMBERS: Final = ("unix", "excel")
"""Numbers: seconds since 1970, or a thousandth of them and less; days of Excel."""

CANDIDATES: Final = (
    *("excel", "unix", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%m.%d.%Y", "%d-%m-%Y", "%m-%d-%Y"),
    *("%d/%m/%y", "%m/%d/%y", "%d.%m.%y", "%m.%d.%y", "%d-%m-%y", "%m-%d-%y", "%d %m %Y"),
    *("%d-%b-%Y", "%d-%b-%y", "%d %b %y", "%d/%b/%Y", "%d%b%Y", "%b-%y", "%b-%Y", "%b %y"),
    *("%m/%Y", "%m.%Y", "%m-%Y", "%m/%y", "%m %d, %Y", "%Y %m %d", "%Y_%m_%d", "%Y-%d-%m"),
    *("%Y/%d/%m", "%G-W%V", "%Y-W%W", "%GW%V", "%Y-%j", "%y%m%d", "%d%m%Y", "%m%d%Y", "%y-%m-%d"),
    *("%Y%m%d%H%M%S", "%Y%m%d%H%M", "%a %d %b %Y", "%a, %d %b %Y", "%a, %b %d, %Y"),
    *("%A, %d %B %Y", "%A, %B %d, %Y", "%A %d %B %Y", "%a %b %d %Y", "%a %b %d %H:%M:%S %Y"),
    *("%a %b %d %H:%M:%S %z %Y", "%a %b %d %H:%M:%S %Z %Y", "%H:%M %d/%m/%Y", "%H:%M %m/%d/%Y"),
)
"""Formats that a message may name, the most frequent first."""

_SAMPLE: Final = datetime(2024, 3, 9, 14, 5, tzinfo=UTC)
_NUMBER: Final = re.compile(r"\d{1,20}(?:\.\d*)?", re.ASCII)
_TIME: Final = re.compile(r"(?:t|[ ,]+)\d\d?:\d\d.*", re.ASCII | re.IGNORECASE)
_SECONDS: Final = 1e11  # numbers above it are of milliseconds, or of still less
_FIRST_DAYS: Final = {"W": (" %w", " 1"), "U": (" %w", " 0"), "V": (" %u", " 1")}


class _Format(NamedTuple):
    """A format, what stands behind each text for it, and whether it has a time and a year."""

    format: str
    behind: str
    timed: bool
    dated: bool


@cache
def _format(format: str) -> _Format:
    """The format; to one of weeks without a day of the week, which `strptime` would read without
    the week, comes their first day."""
    parts = {*re.findall("%(.)", format.replace("%%", ""))}
    behind = ("", "")
    if not parts & {*"aAwudj"}:
        behind = next((day for week, day in _FIRST_DAYS.items() if week in parts), behind)
    return _Format(format + behind[0], behind[1], bool(parts & {*"HIXc"}), bool(parts & {*"YyGcx"}))


def check_format(format: object) -> None:
    """Raise InputError for what says of no date how it is written."""
    if format is None or format in NUMBERS:
        return
    problem = "has no year"
    if isinstance(format, str) and (known := _format(format)).dated:
        try:
            datetime.strptime(_SAMPLE.strftime(known.format), known.format)
        except (ValueError, re.error) as error:
            problem = f"cannot be read ({error})"
        else:
            return
    raise InputError(
        f"--dates (in Python dates=): the format {shown(format, 60)} {problem}. Write it as "
        "Python's strptime takes it, such as %d/%m/%Y, or say unix or excel for numbers"
    )


def read_date(text: str, format: str) -> date | None:
    """The date of a text in this format, or None. A time may stand behind a date."""
    try:
        if format in NUMBERS:
            return _of_number(text, format)
        known = _format(format)
        text = text if known.timed else without_time(text)
        return datetime.strptime(text + known.behind, known.format).date()
    except (ValueError, OverflowError):
        return None


def without_time(text: str) -> str:
    """A date without the time behind it."""
    return _TIME.sub("", text)


def is_cut_up(text: str, format: str) -> bool:
    """Whether a number has fewer digits than are written in a format, as 80331 in %y%m%d."""
    digits = is_number(text) and format not in NUMBERS
    return digits and len(text) != len(_SAMPLE.strftime(format))


def is_number(text: str) -> bool:
    """Whether a cell may count days or seconds."""
    return _NUMBER.fullmatch(text) is not None


def _of_number(text: str, format: str) -> date | None:
    if not is_number(text):
        return None
    number = float(text)
    if format == "excel":
        return date(1899, 12, 30) + timedelta(days=int(number))
    while number >= _SECONDS:
        number /= 1000
    return date(1970, 1, 1) + timedelta(seconds=number)
