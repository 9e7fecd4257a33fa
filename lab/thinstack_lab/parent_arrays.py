"""Reads and writes trees in parallel files of parent arrays, as the SICK preprocessing of Tai et
al. (2015) makes them.

Line i of every file is about sentence i. Nodes are counted from 1. 0 is the parent of the root.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from thinstack.core import Tree
from thinstack.core.transitions import SHIFT
from thinstack.data.trees.brackets import SPACE
from thinstack.data.trees.conllu import parse_parents
from thinstack.data.trees.text_files import Row, collect, read_lines, write_lines
from thinstack.errors import DataError, TreeError

_ENTRY = re.compile(f"[^{SPACE}]+")


def read_dependency_trees(
    toks: str | Path,
    parents: str | Path,
    rels: str | Path | None = None,
    *,
    skipped: list[TreeError] | None = None,
) -> list[Tree]:
    """The dependency trees of the sentences; node i of a tree is word i.

    Args:
        toks: file of one sentence a line, its n words separated by spaces.
        parents: file of n heads a line, from 1 to n, 0 for the root.
        rels: file of n names a line: each word's relation to its head. They become the labels.
        skipped: takes the errors of malformed trees (see `collect`).

    Raises TreeError with file, line and column for the first malformed tree if there is no
    `skipped`. Raises DataError for a file that is missing, is not UTF-8, is empty, or has another
    number of lines than `toks`.
    """

    def tree(rows: Sequence[Row]) -> Tree:
        words = _words(rows[0])
        heads = _parents(rows[1], len(words), "heads, one for each word")
        names = [_counted(row, len(words), "relations, one for each word") for row in rows[2:]]
        return Tree.from_parents(heads, words, *names)

    files = [toks, parents] if rels is None else [toks, parents, rels]
    return collect(tree, _aligned(*files), skipped)


def read_constituency_trees(
    toks: str | Path, cparents: str | Path, *, skipped: list[TreeError] | None = None
) -> list[Tree]:
    """The binary trees of the sentences. Their nodes are in transition order and have no labels.

    `cparents`: file of 2n-1 parents a line, from 1 to 2n-1, 0 for the root. The parents of the n
    words come first, then the parents of the phrases. `toks`, `skipped` and errors are as in
    `read_dependency_trees`. A tree is malformed too unless every phrase has two children and every
    word has none.
    """

    def tree(rows: Sequence[Row]) -> Tree:
        words = _words(rows[0])
        count, phrases = len(words), len(words) - 1
        what = f"parents, of {count} words and {phrases} phrases"
        parents = _parents(rows[1], count + phrases, what)
        for node, children in enumerate(np.bincount(parents + 1, minlength=2 * count)[1:].tolist()):
            expected, kind = (0, "word") if node < count else (2, "phrase")
            if children != expected:
                message = f"{kind} {node + 1}: expected {expected} children, found {children}"
                raise rows[1].error(node, message)
        tokens = [*words, *[None] * phrases]
        try:
            return Tree.from_parents(parents, tokens)
        except TreeError:  # in this order the words fit no binary tree
            bare = Tree(parents=parents, tokens=tuple(tokens), labels=(None,) * len(tokens))
            node = int(np.flatnonzero(bare.gaps)[0])
            message = "expected adjacent words, found others between them"
            raise rows[1].error(node, f"phrase {node + 1}: {message}") from None

    return collect(tree, _aligned(toks, cparents), skipped)


def write_dependency_trees(
    trees: Iterable[Tree], toks: str | Path, parents: str | Path, rels: str | Path | None = None
) -> None:
    """Write files from which `read_dependency_trees` reads the same trees. Labels are left out
    unless `rels` is given.

    Raises TreeError for a word, and with `rels` a label, that is missing, empty or holds white
    space. The error names the file and the line that the tree would be on. Raises DataError for a
    file that cannot be written.
    """
    trees = list(trees)
    words = _lines([tree.tokens for tree in trees], "word", toks)
    labels = [] if rels is None else _lines([tree.labels for tree in trees], "label", rels)
    write_lines(toks, words)
    write_lines(parents, [_numbers(tree.parents) for tree in trees])
    if rels is not None:
        write_lines(rels, labels)


def write_constituency_trees(trees: Iterable[Tree], toks: str | Path, cparents: str | Path) -> None:
    """Write files from which `read_constituency_trees` reads the same trees, without their labels.

    Raises what `write_dependency_trees` raises. Also raises TreeError for a tree that is not binary
    or has a word at an inner node.
    """
    words, numbers = [], []
    for number, tree in enumerate(trees, start=1):
        try:
            steps = tree.transitions
        except TreeError as error:
            raise TreeError(error.message, source=str(cparents), line=number) from None
        order = np.argsort(steps != SHIFT, kind="stable")  # words, then phrases
        above = tree.parents[order]
        numbers.append(_numbers(np.where(above < 0, -1, np.argsort(order)[above])))
        words.append(tree.words)
    write_lines(toks, _lines(words, "word", toks))
    write_lines(cparents, numbers)


def _aligned(*paths: str | Path) -> Iterator[list[Row]]:
    """The rows of several files, side by side."""
    files = [read_lines(path) for path in paths]
    for path, lines in zip(paths, files, strict=True):
        if len(lines) != len(files[0]):
            expected = f"{len(files[0])} lines, as many as {paths[0]} has"
            raise DataError(f"{path}: expected {expected}, found {len(lines)} lines")
    for number, texts in enumerate(zip(*files, strict=True), start=1):
        placed = zip(map(str, paths), texts, strict=True)
        yield [Row(path, number, text, _ENTRY.findall(text)) for path, text in placed]


def _words(row: Row) -> list[str]:
    if not row.entries:
        raise row.error(0, "expected a sentence of at least one word, found none")
    return row.entries


def _counted(row: Row, count: int, what: str) -> list[str]:
    if (entries := len(row.entries)) != count:
        raise row.error(min(count, entries), f"expected {count} {what}, found {entries}")
    return row.entries


def _parents(row: Row, nodes: int, what: str) -> NDArray[np.int64]:
    return parse_parents(_counted(row, nodes, what), row.error)


def _lines(trees: Sequence[Sequence[str | None]], what: str, path: str | Path) -> list[str]:
    """The words or labels of each tree as a line of a file."""
    for number, entries in enumerate(trees, start=1):
        for node, entry in enumerate(entries, start=1):
            if entry is None or not _ENTRY.fullmatch(entry):
                expected = f"expected a {what} that is not empty and has no white space"
                message = f"the {what} {node} of the tree is {entry!r}; {expected}"
                raise TreeError(message, source=str(path), line=number)
    return [" ".join(map(str, entries)) for entries in trees]


def _numbers(parents: NDArray[np.int64]) -> str:
    return " ".join(map(str, (parents + 1).tolist()))
