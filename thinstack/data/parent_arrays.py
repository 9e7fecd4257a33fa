"""Trees in parallel files of parent arrays, as the SICK preprocessing of Tai et al. (2015) writes
them.

Line i of every file is about sentence i. Nodes are counted from 1, and 0 stands for the parent of
the root.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from thinstack.core import Tree
from thinstack.core.transitions import SHIFT
from thinstack.core.tree import depths
from thinstack.data.brackets import SPACE
from thinstack.data.text_files import made, read_lines, write_lines
from thinstack.errors import DataError, TreeError

__all__ = [
    "read_constituency_trees",
    "read_dependency_trees",
    "write_constituency_trees",
    "write_dependency_trees",
]

_ENTRY = re.compile(f"[^{SPACE}]+")
_NOWHERE = -2


def read_dependency_trees(
    toks: str | Path,
    parents: str | Path,
    rels: str | Path | None = None,
    *,
    skipped: list[TreeError] | None = None,
) -> list[Tree]:
    """Read sentences and the head of each word; node i of a tree is word i.

    Args:
        toks: file of one sentence a line, its n words between spaces.
        parents: file of n heads a line, 1 to n, 0 for the root.
        rels: file of n names a line: each word's relation to its head. They become the labels;
            without it there are none.
        skipped: takes the errors of malformed trees, see `made`.

    Raises TreeError with file, line and column of the first malformed tree without `skipped`;
    DataError for a file that is missing, is not UTF-8, holds no line, or has not as many lines as
    `toks`.
    """

    def tree(lines: tuple[_Line, ...]) -> Tree:
        words = _words(lines[0])
        heads = _positions(lines[1], len(words), "heads, one for each word")
        names = [_entries(line, len(words), "relations, one for each word") for line in lines[2:]]
        return Tree.from_parents(heads, words, *names)

    files = [toks, parents] if rels is None else [toks, parents, rels]
    return made(tree, _aligned(*files), skipped)


def read_constituency_trees(
    toks: str | Path, cparents: str | Path, *, skipped: list[TreeError] | None = None
) -> list[Tree]:
    """Read sentences and their binary trees; the nodes come in transition order and have no labels.

    Args:
        toks: file of one sentence a line, its n words between spaces.
        cparents: file of 2n-1 parents a line, 1 to 2n-1, 0 for the root: those of the n words, then
            those of the phrases.
        skipped: takes the errors of malformed trees, see `made`.

    Raises what `read_dependency_trees` raises; also TreeError unless every phrase, and no word, has
    two children.
    """

    def tree(lines: tuple[_Line, ...]) -> Tree:
        words = _words(lines[0])
        phrases = len(words) - 1
        parents = _positions(
            lines[1], len(words) + phrases, f"parents, of {len(words)} words and {phrases} phrases"
        )
        _check_binary(lines[1], parents, len(words))
        tokens = [*words, *[None] * phrases]
        try:
            return Tree.from_parents(parents, tokens)
        except TreeError:
            raise _crossing(lines[1], parents, tokens) from None

    return made(tree, _aligned(toks, cparents), skipped)


def write_dependency_trees(
    trees: Iterable[Tree], toks: str | Path, parents: str | Path, rels: str | Path | None = None
) -> None:
    """Write files from which `read_dependency_trees` reads the same trees; labels are left out
    unless `rels` is given.

    Raises TreeError, with the file and line that the tree would be on, for a node without a word,
    for a word that is empty or holds white space, and with `rels` for such a label or none;
    DataError for a file that cannot be written.
    """
    columns: list[tuple[str, str, str]] = []
    for number, tree in enumerate(trees, start=1):
        words = _line(tree.tokens, "word", toks, number)
        names = "" if rels is None else _line(tree.labels, "label", rels, number)
        columns.append((words, _numbers(tree.parents), names))
    for place, path in enumerate((toks, parents, rels)):
        if path is not None:
            write_lines(path, [column[place] for column in columns])


def write_constituency_trees(trees: Iterable[Tree], toks: str | Path, cparents: str | Path) -> None:
    """Write files from which `read_constituency_trees` reads the same trees, their labels left out.

    Raises TreeError, with the file and line that the tree would be on, for a tree that is not
    binary, has a word at an inner node, or has a word that is empty or holds white space; DataError
    for a file that cannot be written.
    """
    columns: list[tuple[str, str]] = []
    for number, tree in enumerate(trees, start=1):
        try:
            steps = tree.transitions
        except TreeError as error:
            raise TreeError(error.message, source=str(cparents), line=number) from None
        order = np.argsort(steps != SHIFT, kind="stable")  # words, then phrases
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        above = tree.parents[order]
        words = _line(tree.words, "word", toks, number)
        columns.append((words, _numbers(np.where(above < 0, -1, rank[above]))))
    for place, path in enumerate((toks, cparents)):
        write_lines(path, [column[place] for column in columns])


class _Line(NamedTuple):
    source: str
    number: int
    text: str

    def error(self, entry: int, message: str) -> TreeError:
        """What is wrong at an entry (0-based), or where it should have been."""
        starts = [match.start() for match in _ENTRY.finditer(self.text)]
        column = starts[entry] if entry < len(starts) else len(self.text)
        return TreeError(message, source=self.source, line=self.number, column=column + 1)


def _aligned(*paths: str | Path) -> Iterator[tuple[_Line, ...]]:
    """The lines of several files, side by side."""
    files = [read_lines(path) for path in paths]
    for path, lines in zip(paths, files, strict=True):
        if len(lines) != len(files[0]):
            raise DataError(
                f"{path}: expected {len(files[0])} lines, as many as {paths[0]} has, found "
                f"{len(lines)}"
            )
    for number, texts in enumerate(zip(*files, strict=True), start=1):
        yield tuple(_Line(str(path), number, text) for path, text in zip(paths, texts, strict=True))


def _words(line: _Line) -> list[str]:
    words = _ENTRY.findall(line.text)
    if not words:
        raise line.error(0, "expected a sentence of at least one word, found none")
    return words


def _entries(line: _Line, count: int, what: str) -> list[str]:
    found = _ENTRY.findall(line.text)
    if len(found) != count:
        raise line.error(min(count, len(found)), f"expected {count} {what}, found {len(found)}")
    return found


def _positions(line: _Line, nodes: int, what: str) -> list[int]:
    """The parent of each node, 0-based, -1 for the one root."""
    numbers = {str(number): number - 1 for number in range(nodes + 1)}
    entries = _entries(line, nodes, what)
    parents = [numbers.get(entry, _NOWHERE) for entry in entries]
    if _NOWHERE in parents:
        wrong = parents.index(_NOWHERE)
        raise line.error(
            wrong, f"expected a node from 1 to {nodes}, or 0 for the root, found {entries[wrong]!r}"
        )
    roots = [node for node, above in enumerate(parents) if above < 0]
    if len(roots) != 1:
        place = (*roots, nodes, nodes)[1]
        raise line.error(place, f"expected exactly one root (0), found {len(roots)}")
    for node in np.flatnonzero(depths(np.array(parents)) < 0).tolist():
        found = f"found node {node + 1} to lead to a cycle"
        raise line.error(node, f"expected every node to lead to the root, {found}")
    return parents


def _check_binary(line: _Line, parents: list[int], words: int) -> None:
    children = Counter(parents)
    for node in range(len(parents)):
        expected, kind = (0, "word") if node < words else (2, "phrase")
        if children[node] != expected:
            raise line.error(
                node, f"{kind} {node + 1}: expected {expected} children, found {children[node]}"
            )


def _crossing(line: _Line, parents: list[int], tokens: list[str | None]) -> TreeError:
    """What is wrong with a binary tree that no words in this order fit."""
    tree = Tree(parents=np.array(parents), tokens=tuple(tokens), labels=(None,) * len(tokens))
    phrase = int(np.flatnonzero(tree.gaps)[0])
    return line.error(
        phrase,
        f"phrase {phrase + 1}: expected words that stand side by side, found others between them",
    )


def _line(entries: Sequence[str | None], what: str, path: str | Path, number: int) -> str:
    """The words or labels of a tree as a line of a file."""
    for node, entry in enumerate(entries):
        if entry is None or not _ENTRY.fullmatch(entry):
            raise TreeError(
                f"the {what} {node + 1} of the tree is {entry!r}; the file holds no empty {what}, "
                "and none with white space",
                source=str(path),
                line=number,
            )
    return " ".join(map(str, entries))


def _numbers(parents: NDArray[np.int64]) -> str:
    return " ".join(map(str, (parents + 1).tolist()))
