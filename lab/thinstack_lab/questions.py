"""Reads questions with their classes (TREC, Li & Roth 2002), for Table 2 of Teng & Zhang (2017)."""

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from thinstack.core import Tree
from thinstack.data.trees.binarize import binarize
from thinstack.data.trees.brackets import from_brackets
from thinstack.data.trees.text_files import collect, read_lines
from thinstack.data.words import ptb
from thinstack.errors import DataError, TreeError, shown
from thinstack.plugins import Reader

__all__ = ["Questions", "read_questions"]

Item = TypeVar("Item")

_QUOTES = re.compile("[`'\"\\s]")  # parsers rewrite them
_HALF = re.compile("[\ud800-\udfff]")  # of a surrogate pair: JSON can write it, but no text has it


def read_questions(path: str | Path, *, skipped: list[TreeError] | None = None) -> list[Tree]:
    """Questions with their classes (TREC, Li & Roth 2002): one binary tree for each line
    `{"sentence": ..., "label": ..., "parse": ...}`. Its root has the label `label`.

    `parse` is a tree in Penn Treebank brackets. Its words keep their escapes, its own labels are
    dropped. `binarize` makes it binary. Malformed lines, and lines whose `parse` has other words
    than the sentence, are skipped or raise as in `read_records`.
    """
    return read_records(path, ("sentence", "label", "parse"), _question, skipped=skipped)


def read_records(
    path: str | Path,
    fields: Sequence[str],
    make: Callable[[dict[str, str]], Item],
    *,
    skipped: list[TreeError] | None = None,
) -> list[Item]:
    """What `make` makes of the `fields` of each line. Other fields and blank lines are ignored.

    A line is bad if it is no object with these fields, or if `make` raises TreeError for it. The
    errors of bad lines, with file and line, go to the list `skipped`.

    Raises TreeError for the first bad line if there is no `skipped`. Raises DataError for a file
    that is missing, is not UTF-8 or holds no object.
    """
    lines = [(n, line) for n, line in enumerate(read_lines(path), start=1) if line.strip()]
    expected = f"expected a JSON object with the fields {', '.join(fields)}"
    if not lines:
        raise DataError(f"{path}: {expected}, found blank lines only")

    def item(numbered: tuple[int, str]) -> Item:
        number, line = numbered
        try:
            return make(_record(line, fields, expected))
        except TreeError as error:
            source, column = str(path), error.column
            raise TreeError(error.message, source=source, line=number, column=column) from None

    return collect(item, lines, skipped)


def _record(line: str, fields: Sequence[str], expected: str) -> dict[str, str]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        problem, column = getattr(error, "msg", str(error)), getattr(error, "colno", None)
        raise TreeError(f"{expected}: {problem}", column=column) from None
    if not isinstance(value, dict):
        raise TreeError(f"{expected}, found {line:.60}")
    for field in fields:
        text = value.get(field, "no such field")
        if not isinstance(value.get(field), str) or _HALF.search(text):
            raise TreeError(f"expected a text in the field {field!r}, found {shown(text, 60)}")
    return {field: value[field] for field in fields}


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
