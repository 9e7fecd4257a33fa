"""Reading trees from parallel files of parent arrays, as the SICK preprocessing of Tai et al. (2015) writes them.

Line i of every file is about sentence i. Nodes are counted from 1, and 0 stands for the parent of the root.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from thinstack.core import Tree
from thinstack.core.tree import depths
from thinstack.errors import DataError, TreeError

__all__ = ["read_constituency_trees", "read_dependency_trees", "read_lines"]

# ASCII white space only: treebanks hold no-break spaces inside words.
_ENTRY = re.compile(r"[^ \t\r\f\v]+")
_NOWHERE = -2


def read_dependency_trees(toks: str | Path, parents: str | Path, rels: str | Path | None = None) -> list[Tree]:
    """Read sentences and the head of each word; node i of a tree is word i.

    Args:
        toks: file of one sentence a line, its n words between spaces.
        parents: file of n heads a line, 1 to n, 0 for the root.
        rels: file of n names a line: each word's relation to its head. They become the labels; without it there are none.

    Raises TreeError with file, line and, where it can be told, column of what is no tree; DataError for a file that is
    missing, is not UTF-8, holds no line, or has not as many lines as `toks`.
    """
    trees = []
    for lines in _aligned(toks, parents, *([] if rels is None else [rels])):
        words = _words(lines[0])
        heads = _positions(lines[1], len(words), "heads, one for each word")
        names = None if rels is None else _entries(lines[2], len(words), "relations, one for each word")
        trees.append(_tree(lines[1], heads, words, names))
    return trees


def read_constituency_trees(toks: str | Path, cparents: str | Path) -> list[Tree]:
    """Read sentences and their binary trees; the nodes come in transition order and have no labels.

    Args:
        toks: file of one sentence a line, its n words between spaces.
        cparents: file of 2n-1 parents a line, 1 to 2n-1, 0 for the root: those of the n words, then those of the phrases.

    Raises what `read_dependency_trees` raises; also TreeError unless every phrase, and no word, has two children.
    """
    trees = []
    for sentence, line in _aligned(toks, cparents):
        words = _words(sentence)
        nodes = 2 * len(words) - 1
        parents = _positions(line, nodes, f"parents, of {len(words)} words and {len(words) - 1} phrases")
        _check_binary(line, parents, len(words))
        trees.append(_tree(line, parents, [*words, *[None] * (nodes - len(words))]))
    return trees


def read_lines(path: str | Path) -> list[str]:
    """The lines of a file in UTF-8, without a byte order mark and their ends.

    Raises DataError for a file that is missing, is not UTF-8 or holds no line.
    """
    try:
        text = Path(path).read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise DataError(f"{path}:{line}: expected text in UTF-8, found {error.object[error.start : error.end]!r}") from None
    if not text:
        raise DataError(f"{path}: expected one sentence or pair a line, found an empty file")
    # Split at "\n" only: words may hold any other separator of Unicode.
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]


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
            raise DataError(f"{path}: expected {len(files[0])} lines, as many as {paths[0]} has, found {len(lines)}")
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
        raise line.error(wrong, f"expected a node from 1 to {nodes}, or 0 for the root, found {entries[wrong]!r}")
    roots = [node for node, above in enumerate(parents) if above < 0]
    if len(roots) != 1:
        raise line.error((*roots, nodes, nodes)[1], f"expected exactly one root (0), found {len(roots)}")
    circling = np.flatnonzero(depths(np.array(parents)) < 0).tolist()
    if circling:
        raise line.error(
            circling[0], f"expected every node to lead to the root, found node {circling[0] + 1} to lead to a cycle"
        )
    return parents


def _check_binary(line: _Line, parents: list[int], words: int) -> None:
    children = Counter(parents)
    for node in range(len(parents)):
        expected, kind = (0, "word") if node < words else (2, "phrase")
        if children[node] != expected:
            raise line.error(node, f"{kind} {node + 1}: expected {expected} children, found {children[node]}")


def _tree(line: _Line, parents: list[int], tokens: Sequence[str | None], labels: list[str] | None = None) -> Tree:
    try:
        return Tree.from_parents(parents, tokens, labels)
    except TreeError as error:
        raise TreeError(f"{error.message} (nodes counted from 0)", source=line.source, line=line.number) from None
