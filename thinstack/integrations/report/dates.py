"""Dates: parsing cells with the default formats or a user's format, and the periods to count by."""

import math
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import cache
from itertools import pairwise
from typing import Final, Literal, NamedTuple, Self

import numpy as np

from thinstack.errors import InputError, shown

_YEARS: Final = range(1900, 2101)  # others are typos, or placeholders for "no date"

MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September"),
    *("October", "November", "December"),
)

_NUMBERS: Final = ("unix", "excel")  # seconds since 1970 (or milliseconds and finer), Excel's days

CANDIDATES: Final = (
    *("excel", "unix", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d-%m-%Y", "%m-%d-%Y", "%d/%m/%y"),
    *("%m/%d/%y", "%d.%m.%y", "%d-%m-%y", "%y-%m-%d", "%d %m %Y", "%m %d, %Y", "%d-%b-%Y"),
    *("%d-%b-%y", "%d %b %y", "%b-%y", "%b-%Y", "%m/%Y", "%m.%Y", "%m-%Y", "%G-W%V", "%Y-%d-%m"),
    *("%a %d %b %Y", "%a, %d %b %Y", "%A, %d %B %Y", "%A, %B %d, %Y", "%a %b %d %Y"),
    *("%a %b %d %H:%M:%S %Y", "%a %b %d %H:%M:%S %z %Y", "%H:%M %d/%m/%Y", "%H:%M %m/%d/%Y"),
)
"""Formats that an error message may suggest, the most frequent first."""

_SAMPLE: Final = datetime(2024, 3, 9, 14, 5, tzinfo=UTC)
_NUMBER: Final = re.compile(r"-?\d{1,20}(?:\.\d*)?", re.ASCII)
_TIME: Final = re.compile(r"(?:t|[ ,]+)\d\d?:\d\d.*", re.ASCII | re.IGNORECASE)
_FIRST_DAYS: Final = {"W": (" %w", " 1"), "U": (" %w", " 0"), "V": (" %u", " 1")}  # of weeks
_DEFAULT: Final = tuple(
    re.compile(pattern, re.ASCII)
    for pattern in (
        r"(?P<year>\d{4})(?:(?P<month>\d\d)(?:(?P<day>\d\d)(?:[t ].*)?)?)?(?:\.0*)?",
        r"(?P<year>\d{4})([-/]|\.(?!\d$))(?P<month>\d\d?)(?:\2(?P<day>\d\d?)(?:[t ].*)?)?",
        r"(?P<day>\d\d?)(?:st|nd|rd|th)? (?P<month>[a-z]+)\.?,? (?P<year>\d{4})",
        r"(?P<month>[a-z]+)\.?(?: (?P<day>\d\d?)(?:st|nd|rd|th)?)?,? (?P<year>\d{4})",
    )
)
_LONGEST: Final = 64  # maximum length of a date in characters


def date_of(cell: object, format: str | None = None) -> date | None:
    """Parse the date in a cell; return None unless it is a date within `_YEARS`.

    A cell may be a date, a time or a period, or a text such as `2024-03-09`, `20240309`, `2024-03`,
    `2024`, `9 March 2024` or `Mar 9, 2024`, optionally followed by a time. A missing day or month
    defaults to the first. `format`: the only format for texts and numbers (`check_format`).
    """
    cell = getattr(cell, "start_time", cell)  # a pandas period
    if isinstance(cell, np.generic):
        cell = cell.astype("M8[D]").item() if isinstance(cell, np.datetime64) else cell.item()
    if isinstance(cell, date):  # pandas dates may have years that Python does not support
        return date(cell.year, cell.month, cell.day) if cell.year in _YEARS else None
    text = cell_of_date(cell)
    if not text or len(text) > _LONGEST:
        return None
    try:
        day = _by_format(text, format) if format else _by_default(text.lower())
    except (ValueError, OverflowError):
        return None
    return day if day and day.year in _YEARS else None


def cell_of_date(cell: object) -> str:
    """Convert a text or a number to the form that `date_of` parses; "" for other types."""
    if isinstance(cell, float) and cell.is_integer():  # pandas, if one is missing
        cell = int(cell)
    try:
        return str(cell).strip() if isinstance(cell, str | int | float | Decimal) else ""
    except ValueError:  # more digits than Python prints
        return ""


def fitting_formats(cells: Sequence[str], tried: str | None) -> list[str | None]:
    """Return up to two formats that fit most of the cells; None is the default. Numbers are
    `_NUMBERS`, unless a format fits all cells. `tried`: the format that fits none."""
    fitting = dict[str | None, int]()
    for form in (form for form in (None, *CANDIDATES) if form != tried):
        days = filter(None, (date_of(cell, form) for cell in cells))
        # Numbers that would be in the first months of 1970 are not seconds.
        fitting[form] = sum(form != "unix" or day.year > 1970 for day in days)
    most = max(fitting.values())
    if most < len(cells) and _NUMBER.fullmatch(cells[0]):
        return [*_NUMBERS]
    formats = [form for form, count in fitting.items() if count == most > 0]
    return formats[:1] if None in formats else formats[:2]


def _by_default(text: str) -> date | None:
    for pattern in _DEFAULT:
        by_name = "[a-z]" in pattern.pattern
        if match := pattern.fullmatch(_TIME.sub("", text) if by_name else text):
            year, month, day = match["year"], match["month"] or "1", match["day"] or "1"
            if not month.isdecimal():  # the name, or its first three or more letters
                numbers = [n for n, name in enumerate(MONTHS, 1) if name.lower().startswith(month)]
                if len(month) < 3 or len(numbers) != 1:
                    raise ValueError(month)
                (month,) = numbers
            return date(int(year), int(month), int(day))
    return None


@cache
def _completed(format: str) -> tuple[str, str, frozenset[str]]:
    """Return the format, the text to append to each cell, and the letters of its directives.
    `strptime` ignores a week number without a weekday."""
    parts = frozenset(re.findall("%(.)", format.replace("%%", "")))
    week = next((part for part in _FIRST_DAYS if part in parts), None)
    more = _FIRST_DAYS[week] if week and not parts & {*"aAwudj"} else ("", "")
    return format + more[0], more[1], parts


def check_format(format: object) -> None:
    """Raise InputError for an invalid date format."""
    if format is None or format in _NUMBERS:
        return
    problem = "has no year"
    if isinstance(format, str) and (completed := _completed(format))[2] & {*"YyGcx"}:
        try:
            datetime.strptime(_SAMPLE.strftime(completed[0]), completed[0])
            return
        except (ValueError, re.error) as error:
            problem = f"cannot be read ({error})"
    raise InputError(
        f"--dates (in Python dates=): the format {shown(format, 60)} {problem}. Write it as "
        "for Python's strptime, such as %d/%m/%Y, or use unix or excel for numbers"
    )


def _by_format(text: str, format: str) -> date | None:
    """Parse a text with this format. A date may be followed by a time. Raises ValueError or
    OverflowError if it does not match."""
    if format in _NUMBERS:
        number = float(text) if _NUMBER.fullmatch(text) else math.nan  # never a valid date
        if format == "excel":
            return date(1899, 12, 30) + timedelta(days=int(number))
        while abs(number) >= 1e11:  # as seconds, in the year 5138
            number /= 1000
        return date(1970, 1, 1) + timedelta(seconds=number)
    completed, behind, parts = _completed(format)
    text = text if parts & {*"HIXc"} else _TIME.sub("", text)
    return datetime.strptime(text + behind, completed).date()


Unit = Literal["day", "week", "month", "year"]

MOST_PERIODS: Final = 36
"""Maximum number of periods, unless the unit is a year."""

_AT_ENDS: Final = 0.05  # the share of texts at either end that may be outliers
_FEWEST: Final = 20  # the minimum number of texts for dropping outliers
_MARKS: Final = frozenset(
    (
        *(date(1900, 1, 1), date(1969, 12, 31), date(1970, 1, 1)),
        *(date(1980, 1, 1), date(2099, 12, 31), date(2100, 1, 1), date(2100, 12, 31)),
    )
)
"""Placeholders that programs write for "no date" and that are within `_YEARS`."""


def period_of(day: date, unit: Unit) -> date:
    """Return the first day of the period that contains a day. Weeks begin on Monday."""
    if unit == "week":
        return day - timedelta(days=day.weekday())
    if unit == "month":
        return day.replace(day=1)
    return day.replace(month=1, day=1) if unit == "year" else day


def period_name(start: date, unit: Unit) -> str:
    """Format a period for display: "2024", "Mar 2024", or its first day, "9 Mar 2024"."""
    month = f"{MONTHS[start.month - 1][:3]} {start.year}"
    return {"year": f"{start.year}", "month": month}.get(unit, f"{start.day} {month}")


class Calendar(NamedTuple):
    """The periods by which the texts of a table are counted.

    Attributes:
        unit: the shortest unit that gives at most `MOST_PERIODS` periods.
        first, last: the first and the last day that is counted.
    """

    unit: Unit
    first: date
    last: date

    @classmethod
    def of(cls, days: Mapping[date, int]) -> Self | None:
        """Choose a calendar for the number of texts per day; None without any texts.

        Outliers are left out: days behind a gap that is wider than the range of the middle 90% of
        the texts, and isolated `_MARKS`. If every day is the first of a year or a month, as when
        only years or months were recorded, no shorter unit is chosen.
        """
        if not days:
            return None
        order = sorted(days)
        if others := [day for day in order if day not in _MARKS]:
            # Drop marks that are farther from the other days than these are from each other.
            gaps = (after - day for day, after in pairwise(others))
            reach = max([timedelta(days=366), *gaps])
            order = [day for day in order if others[0] - reach <= day <= others[-1] + reach]
        # The days around the median text, up to the first wide gap on either side.
        ordinals = np.array([day.toordinal() for day in order])
        texts = np.cumsum([days[day] for day in order])
        skipped = max(int(_AT_ENDS * texts[-1]), 1) if texts[-1] >= _FEWEST else 0
        low = np.searchsorted(texts, skipped, side="right")
        high = np.searchsorted(texts, texts[-1] - skipped)
        wide = np.flatnonzero(np.diff(ordinals) > max(ordinals[high] - ordinals[low], 31))
        first, last = wide[wide < low][-1:] + 1, wide[wide >= high][:1] + 1
        near = order[sum(first) : sum(last) or None]
        units: list[Unit] = ["day", "week", "month", "year"]
        if len(near) > 1 and all(day.day == 1 for day in near):
            units = ["year"] if all(day.month == 1 for day in near) else ["month", "year"]
        calendars = [cls(unit, near[0], near[-1]) for unit in units]
        fits = (one for one in calendars if len(one.periods()) <= MOST_PERIODS)
        return next(fits, calendars[-1])

    def period(self, day: date) -> date | None:
        """Return the first day of the period that contains a day, or None for an excluded day."""
        return period_of(day, self.unit) if self.first <= day <= self.last else None

    def periods(self) -> list[date]:
        """List the first days of all periods, in order."""
        days = range((self.last - self.first).days + 1)
        return sorted({period_of(self.first + timedelta(days=n), self.unit) for n in days})
