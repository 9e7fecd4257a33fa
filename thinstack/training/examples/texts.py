"""Reads texts and their classes from a table."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from sys import intern
from typing import Final, NamedTuple, TypeVar

import numpy as np

from thinstack.core.config.task import PAIR_TASKS
from thinstack.data.files.paths import FilePath
from thinstack.data.tables.alike import likeness, unknown_label
from thinstack.data.tables.table import Table
from thinstack.data.tables.table_rows import COLUMN_ADVICE, Classes, RowChecks, TableRow
from thinstack.errors import DataError
from thinstack.text.sentences import Sentence, Splitter, splitter
from thinstack.training.recipe import DataConfig

__all__ = [
    "Text",
    "located",
    "parted",
    "read_rows",
    "read_texts",
    "repeated",
    "set_aside_share",
    "shared_texts",
]

PAIR_ADVICE: Final = (
    "name the columns of pairs with --text-column, given twice, and --label-column (classes) or "
    "--score-column (ratings)"
)
AT_ONCE: Final = 1000
"""The number of texts that are cut into words at a time."""


Item = TypeVar("Item")


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


def read_rows(
    path: FilePath,
    files: DataConfig,
    skipped: list[DataError] | None = None,
    labels: Collection[str] = (),
) -> Iterator[TableRow]:
    """The rows of a table of texts or pairs, with the columns that `files` names.

    `labels`: the classes, if they are known; one of them may be a word such as "NA", which else
    stands for a missing value.

    The errors of bad rows, with file and line, go to the list `skipped`; without it the first is
    raised. Raises what `Table.rows` or, for `.spacy` files, `read_doc_bin` raises.
    """
    checks: RowChecks = {"skipped": skipped}
    if files.task != "relatedness":
        checks["classes"] = Classes(files.label_column, labels)
    table = Table(path, encoding=files.encoding, separator=files.separator, header=files.header)
    if files.task in PAIR_TASKS:
        columns = [*files.pair_columns, files.target_column]
        checks["advice"] = PAIR_ADVICE
        return table.rows(columns, **checks)
    columns = [files.text_column, files.label_column]
    if files.spans:
        columns += ["start", "end"]
    if str(path).lower().endswith(".spacy"):
        from thinstack.integrations.spacy.doc_bins import read_doc_bin

        return read_doc_bin(path, columns, span_group=files.span_group, **checks)
    if files.spans:
        checks["advice"] = f"{COLUMN_ADVICE}; the columns of spans must be named 'start' and 'end'"
    return table.rows(columns, **checks)


def read_texts(
    path: FilePath, files: DataConfig, labels: Sequence[str], skipped: list[DataError] | None = None
) -> list[Text]:
    """The texts of a table, cut into sentences of words.

    A row is bad if its class is not one of `labels` or its text has no words. So is a row whose
    span is no phrase of the text. Bad rows go to `skipped` or raise, as in `read_rows`.
    """
    found: list[Text] = []
    rows, cut = read_rows(path, files, skipped, labels), splitter(sentences=not files.spans)
    while batch := list(islice(rows, AT_ONCE)):
        for row, sentences in zip(batch, _cut(cut, batch, files), strict=True):
            with located(path, row, skipped):
                found.append(_text(row, sentences, files, labels))
    return found


@contextmanager
def located(path: FilePath, row: TableRow, skipped: list[DataError] | None) -> Iterator[None]:
    """Put file and line before a DataError of the block, and add it to the list `skipped`. Without
    a list it is raised."""
    try:
        yield
    except DataError as error:
        found = DataError(f"{path}:{row.line}: {error}")
        if skipped is None:
            raise found from None
        skipped.append(found)


def set_aside_share(
    items: Sequence[Item],
    share: float,
    label_of: Callable[[Item], str],
    group_of: Callable[[Item], Hashable] = id,
) -> tuple[list[Item], list[Item]]:
    """The items without those set aside, and the items set aside: a `share` of each class, as near
    as groups allow.

    Items of one group go to the same part. A group counts with the class of its first item. A class
    of two groups or more has at least one set aside, and none loses all its items. They are always
    drawn with the same seed.
    """
    labels = [label_of(item) for item in items]
    by_label: dict[str, list[list[int]]] = defaultdict(list)
    for group in _grouped(items, group_of):
        by_label[labels[group[0]]].append(group)
    left = Counter(labels)
    missing = {label: max(round(share * n), min(1, n - 1)) for label, n in left.items()}
    draw, aside = np.random.default_rng(0), set[int]()

    def take(group: list[int]) -> None:
        counts = Counter(labels[place] for place in group)
        if all(left[label] > count for label, count in counts.items()):
            aside.update(group)
            left.subtract(counts)
            for label, count in counts.items():
                missing[label] -= count

    for label in sorted(by_label):
        own, before = by_label[label], missing[label]
        drawn = [own[n] for n in draw.permutation(len(own)).tolist()]
        for group in drawn:
            if missing[label] > 0 and _brings_nearer(group, labels, missing):
                take(group)
        if 0 < missing[label] == before:
            take(min(drawn, key=len))
    return parted(items, aside)


def _brings_nearer(group: Sequence[int], labels: Sequence[str], missing: Mapping[str, int]) -> bool:
    """Whether the classes are nearer to the numbers that are `missing` with this group than
    without it."""
    counts = Counter(labels[place] for place in group)
    apart = sum(abs(missing[label] - count) for label, count in counts.items())
    return apart < sum(abs(missing[label]) for label in counts)


def parted(
    items: Sequence[Item], aside: Collection[int], group_of: Callable[[Item], Hashable] = id
) -> tuple[list[Item], list[Item]]:
    """The items without those at the places `aside`, and the others; with them their groups."""
    groups = {group_of(items[place]) for place in aside}
    parts: tuple[list[Item], list[Item]] = [], []
    for item in items:
        parts[group_of(item) in groups].append(item)
    return parts


def repeated(
    items: Sequence[Item], label_of: Callable[[Item], str], group_of: Callable[[Item], Hashable]
) -> tuple[int, int]:
    """The number of groups of several items, and of such groups whose items have different
    classes."""
    groups = [group for group in _grouped(items, group_of) if len(group) > 1]
    return len(groups), sum(len({label_of(items[n]) for n in group}) > 1 for group in groups)


def shared_texts(train: Iterable[Text], dev: Sequence[Text]) -> int:
    """The number of texts of `dev` that are also in `train`, as `likeness` says."""
    known = {likeness(text.text) for text in train}
    return sum(likeness(text.text) in known for text in dev)


def _grouped(items: Sequence[Item], group_of: Callable[[Item], Hashable]) -> list[list[int]]:
    """The places of the items, one list for each group."""
    groups: dict[Hashable, list[int]] = defaultdict(list)
    for place, item in enumerate(items):
        groups[group_of(item)].append(place)
    return list(groups.values())


def _cut(cut: Splitter, rows: Sequence[TableRow], files: DataConfig) -> Iterator[list[Sentence]]:
    return cut(row.values[files.text_column] for row in rows)


def _text(
    row: TableRow, sentences: list[Sentence], files: DataConfig, labels: Sequence[str]
) -> Text:
    text, label = row.values[files.text_column], row.values[files.label_column]
    if label not in labels:
        expected = f"one of model.labels ({', '.join(labels)})"
        raise DataError(
            f"expected {expected} in {files.label_column}, {unknown_label(label, labels)}"
        )
    if not sentences:
        raise DataError(f"expected a text with words in {files.text_column}, found {text!r:.60}")
    words = [sentence.words for sentence in sentences]
    if files.spans:
        words = [_phrase(row, text, sentences[0])]
    # In a million texts most words repeat, so each is kept in memory once.
    return Text(text, [[intern(word) for word in each] for each in words], intern(label), row.line)


def _phrase(row: TableRow, text: str, sentence: Sentence) -> list[str]:
    """The words of the characters [start, end) of a text that is one sentence."""
    try:
        start, end = int(row.values["start"]), int(row.values["end"])
    except ValueError:
        found = f"{row.values['start']!r:.20} and {row.values['end']!r:.20}"
        raise DataError(f"expected numbers of characters in start and end, found {found}") from None
    offsets = sentence.offsets + text.find(sentence.text)
    first, last = np.searchsorted(offsets[:, 0], start), np.searchsorted(offsets[:, 1], end)
    fits = first < len(offsets) and last < len(offsets) and first <= last
    if not fits or (offsets[first, 0], offsets[last, 1]) != (start, end):
        raise DataError(
            f"expected start and end of a phrase of whole words, found {start} to {end}: "
            f"{text[max(start, 0) : max(end, 0)]!r:.60}"
        )
    return list(sentence.words[first : last + 1])
