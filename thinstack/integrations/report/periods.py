"""Dates and periods of time: how cells are read as dates, and which periods suit their range."""

import re
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Final, Literal, NamedTuple, Self

import numpy as np

from thinstack.integrations.report.date_formats import (
    CANDIDATES,
    NUMBERS,
    is_number,
    read_date,
    without_time,
)

Unit = Literal["day", "week", "month", "year"]

YEARS: Final = range(1900, 2101)
"""Years that a date may lie in. Others are slips, or stand for "no date", as 0001 and 9999 do."""

MOST_PERIODS: Final = 36
"""Periods that a range is cut into, unless they are years."""

_DAYS: Final[dict[Unit, float]] = {"day": 1, "week": 7, "month": 30.44, "year": 365.25}
_AT_ENDS: Final = 0.05  # the share of dates at either end that do not say what the range is
_FEWEST: Final = 20  # dates whose ends are looked at so
_MARKS: Final = frozenset(
    (
        *(date(1900, 1, 1), date(1969, 12, 31), date(1970, 1, 1)),
        *(date(1980, 1, 1), date(2099, 12, 31), date(2100, 1, 1), date(2100, 12, 31)),
    )
)
"""What programs write for "no date", within `YEARS`."""

_DIGITS: Final = re.compile(r"(\d{4})(?:(\d\d)(?:(\d\d)(?:[t ].*)?)?)?(?:\.0*)?", re.ASCII)
_NUMBERS: Final = re.compile(r"(\d{4})([-/.])(\d\d?)(?:\2(\d\d?)(?:[t ].*)?)?", re.ASCII)
_DAY_FIRST: Final = re.compile(r"(\d\d?)(?:st|nd|rd|th)? ([a-z]+)\.?,? (\d{4})", re.ASCII)
_MONTH_FIRST: Final = re.compile(r"([a-z]+)\.?(?: (\d\d?)(?:st|nd|rd|th)?)?,? (\d{4})", re.ASCII)
_MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September"),
    *("October", "November", "December"),
)
_LONGEST: Final = 64  # characters of a date


def date_of(cell: object, format: str | None = None) -> date | None:
    """The date in a cell, or None if it holds none of `YEARS`.

    It may be a date, a time or a period, or a text such as `2024-03-09`, `20240309`, `2024-03`,
    `2024`, `9 March 2024` or `Mar 9, 2024`. A time may stand behind it. Days are the first where
    they are not told. `format`: the only way to read texts and numbers (`check_format`).
    """
    cell = getattr(cell, "start_time", cell)  # of a period of pandas
    if isinstance(cell, np.generic):
        cell = cell.astype("M8[D]").item() if isinstance(cell, np.datetime64) else cell.item()
    if isinstance(cell, date):  # those of pandas may have years that Python has not
        return date(cell.year, cell.month, cell.day) if cell.year in YEARS else None
    text = cell_of_date(cell)
    if not text or len(text) > _LONGEST:
        return None
    try:
        day = read_date(text, format) if format else _plain(text.lower())
    except ValueError:
        return None
    return day if day and day.year in YEARS else None


def cell_of_date(cell: object) -> str:
    """A text or a number as `date_of` reads it, "" for others."""
    if isinstance(cell, float) and cell.is_integer():  # as pandas has them beside a missing one
        cell = int(cell)
    try:
        return str(cell).strip() if isinstance(cell, str | int | float | Decimal) else ""
    except ValueError:  # more digits than Python prints
        return ""


def fitting_formats(cells: Sequence[str], tried: str | None) -> list[str | None]:
    """The formats, two at most, that fit all of some cells, or else the first. None is the default.
    `tried`: the format that fits none."""
    for some in (cells, cells[:1]):
        formats = [form for form in (None, *CANDIDATES) if form != tried and _fits(some, form)]
        if formats:
            return formats[:1] if formats[0] is None else formats[:2]
    return [*NUMBERS] if is_number(cells[0]) else []


def _fits(cells: Sequence[str], format: str | None) -> bool:
    """Whether a format fits. Numbers that would be of the first months of 1970 are no seconds."""
    days = [date_of(cell, format) for cell in cells]
    return all(day and (format != "unix" or day.year > 1970) for day in days)


def _plain(text: str) -> date | None:
    if found := _DIGITS.fullmatch(text):
        return date(int(found[1]), int(found[2] or 1), int(found[3] or 1))
    if found := _NUMBERS.fullmatch(text):
        return date(int(found[1]), int(found[3]), int(found[4] or 1))
    text = without_time(text)
    if found := _DAY_FIRST.fullmatch(text):
        return date(int(found[3]), _month(found[2]), int(found[1]))
    if found := _MONTH_FIRST.fullmatch(text):
        return date(int(found[3]), _month(found[1]), int(found[2] or 1))
    return None


def _month(name: str) -> int:
    """The number of a month, by its name or the first three letters of it or more."""
    fits = [n for n, known in enumerate(_MONTHS, 1) if known.lower().startswith(name)]
    if len(name) < 3 or len(fits) != 1:
        raise ValueError(name)
    return fits[0]


def period_of(day: date, unit: Unit) -> date:
    """The first day of the period that a day lies in; a week begins on Monday."""
    if unit == "week":
        return day - timedelta(days=day.weekday())
    if unit == "month":
        return day.replace(day=1)
    return day.replace(month=1, day=1) if unit == "year" else day


def period_name(start: date, unit: Unit) -> str:
    """A period as it is shown: "2024", "Mar 2024", or the day that it begins, "9 Mar 2024"."""
    month = f"{_MONTHS[start.month - 1][:3]} {start.year}"
    return {"year": f"{start.year}", "month": month}.get(unit, f"{start.day} {month}")


class Calendar(NamedTuple):
    """The periods that the texts of a table are counted by.

    Attributes:
        unit: how long they are: the shortest unit of which there are at most `MOST_PERIODS`.
        first, last: the first and the last day that is counted.
    """

    unit: Unit
    first: date
    last: date

    @classmethod
    def of(cls, days: Mapping[date, int]) -> Self | None:
        """The calendar for so many texts of each day; None without any.

        Days that lie far from nearly all others are left out: behind a gap that is wider than the
        middle 90% of the texts. So are `_MARKS` that no other day is near. Where all days are the
        first of a year or a month, as where only these are written, no unit is shorter.
        """
        if not days:
            return None
        near = _near(_unmarked(sorted(days)), days)
        length = (near[-1] - near[0]).days + 1
        units = [*_DAYS]
        if len(near) > 1 and all(day.day == 1 for day in near):
            units = ["year"] if all(day.month == 1 for day in near) else ["month", "year"]
        fits = [unit for unit in units if length <= MOST_PERIODS * _DAYS[unit]]
        return cls(fits[0] if fits else "year", near[0], near[-1])

    def period(self, day: date) -> date | None:
        """The first day of the period that a day lies in, or None for one that is left out."""
        return period_of(day, self.unit) if self.first <= day <= self.last else None

    def periods(self) -> list[date]:
        """The first days of all periods, in order."""
        found, day = list[date](), period_of(self.first, self.unit)
        while day <= self.last:
            found.append(day)
            behind = {"day": 1, "week": 7, "month": 32, "year": 367}[self.unit]
            day = period_of(day + timedelta(days=behind), self.unit)
        return found


def _unmarked(order: list[date]) -> list[date]:
    """The days without `_MARKS` that are farther from the others than these are from each other."""
    others = [day for day in order if day not in _MARKS]
    if not others:
        return order
    reach = max([timedelta(days=366), *(after - day for day, after in pairwise(others))])
    return [day for day in order if others[0] - reach <= day <= others[-1] + reach]


def _near(order: list[date], days: Mapping[date, int]) -> list[date]:
    """The days around the middle of the texts, up to the first wide gap at either side."""
    total = sum(days[day] for day in order)
    skipped = max(int(_AT_ENDS * total), 1) if total >= _FEWEST else 0
    low, high = _behind(order, days, skipped), _behind(order[::-1], days, skipped)
    first, last, room = order.index(low), order.index(high), max(high - low, timedelta(days=31))
    while first and order[first] - order[first - 1] <= room:
        first -= 1
    while last + 1 < len(order) and order[last + 1] - order[last] <= room:
        last += 1
    return order[first : last + 1]


def _behind(order: list[date], days: Mapping[date, int], skipped: int) -> date:
    """The day of the first text behind so many."""
    for day in order:
        skipped -= days[day]
        if skipped < 0:
            return day
    return order[-1]
