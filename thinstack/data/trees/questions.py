"""Reads questions with their classes (TREC, Li & Roth 2002) and constituency trees, from JSON
lines."""

import re
from pathlib import Path

from thinstack.core import Tree
from thinstack.data.trees.json_lines import binary_tree, read_records
from thinstack.data.words import ptb
from thinstack.errors import TreeError

_QUOTES = re.compile("[`'\"\\s]")  # parsers rewrite them


def read_questions(path: str | Path, *, skipped: list[TreeError] | None = None) -> list[Tree]:
    """One binary tree for each line `{"sentence": ..., "label": ..., "parse": ...}`. Its root has
    the label `label`.

    `parse` is a tree in Penn Treebank brackets. Its words keep their escapes, its own labels are
    dropped. `binarize` makes it binary. Malformed lines, and lines whose `parse` has other words
    than the sentence, are skipped or raise as in `read_records`.
    """
    return read_records(path, ("sentence", "label", "parse"), _question, skipped=skipped)


def _question(record: dict[str, str]) -> Tree:
    tree = binary_tree(record, "parse", labelled=True)
    if not record["label"]:
        raise TreeError("expected the question's class in the field 'label', found an empty text")
    if _letters(tree.words) != _letters(record["sentence"].split()):
        expected, found = record["sentence"], " ".join(tree.words)
        raise TreeError(f"expected a parse of {expected!r:.200}, found one of {found!r:.200}")
    return tree.with_labels([*[None] * (len(tree) - 1), record["label"]])


def _letters(words: tuple[str, ...] | list[str]) -> str:
    """The letters of a sentence, which are the same however it is cut into words and quoted."""
    return _QUOTES.sub("", "".join(map(ptb.unescape, words)))
