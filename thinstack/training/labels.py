"""Finds the classes of a table of texts, checks them and puts them in order."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

from thinstack.errors import DataError

__all__ = ["find_labels", "in_order", "ordered"]

MOST: Final = 200
"""The most classes: a column with more of them holds something else."""

SCALES: Final = (
    ("very negative", "negative", "neutral", "mixed", "positive", "very positive"),
    ("neg", "neutral", "pos"),
    ("very low", "low", "medium", "high", "very high"),
    ("bad", "neutral", "good"),
    ("never", "rarely", "sometimes", "often", "always"),
)
"""Scales of classes, each in order from one end to the other."""


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


def ordered(labels: Sequence[str]) -> tuple[str, ...]:
    """The classes in order: as numbers, as on a known scale, or else by the alphabet."""
    rank = _ranks(labels)
    return tuple(sorted(labels, key=rank.__getitem__) if rank else sorted(labels))


def in_order(labels: Sequence[str]) -> bool:
    """Whether there are at least three classes, and they go from one end of a scale to the
    other."""
    rank = _ranks(labels)
    return len(rank) > 2 and list(labels) == sorted(labels, key=rank.__getitem__)


def _ranks(labels: Sequence[str]) -> dict[str, float]:
    """The place of each class on its scale; empty for classes without a scale."""
    try:
        return {label: float(label) for label in labels}
    except ValueError:
        pass
    plain = {label: " ".join(label.casefold().replace("_", " ").split()) for label in labels}
    for scale in SCALES:
        if set(plain.values()) <= set(scale):
            return {label: scale.index(name) for label, name in plain.items()}
    return {}
