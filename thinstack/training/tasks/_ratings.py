"""The ratings of pairs in a table, and their scale."""

import math
from collections.abc import Iterable, Sequence
from typing import Final

from thinstack.errors import ConfigError, DataError

MAX_SCALE: Final = 21
"""Maximum number of labels. A longer scale, such as 0 to 100, has too few pairs for each."""


def rating_of(text: str, column: str, labels: Sequence[str]) -> float:
    """Return the rating of a score in `column`, from 1 to the number of `labels`, which are the
    whole numbers of the scale."""
    least, *others = map(_number, labels)
    if least is None or others != [least + step for step in range(1, len(labels))]:
        raise ConfigError(
            "model.labels: expected the whole numbers that the scores of the table go over, one by "
            f"one (such as 0, 1, 2, 3, 4, 5), found {', '.join(labels)}"
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
