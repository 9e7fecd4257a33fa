"""CoNLL-U: dependency trees, a word a line in ten columns
(https://universaldependencies.org/format.html).

Node i of a tree is word i, its label the word's relation to its head. `_` in the column DEPREL is
the label None.
"""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from thinstack.core import Tree
from thinstack.core.tree import depths
from thinstack.data.text_files import made, read_lines, write_lines
from thinstack.errors import DataError, TreeError

__all__ = ["read_conllu", "to_conllu", "write_conllu"]

ID, FORM, HEAD, DEPREL, COLUMNS = 0, 1, 6, 7, 10

_NUMBER = "0|[1-9][0-9]{0,17}"  # digits that int64 holds
_HEAD = re.compile(_NUMBER)
# The ID of a word `3`, a multiword token `3-4`, an empty node `3.1`.
_ID = re.compile(f"({_NUMBER})(?:([-.])([1-9][0-9]{{0,17}}))?")
_ENDS = re.compile("[\t\n\r]")  # of a column, and of a line, to some readers


def read_conllu(path: str | Path, *, skipped: list[TreeError] | None = None) -> list[Tree]:
    """Read the sentences of a file; the words of multiword tokens (`3-4`) are read, they and empty
    nodes (`3.1`) left out.

    Malformed sentences go to `skipped` (see `made`), with file, line and column. Raises TreeError
    for the first of them without it; DataError for a file that is missing, is not UTF-8 or holds
    no sentence.
    """
    sentences = _sentences(path)
    if not sentences:
        raise DataError(
            f"{path}: expected sentences in CoNLL-U, a word a line in {COLUMNS} columns, found none"
        )
    return made(_tree, sentences, skipped)


def write_conllu(trees: Iterable[Tree], path: str | Path) -> None:
    """Write a file that `read_conllu` reads as the same trees.

    Raises what `to_conllu` raises, with the number of the tree, counted from 0; DataError where the
    file cannot be written.
    """
    lines: list[str] = []
    for number, tree in enumerate(trees):
        try:
            lines += to_conllu(tree).removesuffix("\n").split("\n")
        except TreeError as error:
            raise TreeError(f"tree {number}: {error.message}") from None
    write_lines(path, lines)


def to_conllu(tree: Tree) -> str:
    """The lines of a tree and the empty one behind them, with FORM, HEAD and DEPREL and `_` in the
    other columns.

    Raises TreeError for a tree with a node without a word, and for a word or label that a column
    cannot hold: an empty one, one with a tab or an end of line, a label `_`.
    """
    lines = []
    nodes = zip(tree.parents.tolist(), tree.tokens, tree.labels, strict=True)
    for node, (parent, word, label) in enumerate(nodes):
        if word is None:
            raise TreeError(f"node {node} has no word; in CoNLL-U every node has one")
        for what, text in (("word", word), ("label", label)):
            if text is not None and (not text or _ENDS.search(text)):
                raise TreeError(
                    f"node {node} has the {what} {text!r}; CoNLL-U holds no empty one, no tab and "
                    "no end of line"
                )
        if label == "_":
            raise TreeError(f"node {node} has the label '_', CoNLL-U's sign for none; make it None")
        lines.append(f"{node + 1}\t{word}\t_\t_\t_\t_\t{parent + 1}\t{label or '_'}\t_\t_\n")
    return "".join(lines) + "\n"


class _Row(NamedTuple):
    """A line that is no comment."""

    source: str
    line: int
    columns: list[str]

    def error(self, column: int, expected: str, found: object) -> TreeError:
        """What was expected where a column (0-based) starts, or at the end of the line if there is
        no such column."""
        start = sum(len(text) + 1 for text in self.columns[:column]) + (column < len(self.columns))
        return TreeError(
            f"expected {expected}, found {found}", source=self.source, line=self.line, column=start
        )


def _sentences(path: str | Path) -> list[list[_Row]]:
    """The rows of each sentence; comments alone make none."""
    sentences: list[list[_Row]] = [[]]
    for number, text in enumerate(read_lines(path), start=1):
        if not text.strip():
            sentences.append([])
        elif not text.startswith("#"):
            sentences[-1].append(_Row(str(path), number, text.split("\t")))
    return [rows for rows in sentences if rows]


def _tree(sentence: list[_Row]) -> Tree:
    words = _words(sentence)
    labels = (row.columns[DEPREL] for row in words)
    return Tree.from_parents(
        _parents(words),
        [row.columns[FORM] for row in words],
        [None if label == "_" else label for label in labels],
    )


def _words(sentence: list[_Row]) -> list[_Row]:
    """The rows of words. They count from 1; a multiword token stands before its words, an empty
    node behind its word."""
    words: list[_Row] = []
    covered, cover = 0, sentence[0]
    for row in sentence:
        _check_columns(row)
        found = _ID.fullmatch(row.columns[ID])
        first, mark, end = found.groups("") if found else ("", "", "")
        due = len(words) + 1
        if first != str(due - (mark == ".")) or (mark == "-" and int(end) < due):
            expected = f"word {due} ({due}-n for a multiword token, {due - 1}.n for an empty node)"
            raise row.error(ID, expected, repr(row.columns[ID]))
        if not mark:
            words.append(row)
        elif mark == "-" and int(end) > covered:
            covered, cover = int(end), row
    if not words:
        raise sentence[0].error(ID, "a sentence of at least one word", "none")
    if covered > len(words):
        raise cover.error(
            ID, f"a multiword token of words up to {len(words)}", repr(cover.columns[ID])
        )
    return words


def _check_columns(row: _Row) -> None:
    if len(row.columns) != COLUMNS:
        raise row.error(
            min(COLUMNS, len(row.columns)), f"{COLUMNS} columns between tabs", len(row.columns)
        )
    for column, expected in ((FORM, "a word"), (DEPREL, "a relation, or _ for none")):
        if not row.columns[column]:
            raise row.error(column, expected, "an empty column")


def _parents(words: list[_Row]) -> NDArray[np.int64]:
    """The position of each word's head, (N,), -1 for the one root."""
    heads = []
    for row in words:
        text = row.columns[HEAD]
        if not _HEAD.fullmatch(text) or int(text) > len(words):
            raise row.error(HEAD, f"a head from 1 to {len(words)}, or 0 for the root", repr(text))
        heads.append(int(text))
    roots = [row for row, head in zip(words, heads, strict=True) if head == 0]
    if len(roots) != 1:
        raise (*roots, words[0], words[0])[1].error(HEAD, "exactly one root (head 0)", len(roots))
    parents = np.array(heads, np.int64) - 1
    circling = np.flatnonzero(depths(parents) < 0).tolist()
    if circling:
        word = circling[0] + 1
        raise words[circling[0]].error(
            HEAD, "heads that lead to the root", f"that word {word} leads to a cycle"
        )
    return parents
