"""Reads and checks what a spaCy Doc holds under the name of `tree_sentiment`: a file of Docs may
come from anybody."""

import math
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc

from thinstack.core.transitions import validate
from thinstack.errors import DataError, TreeError
from thinstack.runtime.mentions import Terms

ARRAYS: Final = {"characters": "<i4", "transitions": "i1", "scores": "<f4", "terms": "<f4"}
"""The arrays of a sentence, and how their bytes are to be read. Only a model of aspects leaves
`terms`."""

_TOKENS: Final = frozenset({"start", "end", "tokens"})  # which `Doc._.tree_sentiment` adds
_UNUSABLE: Final = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError)
"""What using results that are none may raise."""


def not_results(problem: object) -> DataError:
    """What to raise for results that no component has left."""
    return DataError(f"this Doc holds no results of tree_sentiment: {problem}; run it on the text")


def checked_results(doc: Doc, value: Any) -> dict[str, Any]:
    """Results as they are stored, from these with lists or bytes. Raises DataError for anything
    else."""
    try:
        result = {**value, "sentences": [_packed(record) for record in value["sentences"]]}
        if "root" in value:
            result["root"] = _bytes(value["root"], "<f4")
    except _UNUSABLE as error:
        raise not_results(repr(error)[:300]) from None
    _check(result, doc[-1].idx + len(doc[-1]) if len(doc) else 0)
    return result


def _packed(record: dict[str, Any]) -> dict[str, Any]:
    """A sentence with bytes in place of lists, and without tokens."""
    arrays = {key: _bytes(record[key], kind) for key, kind in ARRAYS.items() if key in record}
    return {key: value for key, value in {**record, **arrays}.items() if key not in _TOKENS}


def _bytes(values: Any, kind: str) -> bytes:
    return values if isinstance(values, bytes) else np.array(values, kind).tobytes()


def _check(value: Any, length: int) -> None:
    """Raise DataError unless a component can have left these results on a Doc of so many
    characters."""
    try:
        labels, sentences = value["labels"], value["sentences"]
        named = isinstance(labels, list | tuple) and all(isinstance(one, str) for one in labels)
        if not named or not labels or len(set(labels)) < len(labels):
            raise ValueError(f"expected names of classes, found {labels!r:.80}")
        if value.get("aggregation", "words") not in ("words", "sentences", "tree"):
            raise ValueError(f"expected an aggregation, found {value['aggregation']!r:.80}")
        _check_number("abstain", value.get("abstain", 0.0), least=0)
        places = value.get("polarity", ())
        for place in places:
            _check_number("polarity", place, least=-1)
        if len(places) not in (0, len(labels)):
            raise ValueError(f"expected a polarity of each class, found {places!r:.80}")
        _check_terms(value.get("about"))
        if "root" in value:
            _check_rows(np.frombuffer(value["root"], "<f4").reshape(-1, len(labels)), 1)
        for record in sentences:
            _check_sentence(record, len(labels), length)
        if any(before["end_char"] > behind["start_char"] for before, behind in pairwise(sentences)):
            raise ValueError("expected sentences one after the other")
    except (*_UNUSABLE, TreeError) as error:
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
    _check_rows(scores, 1, steps.size)
    if "terms" in record:
        _check_rows(np.frombuffer(record["terms"], "<f4"), len(scores))
    _check_number("weight", record.get("weight", 1.0), least=1e-9)
    _check_parts(record.get("parts", ()), len(words))


def _check_rows(scores: NDArray[np.float32], *rows: int) -> None:
    if len(scores) not in rows or not np.isfinite(scores).all():
        raise ValueError(f"expected scores of each phrase, found those of {len(scores)}")


def _check_terms(about: Any) -> None:
    if not (about is None or isinstance(about, list | tuple)):
        raise ValueError(f"expected terms, found {about!r:.80}")
    Terms(about or ())


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
