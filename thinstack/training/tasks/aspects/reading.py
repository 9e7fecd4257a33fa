"""Reads sentences and their terms from a table."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from thinstack.data.files.paths import FilePath
from thinstack.data.tables.alike import unknown_label
from thinstack.data.tables.table_rows import TableRow
from thinstack.errors import DataError
from thinstack.text.sentences import Sentence
from thinstack.training.tasks._table import located
from thinstack.training.tasks.texts.reading import word_span

if TYPE_CHECKING:
    from thinstack.training.tasks.aspects import Aspects

ENDS = "start", "end"


class Labelled(NamedTuple):
    """A sentence with its terms.

    Attributes:
        text: the text that it stands in.
        words: its words.
        terms: the words [start, end) of each term, and its label.
        line: the line of its first row in the table, from 1.
    """

    text: str
    words: list[str]
    terms: list[tuple[int, int, str]]
    line: int


def read_sentences(
    path: FilePath, task: "Aspects", labels: Sequence[str], skipped: list[DataError] | None
) -> list[Labelled]:
    """The sentences of the texts of a table, in order, with the terms of all rows of each text.

    A row without start, end and label says nothing of terms: it brings its text along. A row is bad
    if its label is not one of `labels`, or if its term is no whole words of one sentence, crosses
    another term of the text, or is there with another label. Bad rows go to `skipped` or raise.
    """
    texts: dict[str, list[TableRow]] = {}
    for row in task.rows(path, skipped, labels):
        texts.setdefault(row.values[task.text_column], []).append(row)
    found: list[Labelled] = []
    for (text, rows), sentences in zip(texts.items(), task.splitter()(list(texts)), strict=True):
        own = [Labelled(text, each.words, [], rows[0].line) for each in sentences]
        for row in rows:
            with located(path, row, skipped):
                _add(row, sentences, own, task, labels)
        found.extend(own)
    return found


def _add(
    row: TableRow,
    sentences: Sequence[Sentence],
    found: Sequence[Labelled],
    task: "Aspects",
    labels: Sequence[str],
) -> None:
    """Put the term of a row into its sentence."""
    text, label = row.values[task.text_column], row.values[task.label_column]
    if not found:
        raise DataError(f"expected a text with words in {task.text_column}, found {text!r:.60}")
    ends = [row.values[name] for name in ENDS]
    if not any((label, *ends)):
        return
    if label not in labels:
        expected = f"one of {', '.join(labels)}"
        raise DataError(
            f"expected {expected} in {task.label_column}, {unknown_label(label, labels)}"
        )
    place, (start, end) = _in_sentence(text, sentences, *ends)
    terms = found[place].terms
    for other_start, other_end, other in terms:
        if (start, end) == (other_start, other_end):
            if other == label:
                return
            raise DataError(
                f"expected one label of each term, found {other} and {label} for "
                f"{text_of(found[place], start, end)!r:.60}"
            )
        if start < other_end and other_start < end:
            nested = (other_start <= start and end <= other_end) or (
                start <= other_start and other_end <= end
            )
            if not nested:
                raise DataError(
                    "expected terms that do not cross, found "
                    f"{text_of(found[place], start, end)!r:.60} and "
                    f"{text_of(found[place], other_start, other_end)!r:.60}"
                )
    terms.append((start, end, label))


def text_of(sentence: Labelled, start: int, end: int) -> str:
    """The words [start, end) of a sentence."""
    return " ".join(sentence.words[start:end])


def _in_sentence(
    text: str, sentences: Sequence[Sentence], start: str, end: str
) -> tuple[int, tuple[int, int]]:
    """The sentence that the characters [start, end) are in, and which of its words they are."""
    for place, sentence in enumerate(sentences):
        last = sentence.start + len(sentence.text)
        if place == len(sentences) - 1 or (end.isdigit() and int(end) <= last):
            return place, word_span(text, sentence, sentence.start, start, end)
    raise AssertionError("there is a sentence")


def by_text(sentences: Iterable[Labelled]) -> Iterator[tuple[str, list[Labelled]]]:
    """The sentences of each text."""
    for text, group in groupby(sentences, key=lambda each: each.text):
        yield text, list(group)
