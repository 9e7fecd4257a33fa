"""The task of classes of phrases, whose characters are in a table."""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final

import numpy as np

from thinstack.data.tables.table_rows import COLUMN_ADVICE, TableRow
from thinstack.errors import DataError, InputError
from thinstack.text.sentences import Sentence, Splitter, splitter
from thinstack.training.recipe import Recipe
from thinstack.training.tasks.texts import Texts

__all__ = ["Spans"]

ENDS: Final = "start", "end"
_WHOLE: Final = re.compile(r"\s*-?\d{1,15}(\.0*)?\s*", re.ASCII)
SPAN_ADVICE: Final = f"{COLUMN_ADVICE}; the columns of spans must be named 'start' and 'end'"


class Spans(Texts):
    """Classes of phrases. Each row of a table labels the characters from `start` to `end` in its
    text."""

    name: ClassVar[str] = "spans.v1"
    summary: ClassVar[str] = "classes of phrases, given by their characters in a table"
    defaults: ClassVar = Texts.defaults._replace(
        head={"name": "node_classifier.v1", "options": {"hidden": 0, "dropout": 0.6}}
    )
    starts: ClassVar[tuple[str, ...]] = ("sentiment",)
    advice: ClassVar[str] = SPAN_ADVICE
    repeats: ClassVar[bool] = True

    span_group: str | None = None
    """For a .spacy file: the span group with the phrases."""

    @property
    def columns_read(self) -> list[str]:
        return [*super().columns_read, *ENDS]

    def doc_bin_options(self) -> dict[str, Any]:
        return {"span_group": self.span_group}

    def splitter(self) -> Splitter:
        return splitter(sentences=False)

    def words(self, row: TableRow, sentences: Sequence[Sentence]) -> list[Sequence[str]]:
        text, (start, end) = row.values[self.text_column], (row.values[name] for name in ENDS)
        first, last = word_span(text, sentences[0], start, end)
        return [sentences[0].words[first:last]]

    def advice_after(self, bundle: Path, recipe: Recipe) -> Iterator[str]:
        *_, last = super().advice_after(bundle, recipe)
        yield last


def word_span(text: str, sentence: Sentence, start: str, end: str) -> tuple[int, int]:
    """Return the words [first, last) of a sentence that are the characters [start, end) of its
    text. Raises DataError unless they are whole words."""
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
    """Return the numbers in two cells. They may be floats such as "4.0", which programs write in
    columns with empty cells. Raises DataError for other texts."""
    if not (_WHOLE.fullmatch(start) and _WHOLE.fullmatch(end)):
        raise DataError(
            f"expected character offsets in start and end, found {start!r:.20} and {end!r:.20}"
        )
    return int(float(start)), int(float(end))


def ask_about_spans(source: str, columns: Iterable[str]) -> None:
    """Raise InputError, which starts with `source`, if these columns seem to contain spans, because
    it is unclear whether rows label phrases or whole texts."""
    names = {name.strip().lower(): name for name in columns}
    if {"start", "end"} <= {*names}:
        raise InputError(
            f"{source}: the columns {names['start']!r} and {names['end']!r} may mark the "
            "phrase that each row labels; choose what to train (in Python task=): --task "
            "spans for the labels of phrases; --task aspects for opinions about terms; or "
            "--task texts for the labels of whole texts"
        )
