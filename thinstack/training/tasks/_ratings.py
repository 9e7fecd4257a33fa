"""Ratings of pairs as a table writes them, and the scale that they are on."""

import math
from collections.abc import Iterable, Sequence
from typing import Final

from thinstack.errors import ConfigError, DataError

MAX_SCALE: Final = 21
"""The most whole numbers on a scale. A longer scale, such as 0 to 100, has too few pairs for
each."""


def rating_of(text: str, column: str, labels: Sequence[str]) -> float:
    """The rating of a score, from 1 to the number of `labels`. These are whole numbers, which the
    scores of `column` go over."""
    least, score = _least(labels), _number(text)
    if score is None or not least <= score <= float(labels[-1]):
        expected = f"a score from {labels[0]} to {labels[-1]} (model.labels) in {column}"
        raise DataError(
            f"expected {expected}, found {text!r:.60}; fix it, or pass the whole scale, such "
            "as --labels 0,1,2,3,4,5"
        )
    return score - least + 1


def find_scale(scores: Iterable[str], source: str) -> tuple[str, ...]:
    """The labels of a model of these scores: the whole numbers from the least to the greatest
    score. Texts that are no number are ignored. `source` leads messages."""
    least, greatest, text = math.inf, -math.inf, ""
    for text in scores:
        if (score := _number(text)) is not None:
            least, greatest = min(least, score), max(greatest, score)
    if least >= greatest:
        odd = f"only {least:g}" if least == greatest else f"{text!r:.60}, which is not a number"
        if _number(text.replace(",", ".")) != _number(text):
            odd += " (write 1.5, not 1,5)"
        raise DataError(
            f"{source}: expected scores, that is different numbers, found {odd}; name the "
            "column of the scores with --score"
        )
    low, high = math.floor(least), math.ceil(greatest)
    if high - low >= MAX_SCALE:
        raise DataError(
            f"{source}: expected scores on a scale of 2 to {MAX_SCALE} whole numbers, such as "
            f"0 to 5, 1 to 7 or 0 to 1, found {least:g} to {greatest:g}; divide them (0 to "
            "100 by 20, which gives 0 to 5), or fix the row that is off the scale"
        )
    return tuple(str(number) for number in range(low, high + 1))


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _least(labels: Sequence[str]) -> float:
    """The least score of a model, whose labels are whole numbers that go up by one."""
    numbers = [_number(label) for label in labels]
    if numbers[0] is None or numbers != [numbers[0] + step for step in range(len(labels))]:
        raise ConfigError(
            "model.labels: expected the whole numbers that the scores of the table go over, one by "
            f"one (such as 0, 1, 2, 3, 4, 5), found {', '.join(labels)}"
        )
    return numbers[0]


def is_fraction(text: str) -> bool:
    """Whether a text is a number that is not whole."""
    number = _number(text)
    return number is not None and not number.is_integer()
