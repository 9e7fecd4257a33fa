"""What is known of a table before its texts are scored; and whether it is the same afterwards."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import date
from typing import NamedTuple

from thinstack.errors import InputError, StoppedError, shown
from thinstack.integrations.report.date_formats import check_format
from thinstack.integrations.report.entries import Columns, Entry, Fault, Source, column_name
from thinstack.integrations.report.groups import Groups
from thinstack.integrations.report.periods import Calendar, fitting_formats

_SAMPLE = 100  # cells that are no dates, among which a format is looked for


class Plan(NamedTuple):
    """What is known of a table before its texts are scored.

    Attributes:
        rows: how many it has.
        groups: those that are told apart, of the most rows first.
        others: how many more groups there are; at least so many, if `uncounted`.
        calendar: the periods that texts are counted by, if they have dates.
        uncounted: whether there were too many groups to count them all.
        digest: that of all rows; "" if they are read only once.
    """

    rows: int
    groups: tuple[str, ...] = ()
    others: int = 0
    calendar: Calendar | None = None
    uncounted: bool = False
    digest: str = ""


def plan_of(source: Source, columns: Columns, tell: Callable[[int], None]) -> Plan:
    """Reads a table once, and tells the number of its rows as it grows.

    Raises InputError for a format that is none, for a table without rows, and for a column without
    any group or date: it would be too late to say so when all texts are scored.
    """
    check_format(columns.dates)
    rows, groups, days, digest = 0, Groups(), Counter[date](), hashlib.blake2b(digest_size=16)
    faults: dict[str, list[Fault]] = {"group": [], "date": []}
    for rows, entry in enumerate(_digested(source(), digest), 1):
        if entry.group is not None:
            groups.add(entry.group)
        if entry.day is not None:
            days[entry.day] += 1
        for fault in entry.faults:
            if len(some := faults.get(fault.kind, [fault] * _SAMPLE)) < _SAMPLE and fault.cell:
                some.append(fault)
        if rows % 10_000 == 0:
            tell(rows)
    if not rows:
        raise InputError("expected a table with rows of texts, found no row: nothing to report")
    if columns.by is not None and not groups.most:
        first = f"; the first: {faults['group'][0].reason}" if faults["group"] else ""
        raise InputError(
            f"expected groups in the column {shown(column_name(columns.by))}, found no value in "
            f"any row{first}. Name another column with --by (in Python by=)"
        )
    if columns.over is not None and not days:
        raise InputError(_no_dates(columns, faults["date"]))
    names = groups.largest()
    others, uncounted = groups.most - len(names), groups.lost > 0
    return Plan(rows, names, others, Calendar.of(days), uncounted, digest.hexdigest())


def read_again(source: Source, plan: Plan) -> Iterator[Entry]:
    """The rows that the plan was made of. Raises StoppedError, behind the last one, if they are
    others now."""
    digest = hashlib.blake2b(digest_size=16)
    yield from _digested(source(), digest)
    if digest.hexdigest() != plan.digest:
        raise StoppedError(
            "the table changed while it was read, so no report was made. Run the same again; if "
            "another program writes to the table, report on a copy"
        )


def _digested(entries: Iterator[Entry], digest: "hashlib.blake2b") -> Iterator[Entry]:
    for entry in entries:
        digest.update(repr(entry).encode())
        yield entry


def _no_dates(columns: Columns, faults: list[Fault]) -> str:
    expected = "dates such as 2024-03-09, 9 March 2024 or Mar 9, 2024"
    if columns.dates:
        expected = f"dates of the format {columns.dates!r}"
    start = f"expected {expected} in the column {shown(column_name(columns.over))}, found "
    other = "Name another column with --over (in Python over=)"
    if not faults:
        return f"{start}no value in any row. {other}"
    formats = fitting_formats([fault.cell for fault in faults], columns.dates)
    if formats[:1] == [None]:
        remedy = "Leave --dates (in Python dates=) out"
    elif formats:
        written = (
            f'--dates "{form}"' if " " in str(form) else f"--dates {form}" for form in formats
        )
        remedy = f"{other}, or say how they are written: {' or '.join(written)} (in Python dates=)"
    else:
        remedy = f"{other}, or say how they are written with --dates (in Python dates=)"
    return f"{start}none from 1900 to 2100; the first cell is {faults[0].reason}. {remedy}"
