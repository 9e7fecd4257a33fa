"""Checks what a spaCy Doc holds under the name of `tree_sentiment`: a file of Docs may come from
anybody."""

import math
from itertools import pairwise
from typing import Any, Final

import numpy as np

from thinstack.core.transitions import validate
from thinstack.errors import DataError, TreeError

UNUSABLE: Final = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError)
"""What using results that are none may raise."""


def not_results(problem: object) -> DataError:
    """What to raise for results that no component has left."""
    return DataError(f"this Doc holds no results of tree_sentiment: {problem}; run it on the text")


def check_results(value: Any, length: int) -> None:
    """Raise DataError unless a component can have left these results on a Doc of so many
    characters."""
    try:
        labels, sentences = value["labels"], value["sentences"]
        named = isinstance(labels, list | tuple) and all(isinstance(one, str) for one in labels)
        if not named or not labels or len(set(labels)) < len(labels):
            raise ValueError(f"expected names of classes, found {labels!r:.80}")
        if value.get("aggregation", "words") not in ("words", "sentences"):
            raise ValueError(f"expected an aggregation, found {value['aggregation']!r:.80}")
        _check_number("abstain", value.get("abstain", 0.0), least=0)
        for record in sentences:
            _check_sentence(record, len(labels), length)
        if any(before["end_char"] > behind["start_char"] for before, behind in pairwise(sentences)):
            raise ValueError("expected sentences one after the other")
    except (*UNUSABLE, TreeError) as error:
        raise not_results(repr(error)[:300]) from None


def _check_sentence(record: dict[str, Any], classes: int, length: int) -> None:
    words, start, end = record["words"], record["start_char"], record["end_char"]
    listed = isinstance(words, list | tuple)
    if not (listed and words and all(isinstance(word, str) and word for word in words)):
        raise ValueError(f"expected words, found {words!r:.80}")
    if not (type(start) is type(end) is int and 0 <= start < end <= length):
        expected = f"expected characters of the {length} of the Doc"
        raise ValueError(f"{expected}, found {start!r} to {end!r}")
    places = np.frombuffer(record["characters"], "<i4").reshape(len(words), 2)
    inside = (places[:, 0] >= start) & (places[:, 0] < places[:, 1]) & (places[:, 1] <= end)
    if not inside.all() or (np.diff(places, axis=0) < 0).any():
        raise ValueError("expected the characters of each word, in order")
    steps = np.frombuffer(record["transitions"], np.int8)
    if steps.size:
        validate(steps, words=len(words))
    scores = np.frombuffer(record["scores"], "<f4").reshape(-1, classes)
    if len(scores) not in (1, steps.size) or not np.isfinite(scores).all():
        raise ValueError(f"expected scores of each phrase, found those of {len(scores)}")
    _check_number("weight", record.get("weight", 1.0), least=1e-9)
    _check_parts(record.get("parts", ()), len(words))


def _check_number(name: str, value: object, *, least: float) -> None:
    if not (isinstance(value, int | float) and math.isfinite(value) and value >= least):
        raise ValueError(f"expected a number as {name}, found {value!r:.80}")


def _check_parts(parts: Any, words: int) -> None:
    place = 0
    for start, end in parts:
        if not (type(start) is type(end) is int and place == start < end):
            raise ValueError(f"expected parts of {words} words, found {start!r} to {end!r}")
        place = end
    if place not in (0, words):
        raise ValueError(f"expected parts of {words} words, found {place}")
