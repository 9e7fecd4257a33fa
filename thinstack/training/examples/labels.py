"""Finds the classes of a table, checks them and puts them in order."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from thinstack.core.scale import are_numbers, numbers_of, ordered
from thinstack.data.tables.alike import alike, difference
from thinstack.data.tables.cell_text import is_no_class
from thinstack.errors import DataError

MAX_CLASSES: Final = 200
"""Maximum number of classes. A column with more contains something else."""

_FEW: Final = 10
"""Up to this many numbers may be classes in any table."""
_SEVERAL: Final = re.compile(r"[|;#]|^\[")
"""Characters between several labels in one cell, and the start of a list as Python prints it."""


def find_labels(labels: Iterable[str], source: str) -> tuple[str, ...]:
    """Return the distinct classes, in the order of `ordered`. Raises DataError, which names the
    `source`, if the user must confirm that they are classes."""
    counts, advice = Counter(labels), "name all classes (--labels A,B,C)"
    first = next(iter(counts), "")
    if len(counts) > MAX_CLASSES:
        few = ", ".join(repr(name) for name in list(counts)[:3])
        raise DataError(
            f"{source}: expected at most {MAX_CLASSES} classes, found more ({few} ...), as in "
            "a column of texts or numbers; name the label column (--label)"
        )
    if len(counts) > _FEW and are_numbers([*counts]) and _are_measured(counts):
        raise DataError(
            f"{source}: {len(counts)} different numbers, such as {first!r:.20}, "
            "look like measurements, which cannot be classes. Round them to a few steps, such "
            "as 1 to 5, or name another label column (--label)"
        )
    if len(counts) < 2:
        few_rows = f"only the class {first!r}" if counts else "no row"
        raise DataError(
            f"{source}: expected two classes or more, found {few_rows}; add rows of another class"
        )
    if several := [label for label in counts if _holds_several(label, counts)]:
        rows = sum(counts[label] for label in several)
        raise DataError(
            f"{source}: {rows:,} rows have several labels in one cell, such as "
            f"{several[0]!r:.60}, but a text can have only one. Keep one of them, {advice}, or "
            "write a task for several (docs/writing-a-task.md)"
        )
    check_labels(counts, source, advice)
    return ordered(list(counts))


def check_labels(counts: Mapping[str, int], source: str, advice: str) -> None:
    """Raise DataError for a class that means a missing value, and for classes that look alike.

    `counts`: the number of rows of each class. The message starts with `source`, ends with `advice`
    and spells out how the classes differ.
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


def _holds_several(label: str, counts: Mapping[str, int]) -> bool:
    """Whether a cell holds several labels: all of its parts are labels of other rows, or it is
    written as a list and one of its parts is in another label."""
    parts = _parts(label)
    if len(parts) < 2 or all(part in counts for part in parts):
        return len(parts) > 1
    others = {part for other in counts if other != label for part in _parts(other)}
    return bool(_SEVERAL.search(label)) and not others.isdisjoint(parts)


def _parts(label: str) -> list[str]:
    parts = (part.strip(" []'\"") for part in re.split(r"[|;#,/]", label))
    return [part for part in parts if part]


def _are_measured(counts: Mapping[str, int]) -> bool:
    """Whether numbers are measurements: most occur in one row, or many have a fraction."""
    whole = all(number.is_integer() for number in numbers_of([*counts]))
    return 2 * len(counts) > sum(counts.values()) or (not whole and len(counts) > 2 * _FEW)
