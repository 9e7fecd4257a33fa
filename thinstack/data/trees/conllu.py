"""Read and write CoNLL-U: dependency trees, one word per line in ten columns
(https://universaldependencies.org/format.html).

Node i of a tree is word i. Its label is the word's relation to its head, None for `_` in the column
DEPREL; or, in labelled files, its class.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from thinstack.core import Tree
from thinstack.core.tree import depths
from thinstack.data.trees.text_files import Row, collect, read_lines, write_lines
from thinstack.errors import DataError, TreeError

ID, FORM, HEAD, DEPREL, MISC, COLUMNS = 0, 1, 6, 7, 9, 10

_NUMBER = "0|[1-9][0-9]{0,17}"  # digits that fit into int64
# The ID of a word `3`, a multiword token `3-4`, or an empty node `3.1`.
_ID = re.compile(f"({_NUMBER})(?:([-.])([1-9][0-9]{{0,17}}))?")
_LABEL = re.compile(r"\s*label\s*=(.*)", re.IGNORECASE)
_ENDS = re.compile("[\t\n\r]")  # These end a column or, for some readers, a line.


def read_conllu(path: str | Path, *, skipped: list[TreeError] | None = None) -> list[Tree]:
    """Read the dependency tree of each sentence of a file.

    Multiword tokens (`3-4`) and empty nodes (`3.1`) are omitted; the words of a multiword token are
    read. The errors of malformed sentences, with file, line and column, are added to the list
    `skipped` (see `collect`).

    Raises TreeError for the first malformed sentence without `skipped`. Raises DataError for a file
    that is missing, is not UTF-8 or contains no sentence.
    """
    return collect(_tree, [rows for _, rows in blocks_of(path) if rows], skipped)


def read_labelled_conllu(path: str | Path, *, skipped: list[TreeError] | None = None) -> list[Tree]:
    """Read the dependency tree of each sentence of a file, labelled with classes.

    A comment `# label = NAME` sets the class of its sentence. `Label=NAME` in the column MISC sets
    the class of the subtree of a word:

        # label = positive
        1   good    good    ADJ     _   _   2   amod    _   Label=positive
        2   film    film    NOUN    _   _   0   root    _   _

    The label of a node is its class, or None without one. A node has one label, so relations
    (DEPREL) are not read.

    Raises and skips errors as `read_conllu` does. A sentence is also malformed if a label has no
    name, a node has two labels, or a label is at a multiword token, at an empty node, or in a
    comment without a sentence. Raises DataError if no sentence has a label.
    """
    read = collect(_labelled, blocks_of(path), skipped)
    trees = [tree for tree in read if tree is not None]
    if trees and not any(label for tree in trees for label in tree.labels):
        expected = "'# label = NAME' above a sentence or 'Label=NAME' in the MISC column of a word"
        raise DataError(
            f"{path}: expected labels, {expected}; found none; label the file, or read it as "
            "conllu.v1"
        )
    return trees


def write_conllu(trees: Iterable[Tree], path: str | Path) -> None:
    """Write a file that `read_conllu` reads as the same trees.

    Raises the errors of `to_conllu`, with the index of the tree, from 0. Raises DataError if the
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
    """Return the lines of a tree, followed by an empty line, with the columns ID, FORM, HEAD and
    DEPREL, and `_` in the others.

    Raises TreeError for a node without a word. Also for a word or label that is empty, or contains
    a tab or a line end, and for the label `_`.
    """
    lines = []
    nodes = zip(tree.parents.tolist(), tree.tokens, tree.labels, strict=True)
    for node, (parent, word, label) in enumerate(nodes):
        if word is None:
            raise TreeError(
                f"node {node} has no word, but CoNLL-U needs one per node: use a dependency tree"
            )
        for what, text in (("word", word), ("label", label)):
            if text is not None and (not text or _ENDS.search(text)):
                expected = f"a non-empty {what} without tabs or line breaks"
                raise TreeError(f"node {node} has the {what} {text!r}; CoNLL-U needs {expected}")
        if label == "_":
            raise TreeError(
                f"node {node} has the label '_', which in CoNLL-U means no label; make it None"
            )
        lines.append(f"{node + 1}\t{word}\t_\t_\t_\t_\t{parent + 1}\t{label or '_'}\t_\t_\n")
    return "".join(lines) + "\n"


def blocks_of(path: str | Path) -> list[tuple[list[Row], list[Row]]]:
    """Return the blocks between empty lines, split into columns: for each block, its comments and
    the lines of its sentence. Raises DataError as `read_conllu` does."""
    blocks: list[tuple[list[Row], list[Row]]] = [([], [])]
    for number, text in enumerate(read_lines(path), start=1):
        row = Row(str(path), number, text, text.split("\t"))
        if not text.strip():
            blocks.append(([], []))
        else:
            blocks[-1][not text.startswith("#")].append(row)
    if not any(rows for _, rows in blocks):
        expected = f"CoNLL-U sentences, one word per line in {COLUMNS} columns"
        raise DataError(f"{path}: expected {expected}, found none")
    return blocks


def _tree(sentence: list[Row]) -> Tree:
    """Return the tree of a sentence, labelled with relations. Raises TreeError with the place of
    the error."""
    words = _words(sentence)
    forms, heads, labels = ([row.entries[n] for row in words] for n in (FORM, HEAD, DEPREL))
    parents = parse_parents(heads, lambda n, message: words[n].error(HEAD, message))
    return Tree.from_parents(parents, forms, [None if name == "_" else name for name in labels])


def parse_parents(
    entries: Sequence[str], error: Callable[[int, str], TreeError]
) -> NDArray[np.int64]:
    """Return the parents (N,) of N nodes, from 0, with -1 for the single root. The entries count
    from "1"; "0" is the parent of the root.

    Raises the error that `error` returns for a node (from 0) and a message: for an invalid entry,
    for no root or several, and for a node whose ancestors form a cycle.
    """
    nodes = len(entries)
    numbers = {str(number): number - 1 for number in range(nodes + 1)}
    for node, entry in enumerate(entries):
        if entry not in numbers:
            expected = f"expected a node from 1 to {nodes}, or 0 for the root"
            raise error(node, f"{expected}, found {entry!r}")
    parents = np.array([numbers[entry] for entry in entries], np.int64)
    roots = np.flatnonzero(parents < 0).tolist()
    if len(roots) != 1:
        raise error((*roots, 0, 0)[1], f"expected exactly one root (0), found {len(roots)}")
    for node in np.flatnonzero(depths(parents) < 0).tolist():
        problem = f"found node {node + 1} to lead to a cycle"
        raise error(node, f"expected every node to lead to the root, {problem}")
    return parents


def _words(sentence: list[Row]) -> list[Row]:
    """Return the rows of a sentence that are words, in order.

    Words count from 1. A multiword token precedes its words, an empty node follows its word. Raises
    TreeError with the place of the first row that breaks this.
    """
    words: list[Row] = []
    covered, cover = 0, sentence[0]
    for row in sentence:
        if (count := len(row.entries)) != COLUMNS:
            message = f"expected {COLUMNS} columns between tabs, found {count}"
            raise row.error(min(COLUMNS, count), message)
        for column, expected in ((FORM, "a word"), (DEPREL, "a relation, or _ if it has none")):
            if not row.entries[column]:
                raise row.error(column, f"expected {expected}, found an empty column")
        match = _ID.fullmatch(row.entries[ID])
        first, mark, end = match.groups("") if match else ("", "", "")
        due = len(words) + 1
        if first != str(due - (mark == ".")) or (mark == "-" and int(end) < due):
            expected = f"word {due} ({due}-n for a multiword token, {due - 1}.n for an empty node)"
            raise row.error(ID, f"expected {expected}, found {row.entries[ID]!r}")
        if not mark:
            words.append(row)
        elif mark == "-" and int(end) > covered:
            covered, cover = int(end), row
    if not words:
        raise sentence[0].error(ID, "expected a sentence of at least one word, found none")
    if covered > len(words):
        expected = f"a multiword token of words up to {len(words)}"
        raise cover.error(ID, f"expected {expected}, found {cover.entries[ID]!r}")
    return words


def _labelled(block: tuple[list[Row], list[Row]]) -> Tree | None:
    """Return the tree of a block; None if it contains only comments without a label."""
    comments, rows = block
    above = [(row, 0, name) for row in comments for name in _names(row, 0)]
    if not rows:
        for row, place, _ in above:
            raise row.error(place, "expected a sentence below its label, found none")
        return None
    tree = _tree(rows)
    nodes = {row.line: node for node, row in enumerate(_words(rows))}
    nodes |= {row.line: tree.root for row in comments}
    labels: list[str | None] = [None] * len(tree)
    at_words = [(row, MISC, name) for row in rows for name in _names(row, MISC)]
    for row, place, name in above + at_words:
        if row.line not in nodes:
            raise row.error(place, f"expected labels only at words, found one at {row.entries[0]}")
        node = nodes[row.line]
        if labels[node] not in (None, name):
            both = f"{name!r} and {labels[node]!r}"
            raise row.error(place, f"expected one label per node, found {both}")
        labels[node] = name
    return tree.with_labels(labels)


def _names(row: Row, place: int) -> Iterator[str]:
    """Iterate over the labels in a comment (place 0), or in the column MISC of a row."""
    parts = row.entries[MISC].split("|") if place == MISC else [row.text[1:]]
    for match in filter(None, map(_LABEL.fullmatch, parts)):
        if not (name := match[1].strip()):
            raise row.error(place, "expected a class name after 'label =', found nothing")
        yield name
