"""Reads pairs of sentences, with their classes or scores, from a table."""

import math
from collections.abc import Iterable, Sequence
from typing import Final

from thinstack.core import Tree
from thinstack.core.config import ModelConfig
from thinstack.data.files.paths import FilePath
from thinstack.data.tables.alike import likeness, unknown_label
from thinstack.data.tables.table_rows import TableRow
from thinstack.data.trees.pairs import Pair
from thinstack.errors import ConfigError, DataError
from thinstack.text.given_trees import TreeMaker, tree_maker
from thinstack.text.sentences import Splitter, splitter
from thinstack.training.examples.texts import located, read_rows
from thinstack.training.recipe import DataConfig

__all__ = ["find_scale", "read_pair_table", "sentences_of", "shared_pairs"]

MOST: Final = 21
"""The most whole numbers on a scale. A longer scale, such as 0 to 100, has too few pairs for
each."""


def read_pair_table(
    path: FilePath, files: DataConfig, model: ModelConfig, skipped: list[DataError] | None = None
) -> list[Pair]:
    """The pairs of a table. Each side is one sentence over a tree made from its words, which is
    balanced if the model makes its own trees.

    The labels of a model of scores are whole numbers. Scores become ratings, from 1 to the number
    of labels. A row is bad if the model does not have its class or score, or if a side has no
    words. Bad rows go to `skipped` or raise, as in `read_rows`.

    Raises ConfigError for a model of scores whose labels are no consecutive whole numbers.
    """
    cut, found = splitter(sentences=False), list[Pair]()
    maker = tree_maker("balanced" if model.parses else model.tree_source)
    rated = files.task == "relatedness"
    least = _least(model.labels) if rated else 0
    for row in read_rows(path, files, skipped, () if rated else model.labels):
        with located(path, row, skipped):
            first, second = (_tree(row, column, cut, maker) for column in files.pair_columns)
            target = row.values[files.target_column]
            if rated:
                rating: float | str = _score(target, files.score_column, model.labels) - least + 1
            else:
                rating = _class(target, files.label_column, model.labels)
            found.append(Pair(str(row.line), (first, second), rating))
    return found


def find_scale(scores: Iterable[str], source: str) -> tuple[str, ...]:
    """The labels of a model of these scores: the whole numbers from the least to the greatest
    score. Texts that are no number are ignored.

    Raises DataError, which names the `source`, if all scores are equal or there are none, and for a
    scale of more than `MOST` whole numbers.
    """
    least, greatest, text = math.inf, -math.inf, ""
    for text in scores:
        if (score := _number(text)) is not None:
            least, greatest = min(least, score), max(greatest, score)
    if least >= greatest:
        found = f"only {least:g}" if least == greatest else f"no number, but {text!r:.60}"
        if _number(text.replace(",", ".")) != _number(text):
            found += " (write 1.5, not 1,5)"
        raise DataError(
            f"{source}: expected scores, numbers that differ, found {found}; name the column of "
            "the scores with --score-column"
        )
    low, high = math.floor(least), math.ceil(greatest)
    if high - low >= MOST:
        raise DataError(
            f"{source}: expected scores on a scale of 2 to {MOST} whole numbers, such as 0 to 5, 1 "
            f"to 7 or 0 to 1, found {least:g} to {greatest:g}; divide them (0 to 100 by 20, which "
            "gives 0 to 5), or mend the row that is out of the scale"
        )
    return tuple(str(number) for number in range(low, high + 1))


def shared_pairs(train: Iterable[Pair], dev: Sequence[Pair]) -> int:
    """The number of pairs of `dev` that are also in `train`, in either order, as `sentences_of`
    tells them apart."""
    known = {sentences_of(pair) for pair in train}
    return sum(sentences_of(pair) in known for pair in dev)


def sentences_of(pair: Pair) -> frozenset[str]:
    """The `likeness` of the sentences of a pair."""
    return frozenset(likeness(" ".join(tree.words)) for tree in pair.trees)


def _tree(row: TableRow, column: str, cut: Splitter, maker: TreeMaker) -> Tree:
    text = row.values[column]
    (sentences,) = cut([text])
    if not sentences:
        raise DataError(f"expected a sentence with words in {column}, found {text!r:.60}")
    words = sentences[0].words
    return Tree.from_transitions(maker(words), words)


def _class(text: str, column: str, labels: Sequence[str]) -> str:
    if text not in labels:
        expected = f"one of model.labels ({', '.join(labels)})"
        raise DataError(f"expected {expected} in {column}, {unknown_label(text, labels)}")
    return text


def _score(text: str, column: str, labels: Sequence[str]) -> float:
    score = _number(text)
    if score is None or not float(labels[0]) <= score <= float(labels[-1]):
        expected = f"a score from {labels[0]} to {labels[-1]} (model.labels) in {column}"
        raise DataError(
            f"expected {expected}, found {text!r:.60}; mend it, or give the whole scale, such as "
            "--labels 0,1,2,3,4,5"
        )
    return score


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _least(labels: Sequence[str]) -> float:
    """The least score of a model. Raises ConfigError unless its labels are whole numbers that go up
    by one."""
    numbers = [_number(label) for label in labels]
    if numbers[0] is None or numbers != [numbers[0] + step for step in range(len(labels))]:
        raise ConfigError(
            "model.labels: expected the whole numbers that the scores of the table go over, one by "
            f"one (such as 0, 1, 2, 3, 4, 5), found {', '.join(labels)}"
        )
    return numbers[0]
