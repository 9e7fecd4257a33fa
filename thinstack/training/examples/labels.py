"""Finds the classes of a table of texts, checks them and puts them in order."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from thinstack.core.scale import are_numbers, numbers_of, ordered
from thinstack.data.tables.alike import alike, difference
from thinstack.data.tables.cell_text import is_no_class
from thinstack.errors import DataError

MAX_CLASSES: Final = 200
"""The most classes: a column with more of them holds something else."""


_FEW: Final = 10
"""So many numbers may be classes in any table."""
_SEPARATORS: Final = "|;#"
"""Characters that stand between several labels in one cell, as a comma and a slash may."""
_SEVERAL: Final = re.compile(rf"[{_SEPARATORS}]|^\[")


def find_labels(labels: Iterable[str], source: str) -> tuple[str, ...]:
    """The distinct classes, in the order that `ordered` gives. Raises DataError, which names the
    `source`, where a person must say whether such classes are meant."""
    counts = Counter(labels)
    if len(counts) > MAX_CLASSES:
        few = ", ".join(repr(name) for name in list(counts)[:3])
        raise DataError(
            f"{source}: expected at most {MAX_CLASSES} classes, found more ({few} ...), as in "
            "a column of texts or numbers; name the label column (--label)"
        )
    if len(counts) > _FEW and are_numbers([*counts]) and _are_measured(counts):
        raise DataError(
            f"{source}: {len(counts)} different numbers, such as {next(iter(counts))!r:.20}, "
            "look like measurements, which cannot be classes. Round them to a few steps, such "
            "as 1 to 5, or name another label column (--label)"
        )
    if len(counts) < 2:
        few_rows = f"only the class {next(iter(counts))!r}" if counts else "no row"
        raise DataError(
            f"{source}: expected two classes or more, found {few_rows}; add rows of another class"
        )
    advice = "name all classes (--labels A,B,C)"
    if several := _several(counts):
        rows = sum(counts[label] for label in several)
        raise DataError(
            f"{source}: {rows:,} rows have several labels in one cell, such as "
            f"{several[0]!r:.60}, but a text can have only one. Keep one of them, {advice}, or "
            "write a task for several (docs/writing-a-task.md)"
        )
    check_labels(counts, source, advice)
    return ordered(list(counts))


def check_labels(counts: Mapping[str, int], source: str, advice: str) -> None:
    """Raise DataError for classes that are none, and for classes that a person takes for one.

    `counts`: the number of rows of each class. `source` starts and `advice` ends the message, which
    names the classes so that their difference is seen.
    """
    if odd := [label for label in counts if is_no_class(label)]:
        raise DataError(
            f"{source}: the class {odd[0]!r} ({counts[odd[0]]:,} rows) means a missing value; "
            f"leave these rows out, or {advice}"
        )
    for names in alike(counts):
        if len(names) > 1:
            written, how = difference(names)
            both = zip(written, (counts[name] for name in names), strict=True)
            listed = " and ".join(f"{name} ({count:,} rows)" for name, count in both)
            raise DataError(
                f"{source}: the classes {listed} {how}; write them the same way in the file, "
                f"or {advice}"
            )


def _several(counts: Mapping[str, int]) -> list[str]:
    """The labels that are several in one cell: each part of them is the label of other rows, or,
    between characters that labels seldom hold, or in a list as Python prints it, one part is in
    other labels too."""
    parts = {label: _parts(label) for label in counts}
    usual = Counter(part for names in parts.values() for part in {*names})
    return [
        label
        for label, names in parts.items()
        if len(names) > 1
        and (
            all(name in counts for name in names)
            or (any(usual[name] > 1 for name in names) and _SEVERAL.search(label))
        )
    ]


def _parts(label: str) -> list[str]:
    parts = (part.strip(" []'\"") for part in re.split(rf"[{_SEPARATORS},/]", label))
    return [part for part in parts if part]


def _are_measured(counts: Mapping[str, int]) -> bool:
    """Whether numbers are measurements: most are in one row, or many have a fraction."""
    whole = all(number.is_integer() for number in numbers_of([*counts]))
    return 2 * len(counts) > sum(counts.values()) or (not whole and len(counts) > 2 * _FEW)
