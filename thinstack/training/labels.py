"""Finds the classes of a table of texts, checks them and puts them in order."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Final

from thinstack.core.scale import ordered
from thinstack.errors import DataError

__all__ = ["find_labels"]

MOST: Final = 200
"""The most classes: a column with more of them holds something else."""


def find_labels(labels: Iterable[str], source: str) -> tuple[str, ...]:
    """The distinct classes, in the order that `ordered` gives.

    Raises DataError, which names the `source`, for fewer than two classes or more than `MOST`. Also
    for classes that differ only by case or spaces: a person must say whether they are the same.
    """
    counts: Counter[str] = Counter()
    for label in labels:
        counts[label] += 1
        if len(counts) > MOST:
            few = ", ".join(repr(name) for name in list(counts)[:3])
            raise DataError(
                f"{source}: expected at most {MOST} classes, found more ({few} ...); it seems to "
                "be a column of texts or numbers; name the column of labels (--label-column)"
            )
    if len(counts) < 2:
        found = f"only the class {next(iter(counts))!r}" if counts else "no row"
        raise DataError(
            f"{source}: expected two classes or more, found {found}; add rows of another class"
        )
    alike: dict[str, list[str]] = defaultdict(list)
    for label in counts:
        alike[" ".join(label.casefold().split())].append(label)
    for names in alike.values():
        if len(names) > 1:
            found = " and ".join(f"{name!r} ({counts[name]:,} rows)" for name in names)
            raise DataError(
                f"{source}: the classes {found} differ by case or spaces only; make them one in "
                "the file, or name all classes that are meant (--labels A,B,C)"
            )
    return ordered(list(counts))
