"""Containers that do not iterate over the texts, sentences or rows in them, such as a DataFrame or
a dict; and what to give in their place."""

import os
from collections import UserString
from collections.abc import Callable, Iterable, Mapping
from io import BufferedIOBase, RawIOBase
from typing import Any, Final, TypeAlias

import numpy as np

from thinstack.core import Tree
from thinstack.errors import InputError, shown

_Advice: TypeAlias = tuple[Callable[[Any], bool], str]
_QUOTED: Final = (str, bytes, bytearray, memoryview, os.PathLike)
"""Kinds whose value a message shows; of others it names the type."""

_OF_SPACY: Final = {f"spacy.tokens.{name}" for name in ("doc", "span", "token")}


def _is(*kinds: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, kinds)


def _has(*names: str) -> Callable[[Any], bool]:
    return lambda value: any(hasattr(type(value), name) for name in names)


def _is_binary(value: Any) -> bool:
    mode = getattr(value, "mode", None)  # of what wraps a file; a DataFrame has a method mode
    of_bytes = isinstance(mode, str) and "b" in mode
    return of_bytes or isinstance(value, RawIOBase | BufferedIOBase)


def _has_axes(value: Any) -> bool:
    return getattr(value, "ndim", 1) != 1 and not isinstance(value, np.generic)


_NO_TEXTS: Final[tuple[_Advice, ...]] = (
    (_is(str), "put a single text in a list, or call model(text)"),
    (_is(UserString), "pass str(value)"),
    (_is(bytes, bytearray, memoryview), "decode it, such as bytes(data).decode('utf-8')"),
    (_is(os.PathLike), "read the file, such as list(open(path, encoding='utf-8'))"),
    (_is_binary, "open it as text, with encoding='utf-8'"),
    (
        _has("columns", "column_names"),
        "pass frame['text'] (of Arrow .to_pylist()), or call thinstack.score_frame",
    ),
    (
        _is(Mapping),
        "pass one of its columns, such as d['text']; thinstack.score_frame takes frames",
    ),
    (lambda value: isinstance(value, np.ndarray) and value.ndim == 0, "pass [array.item()]"),
    (_has_axes, "pass a list or one column, such as array[:, 0]"),
    (_has("to_pylist"), "pass array.to_pylist()"),
    (
        lambda value: type(value).__module__ in _OF_SPACY,
        "pass [doc.text], or [sent.text for sent in doc.sents]",
    ),
    (_is(Tree), "put a single tree in a list, for predictor.predict_trees"),
    (_has("leaves"), "thinstack.from_nltk makes a thinstack.Tree of it"),
    (
        lambda value: isinstance(value, tuple) and hasattr(value, "_fields"),
        "put the field that is meant in a list",
    ),
)
_NO_ROWS: Final[tuple[_Advice, ...]] = (
    (
        _has("columns"),
        "pass frame.to_dict('records') of pandas, .to_dicts() of polars, .to_pylist() of Arrow",
    ),
    (
        _is(Mapping),
        "pass [dict(zip(d, row)) for row in zip(*d.values())], or of tables one: d['train']",
    ),
    (
        _is(str, os.PathLike),
        "pass rows, such as csv.DictReader(file); `thinstack train FILE` trains on a file",
    ),
)


def check_container(value: object, expected: str) -> None:
    """Raise InputError, which says what is `expected`, for what does not iterate over that: what
    `instead_of` knows, and what cannot be iterated."""
    _check(value, expected, _NO_TEXTS)


def check_rows(value: object) -> None:
    """Raise InputError for what does not iterate over mappings of columns to cells."""
    if _has("columns")(value) or not _has("column_names")(value):  # as a datasets.Dataset has
        _check(value, "rows, each a mapping of columns", (*_NO_ROWS, *_NO_TEXTS))


def instead_of(value: object) -> str | None:
    """What was found and what to give, for what does not iterate over texts, sentences or rows.
    That is a table, a mapping, an array of other axes, one text, a Doc, a tree, a path or a binary
    file. None for others."""
    return _advice(value, _NO_TEXTS)


def _check(value: object, expected: str, table: Iterable[_Advice]) -> None:
    if problem := _advice(value, table):
        raise InputError(f"expected {expected}, {problem}")
    if not isinstance(value, Iterable) and not hasattr(type(value), "__getitem__"):
        raise InputError(f"expected {expected}, found {shown(value, 60)}: pass a list of them")


def _advice(value: object, table: Iterable[_Advice]) -> str | None:
    mend = next((mend for fits, mend in table if fits(value)), None)
    what = shown(value, 60) if isinstance(value, _QUOTED) else f"a {type(value).__name__}"
    return None if mend is None else f"found {what}: {mend}"
