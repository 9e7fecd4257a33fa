"""Dates and periods of time: how cells are read as dates, and which periods suit their range."""

import re
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import Final, Literal, NamedTuple, Self

Unit = Literal["day", "week", "month", "year"]

MOST_PERIODS: Final = 36
"""Periods that a range is cut into, unless they are years."""

_DAYS: Final[dict[Unit, float]] = {"day": 1, "week": 7, "month": 30.44, "year": 365.25}
_AT_ENDS: Final = 0.01  # the share of dates at either end that do not say what the range is
_FEWEST: Final = 20  # dates whose ends are looked at so
_NUMBERS: Final = re.compile(r"(\d{4})(?:([-/.]?)(\d\d?)(?:\2(\d\d?)(?:[T ].*)?)?)?", re.ASCII)
_DAY_FIRST: Final = re.compile(r"(\d\d?)(?:st|nd|rd|th)? ([a-z]+)\.?,? (\d{4})", re.ASCII)
_MONTH_FIRST: Final = re.compile(r"([a-z]+)\.?(?: (\d\d?)(?:st|nd|rd|th)?)?,? (\d{4})", re.ASCII)
_MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September"),
    *("October", "November", "December"),
)
_LONGEST: Final = 64  # characters of a date


def date_of(cell: object, format: str | None = None) -> date | None:
    """The date in a cell, or None if it holds none.

    It may be a date or a time, or a text: `2024-03-09` with or without a time behind it,
    `2024/3/9`, `20240309`, `2024-03`, `2024`, `9 March 2024`, `Mar 9, 2024`. Days are the first
    where they are not told. `format`: the only way that texts are read, as `datetime.strptime`
    takes it, such as `%d/%m/%Y`.
    """
    if isinstance(cell, datetime):
        return cell.date()
    if isinstance(cell, date):
        return cell
    text = str(cell).strip() if isinstance(cell, str | int) else ""
    if not text or len(text) > _LONGEST:
        return None
    try:
        return datetime.strptime(text, format).date() if format else _plain(text.lower())
    except ValueError:
        return None


def _plain(text: str) -> date | None:
    if found := _NUMBERS.fullmatch(text.upper()):
        year, _, month, day = found.groups()
        return date(int(year), int(month or 1), int(day or 1))
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
        return day - timedelta(days=min(day.weekday(), day.toordinal() - 1))
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

        A day that lies far from nearly all others, such as a slip of the pen, is left out. It is
        farther from them than they are from each other.
        """
        if not days:
            return None
        order, total = sorted(days), sum(days.values())
        skipped = int(_AT_ENDS * total) + 1 if total >= _FEWEST else 0
        low, high = _behind(order, days, skipped), _behind(order[::-1], days, skipped)
        room = max((high - low).days, 31)
        near = [day for day in order if -room <= (day - low).days <= (high - low).days + room]
        length = (near[-1] - near[0]).days + 1
        fits = [unit for unit, days_of in _DAYS.items() if length <= MOST_PERIODS * days_of]
        return cls(fits[0] if fits else "year", near[0], near[-1])

    def period(self, day: date) -> date | None:
        """The first day of the period that a day lies in, or None for one that is left out."""
        return period_of(day, self.unit) if self.first <= day <= self.last else None

    def periods(self) -> list[date]:
        """The first days of all periods, in order."""
        found, day = list[date](), period_of(self.first, self.unit)
        while day <= self.last:
            found.append(day)
            if (date.max - day).days <= 367:
                break
            behind = {"day": 1, "week": 7, "month": 32, "year": 367}[self.unit]
            day = period_of(day + timedelta(days=behind), self.unit)
        return found


def _behind(order: list[date], days: Mapping[date, int], skipped: int) -> date:
    """The day of the first text behind so many."""
    for day in order:
        skipped -= days[day]
        if skipped < 0:
            return day
    return order[-1]
