"""Containers that do not iterate over the texts, sentences or rows in them, such as a DataFrame or
a dict; and what to give in their place."""

import os
from collections import UserString
from collections.abc import Iterable, Mapping
from io import BufferedIOBase, RawIOBase
from typing import Any

import numpy as np

from thinstack.core import Tree
from thinstack.errors import InputError, shown

_TEXT_COLUMN = "text"
_OF_SPACY = {f"spacy.tokens.{name}" for name in ("doc", "span", "token")}


def check_container(value: object, expected: str) -> None:
    """Raise InputError, which says what is `expected`, for what does not iterate over that: what
    `instead_of` knows, and what cannot be iterated."""
    if problem := instead_of(value):
        raise InputError(f"expected {expected}, {problem}")
    if not isinstance(value, Iterable) and not hasattr(type(value), "__getitem__"):
        raise InputError(f"expected {expected}, found {shown(value, 60)}: give a list of them")


def check_texts(value: object) -> None:
    """Raise InputError, which says what to give or to call, for what does not iterate over
    texts."""
    if isinstance(value, str):
        problem = f"found {shown(value, 60)}: model(text) scores one text"
        raise InputError(f"expected several texts, {problem}")
    problem = instead_of(value) or ""
    if problem and (_is_table(value) or isinstance(value, Mapping)):
        problem += "; thinstack.score_frame scores a column of a DataFrame"
        raise InputError(f"expected a text or several texts, {problem}")
    check_container(value, "a text or several texts")


def check_rows(value: object) -> None:
    """Raise InputError for what does not iterate over mappings of columns to cells."""
    kind = type(value)
    if hasattr(kind, "columns"):
        mend = "frame.to_dict('records') of pandas, .to_dicts() of polars, .to_pylist() of Arrow"
    elif isinstance(value, Mapping):
        first = next(iter(value), None)
        whole = first is not None and hasattr(type(value[first]), "column_names")
        mend = f"d[{first!r}]" if whole else "[dict(zip(d, row)) for row in zip(*d.values())]"
    elif isinstance(value, str | os.PathLike):
        mend = "rows, such as csv.DictReader(file); `thinstack train FILE` trains on a file"
    elif hasattr(kind, "column_names"):  # a datasets.Dataset
        return
    else:
        check_container(value, "rows")
        return
    found = shown(value, 60) if isinstance(value, str | os.PathLike) else f"a {kind.__name__}"
    raise InputError(f"expected rows, each a mapping of columns, found {found}: give {mend}")


def instead_of(value: Any) -> str | None:
    """What was found and what to give, for what does not iterate over texts, sentences or rows.
    That is a table, a mapping, an array of other axes, one text, a Doc, a tree, a path or a binary
    file. None for others."""
    kind, name = type(value), type(value).__name__
    if isinstance(value, str):
        return f"found {shown(value, 60)}: put a single text in a list"
    if isinstance(value, UserString):
        return f"found a {name}: give str(value)"
    if isinstance(value, bytes | bytearray | memoryview):
        return f"found {shown(value, 60)}: decode it, such as bytes(data).decode('utf-8')"
    if isinstance(value, os.PathLike):
        return (
            f"found {shown(value, 60)}: read the file, such as list(open(path, encoding='utf-8'))"
        )
    mode = getattr(value, "mode", None)  # of what wraps a file; a DataFrame has a method mode
    if isinstance(value, RawIOBase | BufferedIOBase) or (isinstance(mode, str) and "b" in mode):
        return f"found a binary file ({name}): open it as text, with encoding='utf-8'"
    if _is_table(value):
        return f"found a {name}: give {_column_of(value)}"
    if isinstance(value, Mapping):
        return f"found a {name}: give {_values_of(value)}"
    if isinstance(value, np.ndarray) and not value.ndim:
        return f"found a {name} of one value: put array.item() in a list"
    if getattr(value, "ndim", 1) != 1 and not isinstance(value, np.generic):
        shape = getattr(value, "shape", "of two axes or more")
        return f"found a {name}, {shape}: give one column of it, such as array[:, 0]"
    if hasattr(kind, "to_pylist"):
        return f"found a {name} of Arrow: give array.to_pylist()"
    if kind.__module__ in _OF_SPACY:
        return f"found a {name} of spaCy: give [doc.text], or [sent.text for sent in doc.sents]"
    if isinstance(value, Tree):
        return "found a tree: put a single tree in a list, for predictor.predict_trees"
    if callable(getattr(kind, "leaves", None)):
        return f"found a {name}: thinstack.from_nltk makes a thinstack.Tree of it"
    if isinstance(value, tuple) and hasattr(kind, "_fields"):
        return f"found a {name} of {', '.join(kind._fields)}: put the one that is meant in a list"
    return None


def _is_table(value: object) -> bool:
    return hasattr(type(value), "columns") or hasattr(type(value), "column_names")


def _column_of(table: Any) -> str:
    """The code that takes the column of texts of a table."""
    names = getattr(table, "column_names" if hasattr(type(table), "column_names") else "columns")
    found = [] if names is None or callable(names) else list(names)
    column = _TEXT_COLUMN if _TEXT_COLUMN in found or not found else found[0]
    listed = f" (its columns: {', '.join(map(repr, found[:8]))})" if found else ""
    arrow = ".to_pylist()" if type(table).__module__.startswith("pyarrow") else ""
    return f"frame[{column!r}]{arrow}{listed}"


def _values_of(mapping: Mapping[Any, Any]) -> str:
    """The code that takes the texts of a mapping, of columns or of tables or of anything else."""
    if _TEXT_COLUMN in mapping:
        return f"d[{_TEXT_COLUMN!r}]"
    first = next(iter(mapping), None)
    inner = type(mapping[first]) if first is not None else None
    if hasattr(inner, "columns") or hasattr(inner, "column_names"):
        return f"d[{first!r}][{_TEXT_COLUMN!r}]"
    return "list(d.values())"
