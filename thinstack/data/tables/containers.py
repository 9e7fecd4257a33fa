"""Containers that do not iterate over their texts, sentences or rows, such as a DataFrame or a
dict, and what to pass instead."""

import os
from collections import UserString
from collections.abc import Iterable, Mapping
from io import BufferedIOBase, RawIOBase
from typing import Final

import numpy as np

from thinstack.core import Tree
from thinstack.errors import InputError, shown

_QUOTED: Final = (str, bytes, bytearray, memoryview, os.PathLike)
"""Types whose value a message shows; for others, it names the type."""
_TYPES: Final = (*_QUOTED, UserString, RawIOBase, BufferedIOBase, Mapping, Tree)
_TABLES: Final = ("columns", "column_names")
_MEMBERS: Final = (*_TABLES, "to_pylist", "sents", "is_sent_start", "leaves", "_fields")
"""Attributes of tables, Arrow arrays, spaCy objects, nltk trees and named tuples."""


def check_container(value: object, expected: str, advice: str | None = None) -> None:
    """Raise InputError, which says what is `expected`, for an object that cannot be iterated, or
    that `instead_of` recognizes."""
    if problem := instead_of(value, advice):
        raise InputError(f"expected {expected}, {problem}")
    unordered = isinstance(value, np.generic) or not hasattr(type(value), "__getitem__")
    if not isinstance(value, Iterable) and unordered:
        raise InputError(f"expected {expected}, found {shown(value, 60)}: pass a list of them")


def check_rows(value: object) -> None:
    """Raise InputError for an object that does not iterate over mappings of columns to cells."""
    if hasattr(type(value), "columns") or not hasattr(type(value), "column_names"):
        advice = (
            "pass rows, such as frame.to_dict('records') in pandas, .to_dicts() in polars, "
            ".to_pylist() in Arrow, or csv.DictReader(file)"
        )
        check_container(value, "rows, each a mapping of columns", advice)


def instead_of(value: object, advice: str | None = None) -> str | None:
    """Describe an object that does not iterate over texts, sentences or rows, and what to pass
    instead (`advice`): a table, a mapping, an array of other dimensions, a single text, a Doc, a
    tree, a path or a binary file. None for any other object."""
    mode = getattr(value, "mode", None)  # from a file wrapper
    axes = 1 if isinstance(value, np.generic) else getattr(value, "ndim", 1)
    members = any(hasattr(type(value), name) for name in _MEMBERS)
    binary = isinstance(mode, str) and "b" in mode
    if not (isinstance(value, _TYPES) or members or binary or axes != 1):
        return None
    if advice is None:
        advice = "pass a list, such as [text] or [doc.text], or a file opened in text mode"
        tabular = isinstance(value, Mapping | np.ndarray)
        if isinstance(value, Tree) or hasattr(type(value), "leaves"):
            advice = "put a single tree in a list; thinstack.from_nltk reads nltk trees"
        elif tabular or any(hasattr(value, name) for name in _TABLES):
            advice = "pass one column, such as table['text'], or call thinstack.score_frame"
    what = shown(value, 60) if isinstance(value, _QUOTED) else f"a {type(value).__name__}"
    return f"found {what}: {advice}"
