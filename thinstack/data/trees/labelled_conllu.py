"""Reads CoNLL-U with classes of sentences and of subtrees.

A comment `# label = NAME` gives the class of its sentence. `Label=NAME` in the column MISC gives
the class of a word together with all words below it:

    # label = positive
    1   good    good    ADJ     _   _   2   amod    _   Label=positive
    2   film    film    NOUN    _   _   0   root    _   _

Node i of a tree is word i. Its label is the class, or None where the file gives none. A node has
one label, so relations (DEPREL) are not read.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from thinstack.core import Tree
from thinstack.data.trees.conllu import blocks_of, tree_of, words_of
from thinstack.data.trees.text_files import Row, made
from thinstack.errors import DataError, TreeError

MISC = 9

_LABEL = re.compile(r"\s*label\s*=(.*)", re.IGNORECASE)


def read_labelled_conllu(path: str | Path, *, skipped: list[TreeError] | None = None) -> list[Tree]:
    """The dependency tree of each sentence of a file, labelled with classes.

    Raises what `read_conllu` raises, and skips as it does. A sentence is malformed too if a label
    has no name, or if a node has two labels. So is a label at a multiword token, at an empty node,
    or in a comment without a sentence. Raises DataError where no sentence has any label.
    """
    found = made(_labelled, blocks_of(path), skipped)
    trees = [tree for tree in found if tree is not None]
    if trees and not any(label for tree in trees for label in tree.labels):
        expected = "'# label = NAME' above a sentence or 'Label=NAME' in the column MISC of a word"
        raise DataError(
            f"{path}: expected labels, {expected}; found none; label the file, or read it as "
            "conllu.v1"
        )
    return trees


def _labelled(block: tuple[list[Row], list[Row]]) -> Tree | None:
    """The tree of a block, None where it holds only comments without a label."""
    comments, rows = block
    above = [(row, 0, name) for row in comments for name in _names(row, 0, [row.text[1:]])]
    if not rows:
        for row, place, _ in above:
            raise row.error(place, "expected a sentence below its label, found none")
        return None
    tree = tree_of(rows)
    nodes = {row.line: node for node, row in enumerate(words_of(rows))}
    nodes |= {row.line: tree.root for row in comments}
    labels: list[str | None] = [None] * len(tree)
    at_words = [
        (row, MISC, name)
        for row in rows
        for name in _names(row, MISC, row.entries[MISC].split("|"))
    ]
    for row, place, name in above + at_words:
        if row.line not in nodes:
            raise row.error(place, f"expected labels of words only, {row.entries[0]} is no word")
        node = nodes[row.line]
        if labels[node] not in (None, name):
            found = f"{name!r} beside {labels[node]!r}"
            raise row.error(place, f"expected one label for each node, found {found}")
        labels[node] = name
    return tree.with_labels(labels)


def _names(row: Row, place: int, parts: list[str]) -> Iterator[str]:
    """The labels that these parts of an entry give."""
    for match in filter(None, map(_LABEL.fullmatch, parts)):
        if not (name := match[1].strip()):
            raise row.error(place, "expected the name of a class after 'label =', found nothing")
        yield name
