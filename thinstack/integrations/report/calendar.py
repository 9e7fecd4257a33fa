"""Periods of time: which suit the range of the dates of a table, and what they are called."""

from collections.abc import Mapping
from datetime import date, timedelta
from itertools import pairwise
from typing import Final, Literal, NamedTuple, Self

import numpy as np

from thinstack.integrations.report.dates import MONTHS

Unit = Literal["day", "week", "month", "year"]

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


def period_of(day: date, unit: Unit) -> date:
    """The first day of the period that a day lies in; a week begins on Monday."""
    if unit == "week":
        return day - timedelta(days=day.weekday())
    if unit == "month":
        return day.replace(day=1)
    return day.replace(month=1, day=1) if unit == "year" else day


def period_name(start: date, unit: Unit) -> str:
    """A period as it is shown: "2024", "Mar 2024", or the day that it begins, "9 Mar 2024"."""
    month = f"{MONTHS[start.month - 1][:3]} {start.year}"
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
        days = range((self.last - self.first).days + 1)
        return sorted({period_of(self.first + timedelta(days=n), self.unit) for n in days})


def _unmarked(order: list[date]) -> list[date]:
    """The days without `_MARKS` that are farther from the others than these are from each other."""
    others = [day for day in order if day not in _MARKS]
    if not others:
        return order
    reach = max([timedelta(days=366), *(after - day for day, after in pairwise(others))])
    return [day for day in order if others[0] - reach <= day <= others[-1] + reach]


def _near(order: list[date], days: Mapping[date, int]) -> list[date]:
    """The days around the middle of the texts, up to the first wide gap at either side."""
    ordinals = np.array([day.toordinal() for day in order])
    texts = np.cumsum([days[day] for day in order])
    skipped = max(int(_AT_ENDS * texts[-1]), 1) if texts[-1] >= _FEWEST else 0
    low = np.searchsorted(texts, skipped, side="right")
    high = np.searchsorted(texts, texts[-1] - skipped)
    wide = np.flatnonzero(np.diff(ordinals) > max(ordinals[high] - ordinals[low], 31))
    first, last = wide[wide < low][-1:] + 1, wide[wide >= high][:1] + 1
    return order[sum(first) : sum(last) or None]
