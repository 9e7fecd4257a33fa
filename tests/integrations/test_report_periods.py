"""Dates and periods of reports."""

from collections import Counter
from datetime import date, datetime, timedelta

import numpy as np
import pandas as pd
import pytest

from thinstack.errors import InputError
from thinstack.integrations.report.dates import (
    MOST_PERIODS,
    Calendar,
    check_format,
    date_of,
    fitting_formats,
    period_name,
)

DAY = date(2024, 3, 9)


DATES = ["2024-03-09", "2024/3/9", "2024.03.09", "20240309", 20240309, " 2024-03-09 "]
DATES += ["2024-03-09T23:59:59Z", "2024-03-09 10:00", "9 March 2024", "9 Mar. 2024", "Mar 9, 2024"]
DATES += ["9th march 2024", "March 9th 2024", "MAR 9 2024", "9 March 2024 10:15", "20240309.0"]
DATES += ["Mar 9, 2024, 10:15 PM", 20240309.0, np.int64(20240309), DAY]
DATES += [datetime(2024, 3, 9, 23, 59)]
FIRST_DAYS = {"2024-03": date(2024, 3, 1), "2024": date(2024, 1, 1), "Mar 2024": date(2024, 3, 1)}


@pytest.mark.parametrize(("cell", "day"), [*((cell, DAY) for cell in DATES), *FIRST_DAYS.items()])
def test_a_date_is_read(cell, day):
    assert date_of(cell) == day


NO_DATES = ["3/9/2024", "09.03.2024", "2024-13-01", "2024-02-30", "soon", "", None, True, 3.5]
NO_DATES += ["0000-01-01", "9 Ma 2024", "9 Juni 2024", "45200", "1234567", "20241301", "2024Q1", []]
NO_DATES += [45200, "1" * 5000, "2024-03/09", 2024.1, "９ March 2024"]


@pytest.mark.parametrize("cell", NO_DATES)
def test_what_is_no_date_is_none(cell):
    assert date_of(cell) is None


def test_a_format_is_the_only_one():
    assert date_of("9/3/2024", "%d/%m/%Y") == DAY
    assert date_of("2024-03-09", "%d/%m/%Y") is None
    assert date_of(DAY, "%d/%m/%Y") == DAY


@pytest.mark.parametrize(
    ("days", "unit", "count"),
    [
        (1, "day", 1),
        (36, "day", 36),
        (37, "week", 6),
        (252, "week", 36),
        (253, "month", 9),
        (1095, "month", 36),
        (1500, "year", 5),
        (40000, "year", 110),
    ],
)
def test_the_range_decides_the_unit(days, unit, count):
    first = date(2024, 1, 1)  # a Monday
    calendar = Calendar.of({first: 1, first + timedelta(days=days - 1): 1})
    assert calendar.unit == unit
    assert len(calendar.periods()) == count
    assert unit == "year" or count <= MOST_PERIODS


def test_a_week_that_is_cut_counts_as_a_period():
    first = date(2024, 1, 2)  # a Tuesday: 252 days are in 37 weeks
    assert Calendar.of({first: 1, first + timedelta(days=251): 1}).unit == "month"


def test_every_day_lies_in_one_of_the_periods():
    first, last = date(2023, 11, 29), date(2024, 8, 3)
    for unit in ("day", "week", "month", "year"):
        calendar = Calendar(unit, first, last)
        starts = calendar.periods()
        assert starts == sorted(set(starts))
        day = first
        while day <= last:
            assert calendar.period(day) == max(start for start in starts if start <= day)
            day += timedelta(days=1)
        assert calendar.period(last + timedelta(days=1)) is None


def test_a_date_far_from_nearly_all_others_is_left_out():
    days = Counter({date(2024, 3, 1) + timedelta(days=n): 5 for n in range(30)})
    far = {date(1024, 3, 1): 1, date(2204, 3, 1): 1}
    calendar = Calendar.of(days | Counter(far))
    assert calendar == Calendar("day", date(2024, 3, 1), date(2024, 3, 30))
    assert [calendar.period(day) for day in far] == [None, None]
    near = Calendar.of(days | Counter({date(2024, 4, 20): 1}))
    assert near.last == date(2024, 4, 20)
    assert Calendar.of({}) is None


PLACEHOLDERS = [date(1900, 1, 1), date(1970, 1, 1), date(2099, 12, 31)]


@pytest.mark.parametrize("mark", PLACEHOLDERS)
@pytest.mark.parametrize("share", [0.003, 0.03, 0.25])
def test_what_stands_for_no_date_is_left_out(mark, share):
    """Of a thousand texts of 2024, and of as many of 30 years up to it."""
    for step in (1, 30):
        days = Counter({date(2024, 12, 1) - timedelta(days=step * n): 3 for n in range(333)})
        marks = int(share * days.total())
        calendar = Calendar.of(days | Counter({mark: marks}))
        assert (calendar.first, calendar.last) == (min(days), max(days))
        assert calendar.period(mark) is None


def test_a_few_percent_far_away_are_left_out_and_a_few_percent_near_are_not():
    days = Counter({date(2024, 1, 1) + timedelta(days=n): 3 for n in range(300)})
    assert Calendar.of(days | Counter({date(1987, 5, 5): 30})).first == date(2024, 1, 1)
    assert Calendar.of(days | Counter({date(2023, 10, 1): 30})).first == date(2023, 10, 1)


def test_a_day_that_stands_for_no_date_is_one_among_its_neighbours():
    for year in (1900, 1970):
        days = {date(year + n, 1, 1): 5 for n in range(40)}
        assert Calendar.of(days).first == date(year, 1, 1)
        near = {date(year, 1, 1) + timedelta(days=n): 1 for n in range(9)}
        assert Calendar.of(near).unit == "day"
    assert Calendar.of({PLACEHOLDERS[0]: 5}).first == PLACEHOLDERS[0]


def test_years_alone_are_years_and_months_alone_months():
    assert Calendar.of({date_of(f"{year}"): 3 for year in (2022, 2023)}).unit == "year"
    months = {date_of(f"2024-{month:02d}"): 3 for month in (1, 2, 3)}
    assert (Calendar.of(months).unit, len(Calendar.of(months).periods())) == ("month", 3)


def test_the_years_of_dates_bound_the_periods():
    calendar = Calendar.of({date(1900, 1, 1): 1, date(2100, 12, 31): 1, date(2000, 5, 5): 1})
    assert len(calendar.periods()) <= 201
    for year in (1, 1011, 1899, 2101, 9999):
        for cell in (f"{year:04d}-12-31", f"{year:04d}1231", date(year, 12, 31)):
            assert date_of(cell) is None
        assert date_of(datetime(year, 12, 31, 5)) is None


FORMATS = {
    ("1700000000", "unix"): date(2023, 11, 14),
    (1700000000.0, "unix"): date(2023, 11, 14),
    ("1700000000123", "unix"): date(2023, 11, 14),
    (1700000000123456789, "unix"): date(2023, 11, 14),
    ("45200", "excel"): date(2023, 10, 1),
    (45200.75, "excel"): date(2023, 10, 1),
    ("soon", "unix"): None,
    ("9" * 20, "excel"): None,
    ("2/24/2015 11:35", "%m/%d/%Y"): date(2015, 2, 24),
    ("2/24/2015T11:35:01Z", "%m/%d/%Y"): date(2015, 2, 24),
    ("2/24/2015, 11:35 PM", "%m/%d/%Y"): date(2015, 2, 24),
    ("2/24/2015 11:35", "%m/%d/%Y %H:%M"): date(2015, 2, 24),
    ("2/24/2015 x", "%m/%d/%Y"): None,
    ("9 August 10:00 2024", "%d %B %H:%M %Y"): date(2024, 8, 9),
    # Weeks of 2024, of which 1 January is a Monday: the first days of the tenth
    ("2024-10", "%Y-%W"): date(2024, 3, 4),
    ("2024-10", "%Y-%U"): date(2024, 3, 10),
    ("2024-W10", "%G-W%V"): date(2024, 3, 4),
    ("2024-10 3", "%Y-%W %w"): date(2024, 3, 6),
}


@pytest.mark.parametrize(("cell", "format"), FORMATS)
def test_formats_of_numbers_times_and_weeks(cell, format):
    check_format(format)
    assert date_of(cell, format) == FORMATS[cell, format]


@pytest.mark.parametrize(
    "format",
    ["%d %d", "%Y-%m-%d%Y", "%s", "%Y %s", "", "%d/%m", "%", "%Y%", "%%Y", 5, ["%Y"], "\0%Y"],
)
def test_a_format_that_says_of_no_date_how_it_is_written_is_refused(format):
    with pytest.raises(InputError):
        check_format(format)


@pytest.mark.parametrize(
    ("cells", "tried", "formats"),
    [
        (["2/24/2015 11:35"], "%d/%m/%Y", ["%m/%d/%Y"]),
        (["24/2/2015"], "%m/%d/%Y", ["%d/%m/%Y"]),
        (["03/08/2026"], None, ["%d/%m/%Y", "%m/%d/%Y"]),
        (["03/08/2026", "03/18/2026"], None, ["%m/%d/%Y"]),
        (["03/18/2026", "?"], None, ["%m/%d/%Y"]),
        (["?", "03/18/2026", "03/08/2026", "18.3.26"], None, ["%m/%d/%Y"]),
        (["soon", "9 Mar 2024", "24/2/2015"], "%d/%m/%Y", [None]),
        (["9 Mar 2024"], "%d/%m/%Y", [None]),
        (["24.12.2024 10:00"], None, ["%d.%m.%Y"]),
        (["45200"], None, ["excel"]),
        (["1700000000"], None, ["unix"]),
        (["80331", "10115"], None, ["unix", "excel"]),
        (["1234567"], None, ["unix", "excel"]),
        (["soon"], None, []),
    ],
)
def test_a_format_that_is_proposed_fits(cells, tried, formats):
    assert fitting_formats(cells, tried) == formats


class Beyond(datetime):
    """As pandas has one of the year 10000."""

    year = 10000


def test_periods_and_dates_beyond_those_of_python():
    assert date_of(pd.Period("2024-03", "M")) == date(2024, 3, 1)
    assert date_of(pd.Period("2024Q1", "Q")) == date(2024, 1, 1)
    assert date_of(np.datetime64("2024-03-09T10:00", "ns")) == DAY
    assert date_of(np.datetime64("10000-01-01", "s")) is None
    assert date_of(Beyond(2024, 1, 1)) is None
    assert date_of(pd.NaT) is None


def test_names_of_periods():
    assert [period_name(DAY, unit) for unit in ("year", "month", "week", "day")] == [
        *("2024", "Mar 2024", "9 Mar 2024", "9 Mar 2024")
    ]
