"""What tasks over pairs of sentences share: the pairs of a table."""

from abc import abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import model_validator

from thinstack.core import Tree
from thinstack.core.config import ModelConfig
from thinstack.core.head import TaskHead
from thinstack.data.files.paths import FilePath
from thinstack.data.tables.alike import likeness
from thinstack.data.tables.table_rows import TableRow
from thinstack.data.words.vocabulary import Vocabulary
from thinstack.errors import ConfigError, DataError
from thinstack.evaluate.figures import Figures
from thinstack.runtime.predictor import Predictor
from thinstack.text.given_trees import TreeMaker, tree_maker
from thinstack.text.sentences import Splitter, splitter
from thinstack.training.examples.datasets import Datasets
from thinstack.training.examples.example import Example
from thinstack.training.examples.labelled import labelled_pair
from thinstack.training.recipe import Recipe
from thinstack.training.tasks._table import TableTask, located

ADVICE: Final = (
    "name the columns of pairs with --text, given twice, and --label (classes) or --score (ratings)"
)


TABLE: Final = "table.v1"
"""The format of pairs of sentences in a table, which has no trees."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two sentences.

    Attributes:
        id: name of the pair in the file.
        trees: the trees of the first and the second sentence.
        target: the rating, from 1 to the number of labels, or the class.
    """

    id: str
    trees: tuple[Tree, Tree]
    target: float | str


class Pairs(TableTask):
    """Learns from pairs of sentences."""

    heads: ClassVar[tuple[str, ...]] = ("pairs",)
    items: ClassVar[str] = "pairs"
    advice: ClassVar[str] = ADVICE
    starts: ClassVar[tuple[str, ...]] = ("vectors", "sentiment")
    rates: ClassVar[bool] = False
    """Whether the targets are ratings, and not classes."""

    format: Literal["table.v1"]
    """File format: tables (.csv, .tsv, .json, .jsonl, .parquet)."""
    pair_columns: tuple[str, str] = ("text_a", "text_b")
    """Columns of the first and the second sentence."""

    @property
    def columns_read(self) -> list[str]:
        return [*self.pair_columns, self.target_column]

    @model_validator(mode="after")
    def _columns_differ(self) -> Self:
        columns = self.columns_read
        if len({*columns}) < len(columns):
            first, second, target = map(repr, columns)
            raise ValueError(
                f"expected two text columns and a target column, found {first}, {second} and "
                f"{target}; {self.advice}"
            )
        return self

    @abstractmethod
    def value(self, text: str, labels: Sequence[str]) -> float | str:
        """The rating or the class of a pair whose `target_column` holds `text`."""

    # -- data

    def read(self, path: FilePath, model: ModelConfig, skipped: list[DataError]) -> list[Pair]:
        bad = skipped if self.skip_bad else None
        cut, pairs = splitter(sentences=False), list[Pair]()
        maker = tree_maker("balanced" if model.parses else model.tree_source)
        for row in self.rows(path, bad, model.labels):
            with located(path, row, bad):
                first, second = (_tree(row, column, cut, maker) for column in self.pair_columns)
                value = self.value(row.values[self.target_column], model.labels)
                pairs.append(Pair(str(row.line), (first, second), value))
        return pairs

    def sentences(self, item: Pair) -> Iterable[Sequence[str]]:
        return [tree.words for tree in item.trees]

    def examples(
        self, items: Sequence[Pair], vocabulary: Vocabulary, recipe: Recipe, reads: str
    ) -> list[Example]:
        model = recipe.model
        return [
            Example({"gold": labelled_pair(pair.trees, target, vocabulary, model)})
            for pair, target in [(pair, _target(pair, model.labels)) for pair in items]
        ]

    def group_of(self, item: Pair) -> Hashable:
        return frozenset(likeness(" ".join(tree.words)) for tree in item.trees)

    # -- measuring

    def measure_bundle(
        self, predictor: Predictor, recipe: Recipe, datasets: Datasets
    ) -> dict[str, Figures]:
        """The figures of pairs of a table, from their words."""
        pairs, labels = datasets.items[1], recipe.model.labels
        scores = predictor.score_pairs([words for pair in pairs for words in self.sentences(pair)])
        gold = np.array([_target(pair, labels) for pair in pairs])
        return {"text": self.figures_of(scores, gold)}

    @abstractmethod
    def figures_of(self, scores: NDArray[np.floating], gold: NDArray[Any]) -> Figures:
        """The figures of scores (P, C) against ratings from 1 to C, or classes (P,)."""

    # -- what fits

    def tree_kinds(self) -> tuple[str, ...]:
        return ("binary", "sequence")

    def check_head(self, recipe: Recipe, head: TaskHead) -> None:
        super().check_head(recipe, head)
        if head.rates != self.rates:
            needed = f"task {self.name} needs a head whose attribute rates is {self.rates}"
            name = recipe.model.head.name
            raise ConfigError(f"model.head: {needed}; that of {name} is {head.rates}")

    # -- reports

    def advice_after(self, bundle: Path, recipe: Recipe) -> Iterator[str]:
        yield f'try it: thinstack predict --model {bundle} --pair "One text." "Another one."'


def _target(pair: Pair, labels: Sequence[str]) -> float | int:
    """The class of a pair, or its rating from 1 to the number of classes."""
    return labels.index(pair.target) if isinstance(pair.target, str) else float(pair.target)


def _tree(row: TableRow, column: str, cut: Splitter, maker: TreeMaker) -> Tree:
    text = row.values[column]
    (sentences,) = cut([text])
    if not sentences:
        raise DataError(f"expected a sentence with words in {column}, found {text!r:.60}")
    words = sentences[0].words
    return Tree.from_transitions(maker(words), words)
