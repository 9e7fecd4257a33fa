"""Reads texts and their classes from a table."""

import re
from collections.abc import Sequence
from itertools import islice
from sys import intern
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from thinstack.data.files.paths import FilePath
from thinstack.errors import DataError
from thinstack.text.sentences import Sentence
from thinstack.training.tasks._table import check_label, located

if TYPE_CHECKING:
    from thinstack.training.tasks.texts import Texts

AT_ONCE: Final = 1000
"""The number of texts that are cut into words at a time."""

_WHOLE: Final = re.compile(r"\s*-?\d{1,15}(\.0*)?\s*", re.ASCII)


class Text(NamedTuple):
    """A text, or a phrase of one, with its class.

    Attributes:
        text: the text as the table has it.
        sentences: the words of each of its sentences. A phrase is one sentence.
        label: its class.
        line: its line in the table, from 1.
    """

    text: str
    sentences: list[list[str]]
    label: str
    line: int


def read_texts(
    path: FilePath, task: "Texts", labels: Sequence[str], skipped: list[DataError] | None = None
) -> list[Text]:
    """The texts of a table, cut into sentences of words.

    A row is bad if its class is not one of `labels` or its text has no words. So is a row whose
    span is no phrase of the text. Bad rows go to `skipped` or raise, as in `TableTask.rows`.
    """
    items: list[Text] = []
    rows, cut = task.rows(path, skipped, labels), task.splitter()
    while batch := list(islice(rows, AT_ONCE)):
        texts = cut(row.values[task.text_column] for row in batch)
        for row, sentences in zip(batch, texts, strict=True):
            with located(path, row, skipped):
                text, label = row.values[task.text_column], row.values[task.label_column]
                check_label(label, labels, task.label_column)
                if not sentences:
                    raise task.no_words(text)
                # In a million texts most words repeat, so each is kept in memory once.
                words = [[intern(word) for word in part] for part in task.words(row, sentences)]
                items.append(Text(text, words, intern(label), row.line))
    return items


def word_span(text: str, sentence: Sentence, start: str, end: str) -> tuple[int, int]:
    """Which words [first, last) of a sentence the characters [start, end) of its text are. Raises
    DataError for what is no whole words of it."""
    ends = characters(start, end)
    offsets = sentence.offsets + sentence.start
    first, last = np.searchsorted(offsets[:, 0], ends[0]), np.searchsorted(offsets[:, 1], ends[1])
    fits = first < len(offsets) and last < len(offsets) and first <= last
    if not fits or (offsets[first, 0], offsets[last, 1]) != ends:
        raise DataError(
            "expected start and end of a phrase of whole words in one sentence, found "
            f"{ends[0]} to {ends[1]}: {text[max(ends[0], 0) : max(ends[1], 0)]!r:.60}"
        )
    return int(first), int(last) + 1


def characters(start: str, end: str) -> tuple[int, int]:
    """The characters [start, end) that two cells name, also as floats, "4.0", as programs write
    whole numbers of columns with gaps. Raises DataError for what are no such numbers."""
    if not (_WHOLE.fullmatch(start) and _WHOLE.fullmatch(end)):
        raise DataError(
            f"expected numbers of characters in start and end, found {start!r:.20} and {end!r:.20}"
        )
    return int(start.partition(".")[0]), int(end.partition(".")[0])
