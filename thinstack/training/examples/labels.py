"""The labels of a table: its classes, checked and in order, or the scale of its ratings."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from thinstack.core.scale import are_numbers, numbers_of, ordered
from thinstack.data.tables.alike import alike, difference
from thinstack.data.tables.cell_text import is_no_class
from thinstack.errors import ConfigError, DataError

MAX_CLASSES: Final = 200
"""Maximum number of classes. A column with more contains something else."""

MAX_SCALE: Final = 21
"""Maximum labels of a scale. A longer one, such as 0 to 100, has too few pairs for each."""

_FEW: Final = 10
"""Up to this many numbers may be classes in any table."""
_SEVERAL: Final = re.compile(r"[|;#]|^\[")
"""Characters between several labels in one cell, and the start of a list as Python prints it."""


def find_labels(labels: Iterable[str], source: str) -> tuple[str, ...]:
    """Return the distinct classes, in the order of `ordered`. Raises DataError, which names the
    `source`, if the user must confirm that they are classes."""
    counts, advice = Counter(labels), "list all classes (--labels A,B,C)"
    first = next(iter(counts), "")
    if len(counts) > MAX_CLASSES:
        few = ", ".join(repr(name) for name in list(counts)[:3])
        raise DataError(
            f"{source}: expected at most {MAX_CLASSES} classes, found more ({few} ...), as in "
            "a column of texts or numbers; set the label column (--label)"
        )
    if len(counts) > _FEW and are_numbers([*counts]) and _are_measured(counts):
        raise DataError(
            f"{source}: {len(counts)} different numbers, such as {first!r:.20}, "
            "look like measurements, which cannot be classes. Round them to a few steps, such "
            "as 1 to 5, or choose another label column (--label)"
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
    """Whether a cell holds several labels: all of its parts are in other labels, or it is written
    as a list and one of its parts is in another label."""
    parts = _parts(label)
    others = {part for other in counts if other != label for part in _parts(other)}
    if len(parts) < 2 or others.issuperset(parts):
        return len(parts) > 1
    return bool(_SEVERAL.search(label)) and not others.isdisjoint(parts)


def _parts(label: str) -> list[str]:
    parts = (part.strip(" []'\"") for part in re.split(r"[|;#,/]", label))
    return [part for part in parts if part]


def _are_measured(counts: Mapping[str, int]) -> bool:
    """Whether numbers are measurements: most occur in one row, or many have a fraction."""
    whole = all(number.is_integer() for number in numbers_of([*counts]))
    return 2 * len(counts) > sum(counts.values()) or (not whole and len(counts) > 2 * _FEW)


def rating_of(text: str, column: str, labels: Sequence[str]) -> float:
    """Return the rating of a score in `column`, from 1 to the number of `labels`, which are the
    whole numbers of the scale."""
    least, *others = map(_number, labels)
    if least is None or others != [least + step for step in range(1, len(labels))]:
        raise ConfigError(
            "model.labels: expected every whole number on the scale of the scores "
            f"(such as 0, 1, 2, 3, 4, 5), found {', '.join(labels)}"
        )
    score = _number(text)
    if score is None or not 0 <= score - least <= len(others):
        expected = f"a score from {labels[0]} to {labels[-1]} (model.labels) in {column}"
        raise DataError(
            f"expected {expected}, found {text!r:.60}; fix it, or pass the whole scale, such "
            "as --labels 0,1,2,3,4,5"
        )
    return score - least + 1


def find_scale(scores: Iterable[str], source: str) -> tuple[str, ...]:
    """Return the labels of a model for these scores: the whole numbers from the lowest to the
    highest. Texts that are not numbers are ignored. `source` starts messages."""
    least, greatest, text = math.inf, -math.inf, ""
    for text in scores:
        if (score := _number(text)) is not None:
            least, greatest = min(least, score), max(greatest, score)
    if least >= greatest:
        odd = f"only {least:g}" if least == greatest else f"{text!r:.60}, which is not a number"
        if _number(text.replace(",", ".")) != _number(text):
            odd += " (write 1.5, not 1,5)"
        raise DataError(
            f"{source}: expected scores (different numbers), found {odd}; set the "
            "score column with --score"
        )
    low, high = math.floor(least), math.ceil(greatest)
    if high - low >= MAX_SCALE:
        raise DataError(
            f"{source}: expected scores on a scale of 2 to {MAX_SCALE} whole numbers, such as "
            f"0 to 5, 1 to 7 or 0 to 1, found {least:g} to {greatest:g}; divide them (0 to "
            "100 by 20, which gives 0 to 5), or fix rows off the scale"
        )
    return tuple(str(number) for number in range(low, high + 1))


def is_fraction(text: str) -> bool:
    """Whether a text is a number that is not whole."""
    number = _number(text)
    return number is not None and not number.is_integer()


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
