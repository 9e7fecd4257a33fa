"""Read treebanks of Penn Treebank brackets, such as the Stanford Sentiment Treebank.

A tree may continue on lines that are indented deeper than its first line, or start with `)`. The
next tree starts on another line. A tree with open brackets ends at a blank line, and at a line
indented no deeper than the trees of the file, so that a malformed tree does not affect others.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from thinstack.core import Tree
from thinstack.data.trees.brackets import SPACE, from_brackets
from thinstack.data.trees.text_files import collect, read_text
from thinstack.errors import DataError, TreeError

Labelled = tuple[Tree, NDArray[np.int64]]
"""A tree and the class of each node, (N,), from `label_ids`."""


def read_trees(
    path: str | Path,
    *,
    labelled: bool = True,
    encoding: str = "utf-8",
    skipped: list[TreeError] | None = None,
) -> list[Tree]:
    """Read the bracketed trees of a file. Blank lines and a byte order mark are ignored.

    `labelled`: True for brackets with labels, as in `(3 (2 The) (4 acting))`, False for `( The
    acting )`. The list `skipped` receives the errors of malformed trees (see `collect`).

    Raises TreeError with file, line and column for the first malformed tree without `skipped`.
    Raises DataError for a file that is missing, is invalid in `encoding` or contains no tree.
    """
    return [tree for _, tree in _numbered(path, labelled, encoding, skipped)]


def read_labelled(
    path: str | Path,
    labels: Sequence[str],
    *,
    skipped: list[TreeError] | None = None,
    read: Callable[[str | Path], list[Tree]] | None = None,
    relabel: Mapping[str, str] | None = None,
) -> list[Labelled]:
    """Read the trees of a file, with the classes (N,) of their nodes from `label_ids`.

    `read`: reads the file, by default `read_trees`. `relabel`: {label: new label}, or "" to remove
    a label. With `relabel`, sentences without a class are omitted.

    Raises the errors of the reader and of `label_ids`. A tree with an unknown label is malformed;
    its error names the file and the line or, with `read`, the index of the tree, from 0.
    """

    def one(numbered: tuple[int, Tree]) -> Labelled:
        place, tree = numbered
        if relabel:
            tree = tree.with_labels(
                None if name is None else relabel.get(name, name) or None for name in tree.labels
            )
        try:
            return tree, label_ids(tree, labels)
        except TreeError as error:
            if read is None:
                raise TreeError(error.message, source=str(path), line=place) from None
            raise TreeError(f"tree {place}: {error.message}", source=str(path)) from None

    trees = _numbered(path, True, "utf-8", skipped) if read is None else enumerate(read(path))
    labelled = collect(one, trees, skipped)
    return [(tree, ids) for tree, ids in labelled if not relabel or ids[tree.root] >= 0]


def label_ids(tree: Tree, labels: Sequence[str]) -> NDArray[np.int64]:
    """Return the class of each node, (N,), or -1 if the node has no label.

    A label is the name of one of the C classes `labels`, or its number from "0" to "C-1". If a name
    is also a number, the name takes precedence. Raises TreeError for any other label.
    """
    numbers: dict[str | None, int] = {str(number): number for number in range(len(labels))}
    numbers.update((name, number) for number, name in enumerate(labels))
    numbers[None] = -1
    try:
        return np.array([numbers[label] for label in tree.labels], np.int64)
    except KeyError:
        node = next(node for node, label in enumerate(tree.labels) if label not in numbers)
        start, end = tree.spans[node].tolist()
        phrase = " ".join(tree.words[start:end])[:60]
        raise TreeError(
            f"node {node} ({phrase!r}) has the label {tree.labels[node]!r}; expected one of "
            f"{', '.join(labels)} or a number from 0 to {len(labels) - 1}; fix the label, or "
            "rename it (task.relabel in a recipe)"
        ) from None


def _numbered(
    path: str | Path, labelled: bool, encoding: str, skipped: list[TreeError] | None
) -> Iterator[tuple[int, Tree]]:
    """Iterate over the trees with the number of their first line, from 1."""

    def trees(block: list[tuple[int, str]]) -> list[tuple[int, Tree]]:
        read = partial(from_brackets, labelled=labelled, source=str(path))
        return [(line, read(text, line=line)) for line, text in block]

    blocks = list(_blocks(read_text(path, encoding)))
    if not blocks:
        example = "(3 (2 The) (4 acting))" if labelled else "( The acting )"
        problem = f"expected bracketed trees, such as {example}, found no tree"
        raise DataError(f"{path}: {problem}; if the file has another format, set it")
    for block in blocks:  # one by one, to keep the errors of labels in order
        yield from chain.from_iterable(collect(trees, [block], skipped))


def _blocks(text: str) -> Iterator[list[tuple[int, str]]]:
    """Iterate over the blocks: the texts of their trees, with the number of their first line."""
    # Split at "\n" only: words may contain other Unicode line separators.
    lines = text.split("\n")
    block: list[tuple[int, str]] = []
    level = len(text)  # smallest indentation of a tree so far
    # The first line of the current tree, and the number of open brackets (negative if too many are
    # closed).
    first = opened = 0
    for number, line in enumerate([*lines, ""]):
        indent = len(line) - len(line.lstrip(SPACE))
        blank = indent == len(line)
        if blank or (indent <= level and line[indent] != ")"):
            if opened:
                block.append((first + 1, "\n".join(lines[first:number])))
            if block:
                yield block
            block, opened = [], 0
        if blank:
            continue
        if not opened:
            first, level = number, min(level, indent)
        opened += line.count("(") - line.count(")")
        if not opened:
            block.append((first + 1, "\n".join(lines[first : number + 1])))
