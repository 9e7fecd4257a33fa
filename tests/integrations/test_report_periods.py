"""Dates and periods of reports."""

from collections import Counter
from datetime import date, datetime, timedelta

import pytest

from thinstack.integrations.report.periods import MOST_PERIODS, Calendar, date_of, period_name

DAY = date(2024, 3, 9)


@pytest.mark.parametrize(
    "cell",
    [
        "2024-03-09",
        "2024/3/9",
        "2024.03.09",
        "20240309",
        20240309,
        " 2024-03-09 ",
        "2024-03-09T23:59:59Z",
        "2024-03-09 10:00",
        "9 March 2024",
        "9 Mar. 2024",
        "Mar 9, 2024",
        "9th march 2024",
        "March 9th 2024",
        "MAR 9 2024",
        DAY,
        datetime(2024, 3, 9, 23, 59),
    ],
)
def test_a_date_is_read(cell):
    assert date_of(cell) == DAY


@pytest.mark.parametrize(
    ("cell", "first"),
    [("2024-03", date(2024, 3, 1)), ("2024", date(2024, 1, 1)), ("Mar 2024", date(2024, 3, 1))],
)
def test_of_a_month_or_a_year_it_is_the_first_day(cell, first):
    assert date_of(cell) == first


@pytest.mark.parametrize(
    "cell",
    [
        "3/9/2024",
        "09.03.2024",
        "2024-13-01",
        "2024-02-30",
        "soon",
        "",
        None,
        True,
        3.5,
        "0000-01-01",
        "9 Ma 2024",
        "9 Juni 2024",
        "1" * 5000,
        "2024-03/09",
        "９ March 2024",
        [],
    ],
)
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
    found = Calendar.of({first: 1, first + timedelta(days=days - 1): 1})
    assert found.unit == unit
    assert len(found.periods()) == count
    assert unit == "year" or count <= MOST_PERIODS + 1


def test_every_day_lies_in_one_of_the_periods():
    first, last = date(2023, 11, 29), date(2024, 8, 3)
    for unit in ("day", "week", "month", "year"):
        calendar = Calendar(unit, first, last)
        starts = calendar.periods()
        assert starts == sorted(set(starts))
        day = first
        while day <= last:
            own = calendar.period(day)
            assert own == max(start for start in starts if start <= day)
            day += timedelta(days=1)
        assert calendar.period(last + timedelta(days=1)) is None


def test_a_date_far_from_nearly_all_others_is_left_out():
    days = Counter({date(2024, 3, 1) + timedelta(days=n): 5 for n in range(30)})
    far = {date(1024, 3, 1): 1, date(2204, 3, 1): 1}
    found = Calendar.of(days | Counter(far))
    assert (found.unit, found.first, found.last) == ("day", date(2024, 3, 1), date(2024, 3, 30))
    assert [found.period(day) for day in far] == [None, None]
    near = Calendar.of(days | Counter({date(2024, 4, 20): 1}))
    assert near.last == date(2024, 4, 20)
    assert Calendar.of({}) is None


def test_the_ends_of_time():
    calendar = Calendar.of({date.min: 1, date.max: 1})
    assert calendar.period(date.min) == date.min
    assert calendar.periods()[0] == date.min
    assert Calendar("week", date.min, date(1, 1, 20)).periods()[0] == date.min


def test_names_of_periods():
    assert [period_name(DAY, unit) for unit in ("year", "month", "week", "day")] == [
        *("2024", "Mar 2024", "9 Mar 2024", "9 Mar 2024")
    ]
