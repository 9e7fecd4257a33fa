"""Periods of time: the choice of a unit for the dates of a table, and the names of periods."""

from collections.abc import Mapping
from datetime import date, timedelta
from itertools import pairwise
from typing import Final, Literal, NamedTuple, Self

import numpy as np

from thinstack.integrations.report.dates import MONTHS

Unit = Literal["day", "week", "month", "year"]

MOST_PERIODS: Final = 36
"""Maximum number of periods, unless the unit is a year."""

_DAYS: Final[dict[Unit, float]] = {"day": 1, "week": 7, "month": 30.44, "year": 365.25}
_AT_ENDS: Final = 0.05  # the share of texts at either end that may be outliers
_FEWEST: Final = 20  # the minimum number of texts for dropping outliers
_MARKS: Final = frozenset(
    (
        *(date(1900, 1, 1), date(1969, 12, 31), date(1970, 1, 1)),
        *(date(1980, 1, 1), date(2099, 12, 31), date(2100, 1, 1), date(2100, 12, 31)),
    )
)
"""Placeholders that programs write for "no date" and that are within `YEARS`."""


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
        near = _near(_unmarked(sorted(days)), days)
        length = (near[-1] - near[0]).days + 1
        units = [*_DAYS]
        if len(near) > 1 and all(day.day == 1 for day in near):
            units = ["year"] if all(day.month == 1 for day in near) else ["month", "year"]
        fits = [unit for unit in units if length <= MOST_PERIODS * _DAYS[unit]]
        return cls(fits[0] if fits else "year", near[0], near[-1])

    def period(self, day: date) -> date | None:
        """Return the first day of the period that contains a day, or None for an excluded day."""
        return period_of(day, self.unit) if self.first <= day <= self.last else None

    def periods(self) -> list[date]:
        """List the first days of all periods, in order."""
        days = range((self.last - self.first).days + 1)
        return sorted({period_of(self.first + timedelta(days=n), self.unit) for n in days})


def _unmarked(order: list[date]) -> list[date]:
    """Drop `_MARKS` that are farther from the other days than these are from each other."""
    others = [day for day in order if day not in _MARKS]
    if not others:
        return order
    reach = max([timedelta(days=366), *(after - day for day, after in pairwise(others))])
    return [day for day in order if others[0] - reach <= day <= others[-1] + reach]


def _near(order: list[date], days: Mapping[date, int]) -> list[date]:
    """Return the days around the median text, up to the first wide gap on either side."""
    ordinals = np.array([day.toordinal() for day in order])
    texts = np.cumsum([days[day] for day in order])
    skipped = max(int(_AT_ENDS * texts[-1]), 1) if texts[-1] >= _FEWEST else 0
    low = np.searchsorted(texts, skipped, side="right")
    high = np.searchsorted(texts, texts[-1] - skipped)
    wide = np.flatnonzero(np.diff(ordinals) > max(ordinals[high] - ordinals[low], 31))
    first, last = wide[wide < low][-1:] + 1, wide[wide >= high][:1] + 1
    return order[sum(first) : sum(last) or None]
