"""A first pass over a table before its texts are scored, and a check that it did not change."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import date
from typing import Final, NamedTuple

from thinstack.data.tables.alike import likeness
from thinstack.errors import InputError, StoppedError, shown
from thinstack.integrations.corpora.run_manifest import Progress, Tell
from thinstack.integrations.report.dates import Calendar, check_format, fitting_formats
from thinstack.integrations.report.rows import (
    Fault,
    Kind,
    ReportOptions,
    Source,
    TextRow,
    column_name,
)

MOST_GROUPS: Final = 50
"""Number of groups that are reported separately, those with the most rows."""

_MOST_NAMES: Final = 100_000  # names counted at once
_MOST_CHARACTERS: Final = 1 << 24  # characters of these names
_SAMPLE: Final = 100  # unparsable cells from which a format is inferred
_TOLD: Final = 256  # rows between two progress updates


class Plan(NamedTuple):
    """Facts about a table, collected before its texts are scored.

    Attributes:
        rows: the number of rows.
        groups: the groups that are reported separately, those with the most rows first.
        others: the number of other groups; a minimum, if `uncounted`.
        calendar: the periods by which texts are counted, if they have dates.
        uncounted: whether there were too many groups to count them all.
        digest: the digest of all rows.
        texts: the number of rows with a readable text.
        ungrouped: the number of these without a group.
    """

    rows: int
    groups: tuple[str, ...] = ()
    others: int = 0
    calendar: Calendar | None = None
    uncounted: bool = False
    digest: bytes = b""
    texts: int = 0
    ungrouped: int = 0


def plan_of(source: Source, options: ReportOptions, tell: Tell) -> Plan:
    """Read a table once. `tell` is called with the number of rows read.

    Raises InputError for an invalid format, for a table without rows, and for a column without any
    group, date or stars, before the texts are scored.
    """
    if options.dates is not None and options.over is None:
        raise InputError(
            f"--dates {options.dates} is a date format, but no date column is set: add "
            "--over (in Python over=)"
        )
    check_format(options.dates)
    rows, texts, ungrouped, rated = 0, 0, 0, False
    groups, days = Groups(), Counter[date]()
    digest, faults = hashlib.blake2b(digest_size=16), defaultdict[Kind, list[Fault]](list)
    for rows, row in enumerate(source(), 1):
        digest.update(repr(row).encode())
        texts += row.unreadable is None
        if row.group is not None:
            groups.add(row.group)
        ungrouped += row.unreadable is None and row.group is None
        if row.day is not None:
            days[row.day] += 1
        rated = rated or row.stars is not None
        for fault in row.faults:
            if fault.cell and len(faults[fault.kind]) < _SAMPLE:
                faults[fault.kind].append(fault)
        if rows % 10_000 == 0:
            tell(Progress(rows))
    if not rows:
        raise InputError("expected a table with texts, found no rows")
    if options.by is not None and not groups.most:
        first = f"; the first: {faults['group'][0].reason}" if faults["group"] else ""
        raise InputError(
            f"expected groups in the column {shown(column_name(options.by))}, found no value in "
            f"any row{first}. Choose another column with --by (in Python by=)"
        )
    if options.over is not None and not days:
        raise InputError(_no_dates(options, faults["date"]))
    if options.stars is not None and not rated:
        first = f"; the first: {faults['stars'][0].reason}" if faults["stars"] else ""
        raise InputError(
            f"expected numbers from 1 to 5 in the column {shown(column_name(options.stars))}, "
            f"found none{first}. Choose another column with --stars (in Python stars=)"
        )
    names = groups.largest()
    others, uncounted, calendar = groups.most - len(names), groups.lost > 0, Calendar.of(days)
    return Plan(rows, names, others, calendar, uncounted, digest.digest(), texts, ungrouped)


def read_again(source: Source, plan: Plan, tell: Tell = lambda _: None) -> Iterator[TextRow]:
    """Yield the rows again. `tell` is called with the number of rows read. Raises StoppedError
    after the last row if the table has changed."""
    digest = hashlib.blake2b(digest_size=16)
    for done, row in enumerate(source()):
        if done % _TOLD == 0:
            tell(Progress(done, rows=plan.rows))
        digest.update(repr(row).encode())
        yield row
    if digest.digest() != plan.digest:
        raise StoppedError(
            "the table changed while it was read, so nothing was written. Run the command "
            "again; if another program writes to the table, use a copy"
        )


def _no_dates(options: ReportOptions, faults: list[Fault]) -> str:
    usual = "such as 2024-03-09, 9 March 2024 or Mar 9, 2024"
    expected = f"in the format {options.dates!r}" if options.dates else usual
    start = f"expected dates {expected} in the column {shown(column_name(options.over))}, found "
    other = "Choose another column with --over (in Python over=)"
    if not faults:
        return f"{start}no value in any row. {other}"
    formats = fitting_formats([fault.cell for fault in faults], options.dates)
    written = [f'--dates "{form}"' if " " in str(form) else f"--dates {form}" for form in formats]
    fitting = f": {' or '.join(written)}" if formats else " with --dates"
    remedy = f"{other}, or specify the date format{fitting} (in Python dates=)"
    if formats == [None]:
        remedy = "Remove --dates (in Python dates=)"
    return f"{start}none from 1900 to 2100; the first cell is {faults[0].reason}. {remedy}"


class Groups:
    """Counts the rows of groups. Names with the same `likeness` are one group.

    When there are too many, the rarer half is dropped, and the count of every other group is
    reduced by the largest count of that half (Misra and Gries 1982, in batches).

    Attributes:
        names: the names of the groups, as spelled in the first row of each.
        lost: the maximum undercount of a group in rows: 2 / `_MOST_NAMES` of all at most.
        most: the number of groups; a minimum, if some are lost.
    """

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self._rows: Counter[str] = Counter()
        self._characters = self.lost = self.most = 0

    def add(self, name: str) -> None:
        """Count a row."""
        key = likeness(name)
        if key not in self.names:
            self.names[key] = name
            self._characters += len(name)
            self.most = max(self.most, len(self.names))
        self._rows[key] += 1
        if len(self.names) > _MOST_NAMES or self._characters > _MOST_CHARACTERS:
            cut = sorted(self._rows.values())[len(self._rows) // 2]
            self.lost += cut
            self._rows = Counter({key: n - cut for key, n in self._rows.items() if n > cut})
            self.names = {key: self.names[key] for key in self._rows}
            self._characters = sum(map(len, self.names.values()))

    def largest(self) -> tuple[str, ...]:
        """Return the names of the largest groups, those with the most rows first."""
        order = sorted(self._rows, key=lambda key: (-self._rows[key], self.names[key]))
        return tuple(self.names[key] for key in order[:MOST_GROUPS])
