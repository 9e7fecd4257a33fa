"""Reads pairs of sentences from a table."""

from typing import TYPE_CHECKING

from thinstack.core import Tree
from thinstack.core.config import ModelConfig
from thinstack.data.files.paths import FilePath
from thinstack.data.tables.alike import likeness
from thinstack.data.tables.table_rows import TableRow
from thinstack.data.trees.pairs import Pair
from thinstack.errors import DataError
from thinstack.text.given_trees import TreeMaker, tree_maker
from thinstack.text.sentences import Splitter, splitter
from thinstack.training.tasks._table import located

if TYPE_CHECKING:
    from thinstack.training.tasks._pairs import Pairs

__all__ = ["read_pair_table", "sentences_of"]


def read_pair_table(
    path: FilePath, task: "Pairs", model: ModelConfig, skipped: list[DataError] | None = None
) -> list[Pair]:
    """The pairs of a table. Each side is one sentence over a tree made from its words, which is
    balanced if the model makes its own trees.

    A row is bad if the model does not have its class or score, or if a side has no words. Bad rows
    go to `skipped` or raise, as in `TableTask.rows`. Raises ConfigError as `task.value` does.
    """
    cut, pairs = splitter(sentences=False), list[Pair]()
    maker = tree_maker("balanced" if model.parses else model.tree_source)
    for row in task.rows(path, skipped, model.labels):
        with located(path, row, skipped):
            first, second = (_tree(row, column, cut, maker) for column in task.pair_columns)
            value = task.value(row.values[task.target_column], model.labels)
            pairs.append(Pair(str(row.line), (first, second), value))
    return pairs


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
