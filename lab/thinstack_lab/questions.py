"""Reads questions with their classes (TREC, Li & Roth 2002), for Table 2 of Teng & Zhang (2017)."""

import re
from pathlib import Path

from thinstack.core import Tree
from thinstack.data.trees.binarize import binarize
from thinstack.data.trees.brackets import from_brackets
from thinstack.data.trees.text_files import read_records
from thinstack.data.words import ptb
from thinstack.errors import TreeError
from thinstack.plugins import Reader

__all__ = ["Questions", "read_questions"]

_QUOTES = re.compile("[`'\"\\s]")  # parsers rewrite them


def read_questions(path: str | Path, *, skipped: list[TreeError] | None = None) -> list[Tree]:
    """Questions with their classes (TREC, Li & Roth 2002): one binary tree for each line
    `{"sentence": ..., "label": ..., "parse": ...}`. Its root has the label `label`.

    `parse` is a tree in Penn Treebank brackets. Its words keep their escapes, its own labels are
    dropped. `binarize` makes it binary. Malformed lines, and lines whose `parse` has other words
    than the sentence, are skipped or raise as in `read_records`.
    """
    return read_records(path, ("sentence", "label", "parse"), _question, skipped=skipped)


def _question(record: dict[str, str]) -> Tree:
    try:
        tree = binarize(from_brackets(record["parse"]))
    except TreeError as error:
        raise TreeError(f"parse, character {error.column}: {error.message}") from None
    if not record["label"]:
        raise TreeError("expected the question's class in the field 'label', found an empty text")
    if _letters(tree.words) != _letters(record["sentence"].split()):
        sentence, words = record["sentence"], " ".join(tree.words)
        raise TreeError(f"expected a parse of {sentence!r:.200}, found one of {words!r:.200}")
    return tree.with_labels([*[None] * (len(tree) - 1), record["label"]])


def _letters(words: tuple[str, ...] | list[str]) -> str:
    """What a sentence is, however it is cut into words and quoted."""
    return _QUOTES.sub("", "".join(map(ptb.unescape, words)))


class Questions(Reader):
    """The reader of `read_questions`."""

    name = "questions.v1"
    summary = "JSON lines of questions with their class and parse, as TREC's"
    read = staticmethod(read_questions)
