"""Finds the classes of a table of texts, checks them and puts them in order."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from thinstack.core.scale import ordered
from thinstack.data.tables.alike import alike, difference
from thinstack.data.tables.table_rows import is_no_class
from thinstack.errors import DataError

MAX_CLASSES: Final = 200
"""The most classes: a column with more of them holds something else."""


def find_labels(labels: Iterable[str], source: str) -> tuple[str, ...]:
    """The distinct classes, in the order that `ordered` gives. Raises DataError, which names the
    `source`, where a person must say whether such classes are meant."""
    counts = Counter(labels)
    if len(counts) > MAX_CLASSES:
        few = ", ".join(repr(name) for name in list(counts)[:3])
        raise DataError(
            f"{source}: expected at most {MAX_CLASSES} classes, found more ({few} ...); it seems "
            "to be a column of texts or numbers; name the column of labels (--label-column)"
        )
    if len(counts) < 2:
        found = f"only the class {next(iter(counts))!r}" if counts else "no row"
        raise DataError(
            f"{source}: expected two classes or more, found {found}; add rows of another class"
        )
    check_labels(counts, source, "name all classes that are meant (--labels A,B,C)")
    return ordered(list(counts))


def check_labels(counts: Mapping[str, int], source: str, advice: str) -> None:
    """Raise DataError for classes that are none, and for classes that a person takes for one.

    `counts`: the number of rows of each class. `source` starts and `advice` ends the message, which
    names the classes so that their difference is seen.
    """
    if odd := [label for label in counts if is_no_class(label)]:
        raise DataError(
            f"{source}: the class {odd[0]!r} ({counts[odd[0]]:,} rows) stands for a missing value; "
            f"leave these rows out, or {advice}"
        )
    for names in alike(counts):
        if len(names) > 1:
            written, how = difference(names)
            both = zip(written, (counts[name] for name in names), strict=True)
            found = " and ".join(f"{name} ({count:,} rows)" for name, count in both)
            raise DataError(
                f"{source}: the classes {found} {how}; make them one in the file, or {advice}"
            )
