"""Finds the scale of scores, and makes ratings of scores."""

import math
from collections.abc import Iterable, Sequence
from typing import Final

from thinstack.errors import ConfigError, DataError

__all__ = ["find_scale", "rating_of"]

MOST: Final = 21
"""The most whole numbers on a scale. A longer scale, such as 0 to 100, has too few pairs for
each."""


def rating_of(text: str, column: str, labels: Sequence[str]) -> float:
    """The rating of a score, from 1 to the number of `labels`. These are whole numbers, which the
    scores of `column` go over.

    Raises ConfigError for labels that are no consecutive whole numbers, and DataError for a score
    that is not between them.
    """
    least, score = _least(labels), _number(text)
    if score is None or not least <= score <= float(labels[-1]):
        expected = f"a score from {labels[0]} to {labels[-1]} (model.labels) in {column}"
        raise DataError(
            f"expected {expected}, found {text!r:.60}; mend it, or give the whole scale, such as "
            "--labels 0,1,2,3,4,5"
        )
    return score - least + 1


def find_scale(scores: Iterable[str], source: str) -> tuple[str, ...]:
    """The labels of a model of these scores: the whole numbers from the least to the greatest
    score. Texts that are no number are ignored.

    Raises DataError, which names the `source`, if all scores are equal or there are none, and for a
    scale of more than `MOST` whole numbers.
    """
    least, greatest, text = math.inf, -math.inf, ""
    for text in scores:
        if (score := _number(text)) is not None:
            least, greatest = min(least, score), max(greatest, score)
    if least >= greatest:
        found = f"only {least:g}" if least == greatest else f"no number, but {text!r:.60}"
        if _number(text.replace(",", ".")) != _number(text):
            found += " (write 1.5, not 1,5)"
        raise DataError(
            f"{source}: expected scores, numbers that differ, found {found}; name the column of "
            "the scores with --score-column"
        )
    low, high = math.floor(least), math.ceil(greatest)
    if high - low >= MOST:
        raise DataError(
            f"{source}: expected scores on a scale of 2 to {MOST} whole numbers, such as 0 to 5, 1 "
            f"to 7 or 0 to 1, found {least:g} to {greatest:g}; divide them (0 to 100 by 20, which "
            "gives 0 to 5), or mend the row that is out of the scale"
        )
    return tuple(str(number) for number in range(low, high + 1))


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _least(labels: Sequence[str]) -> float:
    """The least score of a model. Raises ConfigError unless its labels are whole numbers that go up
    by one."""
    numbers = [_number(label) for label in labels]
    if numbers[0] is None or numbers != [numbers[0] + step for step in range(len(labels))]:
        raise ConfigError(
            "model.labels: expected the whole numbers that the scores of the table go over, one by "
            f"one (such as 0, 1, 2, 3, 4, 5), found {', '.join(labels)}"
        )
    return numbers[0]
