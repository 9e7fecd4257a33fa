"""Reads a table: a first pass before its texts are scored, and a check that it did not change."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import date
from functools import partial
from typing import Any, Final, NamedTuple

from thinstack.data.tables.alike import likeness
from thinstack.data.tables.cell_text import is_missing_cell, key_text
from thinstack.data.tables.table_rows import Found, Record, check_columns
from thinstack.errors import DataError, InputError, StoppedError, shown
from thinstack.integrations.corpora.inputs import Columns, Corpus, Row, rows_of
from thinstack.integrations.corpora.run_manifest import Progress, Tell
from thinstack.integrations.frames import frame_cells, opened_frame
from thinstack.integrations.report.dates import (
    Calendar,
    cell_of_date,
    check_format,
    date_of,
    fitting_formats,
)
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

_SCORED: Final = frozenset(("id", "sentence", "start", "end", "text", "label", "polarity"))
_MOST_NAMES: Final = 100_000  # names counted at once
_MOST_CHARACTERS: Final = 1 << 24  # characters of these names
_SAMPLE: Final = 100  # unparsable cells from which a format is inferred
_TOLD: Final = 256  # rows between two progress updates


class Plan(NamedTuple):
    """Facts about a table, collected before its texts are scored.

    Attributes:
        groups: the groups that are reported separately, those with the most rows first.
        others: the number of other groups; a minimum, if `uncounted`.
        calendar: the periods by which texts are counted, if they have dates.
        uncounted: whether there were too many groups to count them all.
        digest: the digest of all rows.
        texts, ungrouped: the number of rows with a readable text, and of these without a group.
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
    digest, faults = hashlib.blake2b(digest_size=16), defaultdict[str, list[Fault]](list)
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
    for option, kind, is_there in (
        ("by", "group", groups.most),
        ("over", "date", days),
        ("stars", "stars", rated),
    ):
        if getattr(options, option) is not None and not is_there:
            raise _absent(options, option, faults[kind])
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


def _absent(options: ReportOptions, option: str, faults: list[Fault]) -> InputError:
    usual = "such as 2024-03-09, 9 March 2024 or Mar 9, 2024"
    dates = f"dates {f'in the format {options.dates!r}' if options.dates else usual}"
    expected = {"by": "groups", "over": dates, "stars": "numbers from 1 to 5"}[option]
    column = shown(column_name(getattr(options, option)))
    start = f"expected {expected} in the column {column}, found "
    other = f"Choose another column with --{option} (in Python {option}=)"
    if option != "over" or not faults:
        first = f"; the first: {faults[0].reason}" if faults else ""
        none = "none" if option == "stars" else "no value in any row"
        return InputError(f"{start}{none}{first}. {other}")
    formats = fitting_formats([fault.cell for fault in faults], options.dates)
    written = [f'--dates "{form}"' if " " in str(form) else f"--dates {form}" for form in formats]
    fitting = f": {' or '.join(written)}" if formats else " with --dates"
    remedy = f"{other}, or specify the date format{fitting} (in Python dates=)"
    if formats == [None]:
        remedy = "Remove --dates (in Python dates=)"
    problem = f"none from 1900 to 2100; the first cell is {faults[0].reason}"
    return InputError(f"{start}{problem}. {remedy}")


def corpus_rows(corpus: Corpus, options: ReportOptions) -> Iterator[TextRow]:
    """Yield the rows of the files of a corpus. Raises DataError for a file that cannot be read, and
    for a missing column."""
    for name, path in corpus.files.items():
        place = f"{name}, line " if corpus.named else "line "
        yield from _text_rows(str(path), corpus.records(path, options.columns), options, place)


def frame_source(frame: Any, options: ReportOptions) -> Source:
    """Return the source of a frame, or of a list of texts, which has no other columns. Raises
    InputError for other types, and DataError for duplicate or missing columns. The rows raise
    InputError for a cell that is not text."""
    if isinstance(frame, list | tuple):
        return lambda: _text_rows("the frame", _listed(frame, options.text), options, "row ")
    eager = opened_frame(frame)
    _checked("the frame", options, eager.columns)
    names = options.columns

    def rows() -> Iterator[TextRow]:
        cells = enumerate(frame_cells(eager, names))
        records = (Record(row, dict(zip(names, some, strict=True))) for row, some in cells)
        return _text_rows("the frame", records, options, "row ")

    return rows


def _listed(texts: Sequence[Any], column: Any) -> Iterator[Found]:
    for row, cell in enumerate(texts):
        if not (isinstance(cell, str) or is_missing_cell(cell)):
            raise InputError(
                f"row {row}: expected a list of texts, found {shown(cell, 60)}: pass only the "
                "texts, or a frame, such as pandas.DataFrame(rows)"
            )
        yield Record(row, {column: cell})


def _checked(source: str, options: ReportOptions, item: Found) -> Found:
    """Return a record, or the columns of a table. Raise DataError if one is missing, and InputError
    for those of scored rows, whose texts may be terms or phrases."""
    if isinstance(item, list):
        if _SCORED.issubset(item):
            problem = "contains scores from thinstack, not texts"
            raise InputError(f"{source}: {problem}. Pass the table that was scored")
        check_columns(source, item, [options.text, *options.parts.values()], options.advice)
    return item


def _text_rows(
    source: str, items: Iterable[Found], options: ReportOptions, place: str
) -> Iterator[TextRow]:
    """Yield the rows of the named table. `place`: the prefix of their positions."""
    columns = Columns(options.text, others=tuple(options.parts.values()))
    items = map(partial(_checked, source, options), items)
    for row in rows_of(source, items, columns, prefix=place, advice=options.advice):
        yield _text_row(row, options)


def _text_row(row: Row, options: ReportOptions) -> TextRow:
    place, parts, faults = str(row.id), dict[Kind, Any](), list[Fault]()
    if row.problem and row.problem.kind != "missing":  # the message begins with the position
        reason = row.problem.message.partition(": ")[2] or row.problem.message
        return TextRow(place, "", unreadable=Fault("row", reason))
    if not row.text.strip():
        return TextRow(place, "", unreadable=Fault("empty", ""))
    for kind, cell in zip(options.parts, row.cells, strict=True):
        parts[kind] = _part(kind, cell, options.dates)
        if parts[kind] is None and is_missing_cell(cell):
            faults.append(Fault(kind, "empty"))
        elif parts[kind] is None:
            faults.append(Fault(kind, reason := shown(cell, 60), cell_of_date(cell) or reason))
    group, day, stars = parts.get("group"), parts.get("date"), parts.get("stars")
    return TextRow(place, row.text, group, day, stars, tuple(faults))


def _part(kind: Kind, cell: object, dates: str | None) -> Any:
    if kind == "date":
        return date_of(cell, dates)
    with suppress(DataError, ValueError):
        if kind == "stars":
            stars = float(str(cell).strip())
            return stars if 1 <= stars <= 5 else None
        return key_text(cell).strip()
    return None


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
