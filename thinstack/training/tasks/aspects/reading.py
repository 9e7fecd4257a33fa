"""Reads sentences and their terms from a table."""

from bisect import bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thinstack.data.files.paths import FilePath
from thinstack.data.tables.table_rows import TableRow
from thinstack.errors import DataError
from thinstack.text.sentences import Sentence
from thinstack.training.tasks._table import check_label, located, no_words
from thinstack.training.tasks.spans import ENDS, characters, word_span

if TYPE_CHECKING:
    from thinstack.training.tasks.aspects import Aspects


class LabelledSentence(NamedTuple):
    """A sentence with its terms.

    Attributes:
        text: the text that contains it.
        words: its L words.
        offsets: (L, 2) the characters [start, end) of each word in the text.
        terms: the words [start, end) of each term, and its label.
        line: the line of the first row of the text in the table, from 1.
        labelled: whether its terms are known.
    """

    text: str
    words: list[str]
    offsets: NDArray[np.int64]
    terms: list[tuple[int, int, str]]
    line: int
    labelled: bool = True

    def characters(self, start: int, end: int) -> tuple[int, int]:
        """Return the characters of the words [start, end) in the text."""
        return int(self.offsets[start, 0]), int(self.offsets[end - 1, 1])

    def term(self, start: int, end: int) -> str:
        """Return the words [start, end) for a message."""
        first, last = self.characters(start, end)
        return f"{self.text[first:last]!r:.60}"


def read_sentences(
    path: FilePath, task: "Aspects", labels: Sequence[str], skipped: list[DataError] | None
) -> list[LabelledSentence]:
    """Return the sentences of the texts of a table, with the terms of all rows of each text.

    A row is also bad if its label is not one of `labels`, if its term is not whole words of one
    sentence, or if its term crosses another or has another label in another row. Repeated rows are
    ignored. `skipped`: as in `TableTask.rows`. Texts with a bad row are skipped entirely, because
    the missing term would be treated as no term.
    """
    texts: dict[str, list[TableRow]] = {}
    for row in task.rows(path, skipped, labels):
        texts.setdefault(row.values[task.text_column], []).append(row)
    sentences: list[LabelledSentence] = []
    for (text, rows), cut in zip(texts.items(), task.splitter()(list(texts)), strict=True):
        parts = [_sentence(text, part, rows[0].line) for part in cut]
        bad = len(skipped or ())
        for row in rows:
            with located(path, row, skipped):
                _add(row, cut, parts, task, labels)
        if len(skipped or ()) == bad:
            sentences.extend(parts)
    return sentences


def read_texts(
    path: FilePath, task: "Aspects", skipped: list[DataError] | None
) -> list[LabelledSentence]:
    """Return the sentences of a table of texts whose terms are not labeled."""
    rows = task.table(path).rows([task.text_column], skipped=skipped, advice=task.advice)
    lines = {row.values[task.text_column]: row.line for row in rows}
    cut = zip(lines.items(), task.splitter()(list(lines)), strict=True)
    return [
        _sentence(text, sentence, line)._replace(labelled=False)
        for (text, line), sentences in cut
        for sentence in sentences
    ]


def _sentence(text: str, sentence: Sentence, line: int) -> LabelledSentence:
    offsets = sentence.offsets + sentence.start
    return LabelledSentence(text, sentence.words, offsets, [], line)


def _add(
    row: TableRow,
    cut: Sequence[Sentence],
    sentences: Sequence[LabelledSentence],
    task: "Aspects",
    labels: Sequence[str],
) -> None:
    """Add the term of a row to its sentence. Raises DataError if it does not fit the others."""
    text, label = row.values[task.text_column], row.values[task.label_column]
    first, last = (row.values[name] for name in ENDS)
    if not cut:
        raise no_words(task.text_column, text)
    if not (label or first or last):
        return
    if not (label and first and last):
        empty = [name for name in (*ENDS, task.label_column) if not row.values[name]]
        raise DataError(
            f"expected {', '.join(ENDS)} and {task.label_column} for a term, or none of them, "
            f"found nothing in {' and '.join(empty)}"
        )
    check_label(label, labels, task.label_column, "the labels")
    begin, _ = characters(first, last)
    place = max(bisect_right([sentence.start for sentence in cut], begin) - 1, 0)
    start, end = word_span(text, cut[place], first, last)
    sentence = sentences[place]
    for other_start, other_end, other in sentence.terms:
        if (start, end, label) == (other_start, other_end, other):
            return
        if (start, end) == (other_start, other_end):
            raise DataError(
                f"expected one label per term, found {other} and {label} for "
                f"{sentence.term(start, end)}; leave one row out"
            )
        if start < other_start < end < other_end or other_start < start < other_end < end:
            raise DataError(
                f"expected terms that do not cross, found {sentence.term(start, end)} and "
                f"{sentence.term(other_start, other_end)}; leave one row out"
            )
    sentence.terms.append((start, end, label))
