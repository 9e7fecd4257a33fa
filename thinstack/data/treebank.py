"""Reading treebanks of one Penn Treebank bracket tree a line, such as the Stanford Sentiment Treebank."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from thinstack.core import Tree
from thinstack.errors import DataError, TreeError

__all__ = ["Labelled", "label_ids", "read_labelled", "read_trees"]

Labelled = tuple[Tree, NDArray[np.int64]]
"""A tree and the class of each of its nodes, (N,), as `label_ids` gives them."""


def read_trees(path: str | Path, *, encoding: str = "utf-8") -> list[Tree]:
    """Read a file of one bracketed tree a line; blank lines and a byte order mark are skipped.

    Raises TreeError with file, line and column of a malformed tree, DataError for a file that is missing, is not in
    `encoding` or holds no tree.
    """
    return [tree for _, tree in _numbered(path, encoding)]


def read_labelled(path: str | Path, labels: Sequence[str], *, encoding: str = "utf-8") -> list[Labelled]:
    """Read trees as `read_trees` does, each with its nodes' `label_ids` (N,); raises what both raise, with file and line."""
    found = []
    for line, tree in _numbered(path, encoding):
        try:
            found.append((tree, label_ids(tree, labels)))
        except TreeError as error:
            raise TreeError(error.message, source=str(path), line=line) from None
    return found


def label_ids(tree: Tree, labels: Sequence[str]) -> NDArray[np.int64]:
    """The class of each node, (N,); -1 where a node has no label.

    A node's label is the name of one of the C classes `labels`, or its number "0" to "C-1" (a name wins over a number).
    Raises TreeError for any other label.
    """
    known: dict[str | None, int] = {str(number): number for number in range(len(labels))}
    known.update((name, number) for number, name in enumerate(labels))
    known[None] = -1
    try:
        return np.array([known[label] for label in tree.labels], np.int64)
    except KeyError:
        node = next(node for node, label in enumerate(tree.labels) if label not in known)
        start, end = tree.spans[node].tolist()
        raise TreeError(
            f"node {node} ({' '.join(tree.words[start:end])[:60]!r}) has the label {tree.labels[node]!r}; "
            f"expected one of {', '.join(labels)} or a number from 0 to {len(labels) - 1}"
        ) from None


def _numbered(path: str | Path, encoding: str) -> Iterator[tuple[int, Tree]]:
    """Each tree with its line number (1-based)."""
    empty = True
    # Split at "\n" only: treebanks hold no-break spaces and other separators of Unicode inside words.
    for line, text in enumerate(_read(path, encoding).split("\n"), start=1):
        if text.strip():
            empty = False
            yield line, Tree.from_brackets(text, source=str(path), line=line)
    if empty:
        raise DataError(f"{path}: expected one bracketed tree a line, such as (3 (2 The) (4 acting)), found no tree at all")


def _read(path: str | Path, encoding: str) -> str:
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from None
    try:
        return data.decode(encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DataError(
            f"{path}:{line}: expected text in {encoding}, found the byte 0x{data[error.start]:02x} "
            f"at position {error.start}; convert the file, or name its encoding"
        ) from None
    except LookupError:
        raise DataError(f"{path}: unknown encoding {encoding!r}") from None
