"""The tasks of pairs of sentences in a table: classes and ratings."""

from abc import abstractmethod
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import model_validator
from rich.console import Console
from rich.text import Text

from thinstack.core import Tree
from thinstack.core.config import ModelConfig
from thinstack.core.head import TaskHead
from thinstack.core.model.model import Model
from thinstack.data.tables.alike import likeness
from thinstack.data.tables.cell_text import Classes
from thinstack.data.tables.table_rows import TableRow
from thinstack.data.words.vocabulary import Vocabulary
from thinstack.errors import ConfigError, DataError, escaped
from thinstack.evaluate.accuracy import entailment, relatedness
from thinstack.evaluate.figures import Figures
from thinstack.plugins.kinds import hookimpl
from thinstack.runtime.predictor import Predictor
from thinstack.text.given_trees import tree_maker
from thinstack.text.sentences import Sentence, Splitter, splitter
from thinstack.training.examples.datasets import Datasets
from thinstack.training.examples.example import Example
from thinstack.training.examples.labelled import labelled_pair
from thinstack.training.examples.labels import find_scale, is_fraction, rating_of
from thinstack.training.loop.measuring import Answers, answers_of
from thinstack.training.publish.calibrate import Cases, cases_of
from thinstack.training.recipe import Recipe
from thinstack.training.task import Task
from thinstack.training.tasks._table import Defaults, TableTask, check_label

__all__ = ["thinstack_tasks"]

ADVICE: Final = (
    "set the columns of pairs with --text (twice) and --label (classes) or --score (ratings)"
)
TABLE: Final = "table.v1"
"""The format of pairs in a table, without trees."""


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
    """A task on pairs of sentences."""

    heads: ClassVar[tuple[str, ...]] = ("pairs",)
    items: ClassVar[str] = "pairs"
    advice: ClassVar[str] = ADVICE
    starts: ClassVar[tuple[str, ...]] = ("vectors", "sentiment")
    rates: ClassVar[bool] = False
    """Whether the targets are ratings instead of classes."""

    format: Literal["table.v1"]
    """File format: tables (.csv, .tsv, .json, .jsonl, .parquet)."""
    pair_columns: tuple[str, str] = ("text_a", "text_b")
    """Columns of the first and the second sentence."""

    @property
    def text_columns(self) -> Sequence[str]:
        return self.pair_columns

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
        """Return the rating or the class in a cell of `target_column`."""

    def splitter(self) -> Splitter:
        return splitter(sentences=False)

    def item(self, row: TableRow, texts: Sequence[list[Sentence]], model: ModelConfig) -> Pair:
        maker = tree_maker("balanced" if model.parses else model.tree_source)
        first, second = (
            Tree.from_transitions(maker(sentence.words), sentence.words) for (sentence,) in texts
        )
        target = self.value(row.values[self.target_column], model.labels)
        return Pair(str(row.line), (first, second), target)

    def sentences(self, item: Pair) -> Iterable[Sequence[str]]:
        return [tree.words for tree in item.trees]

    def examples(
        self, items: Sequence[Pair], vocabulary: Vocabulary, recipe: Recipe, reads: str
    ) -> list[Example]:
        model, examples = recipe.model, []
        for pair in items:
            target = _target(pair, model.labels)
            examples.append(Example({"gold": labelled_pair(pair.trees, target, vocabulary, model)}))
        return examples

    def group_of(self, item: Pair) -> Hashable:
        return frozenset(self.replaced_by(item))

    def replaced_by(self, item: Pair) -> tuple[Hashable, ...]:
        return tuple(likeness(" ".join(tree.words)) for tree in item.trees)

    def measure(
        self, model: Model, examples: Sequence[Example], source: str, labels: Sequence[str]
    ) -> tuple[Figures, Answers]:
        scores = self.scores(model, examples, source)
        answers = answers_of(scores, examples, source, ratings=self.rates)
        return self._figures_of(answers.predicted, answers.gold), answers

    def measure_bundle(
        self, predictor: Predictor, recipe: Recipe, datasets: Datasets
    ) -> dict[str, Figures]:
        pairs, labels = datasets.items[1], recipe.model.labels
        scores = predictor.score_pairs([words for pair in pairs for words in self.sentences(pair)])
        predicted = scores @ np.arange(1, len(labels) + 1) if self.rates else scores.argmax(1)
        gold = np.array([_target(pair, labels) for pair in pairs])
        return {"text": self._figures_of(predicted, gold)}

    def _figures_of(self, predicted: NDArray[Any], gold: NDArray[Any]) -> Figures:
        return relatedness(predicted, gold) if self.rates else entailment(predicted, gold)

    def tree_kinds(self) -> tuple[str, ...]:
        return ("binary", "sequence")

    def check_head(self, recipe: Recipe, head: TaskHead) -> None:
        super().check_head(recipe, head)
        if head.rates != self.rates:
            needed = f"task {self.name} needs a head with rates = {self.rates}"
            name = recipe.model.head.name
            raise ConfigError(f"model.head: {needed}; {name} has {head.rates}")

    def advice_after(self, bundle: Path, recipe: Recipe) -> Iterator[str]:
        yield f'try it: thinstack predict --model {bundle} --pair "One text." "Another one."'


class Entailment(Pairs):
    """Classes of pairs of sentences."""

    name: ClassVar[str] = "entailment.v1"
    summary: ClassVar[str] = "classes of pairs of sentences"
    figures: ClassVar = {"accuracy": "accuracy"}
    watched: ClassVar = ("accuracy",)
    defaults: ClassVar = Defaults(
        head={"name": "entailment.v1", "options": {"layers": 1, "width": 200, "dropout": 0.2}},
        dropout=0.2,
        description="Classes of pairs of sentences.",
    )

    label_column: str = "label"
    """Label column."""

    @property
    def target_column(self) -> str:
        return self.label_column

    def value(self, text: str, labels: Sequence[str]) -> str:
        check_label(text, labels, self.label_column)
        return text

    def class_of(self, item: Pair) -> str:
        return str(item.target)

    def cases(self, model: Model, examples: Sequence[Example], source: str) -> dict[str, Cases]:
        answers = answers_of(self.scores(model, examples, source), examples, source)
        return {"calibration_error": cases_of(answers)}

    def rival(self, datasets: Datasets, labels: Sequence[str]) -> tuple[str, Figures] | None:
        """Return the majority baseline."""
        train, dev = datasets.items
        commonest = Counter(pair.target for pair in train).most_common(1)[0][0]
        right = np.array([pair.target == commonest for pair in dev], np.int64)
        return "always the most frequent class", entailment(right, np.ones_like(right))

    def labels_in(self, values: Sequence[str], source: str) -> tuple[str, ...]:
        if numbers := [value for value in values if is_fraction(value)]:
            problem = f"expected classes, found numbers ({', '.join(numbers[:3])} ...)"
            raise DataError(
                f"{source}: {problem}; if they are ratings, set the column with --score"
            )
        return super().labels_in(values, source)


class Relatedness(Pairs):
    """Ratings of pairs of sentences."""

    name: ClassVar[str] = "relatedness.v1"
    summary: ClassVar[str] = "ratings of pairs of sentences"
    figures: ClassVar = {"pearson": "Pearson's r", "spearman": "Spearman's rho", "mse": "MSE"}
    watched: ClassVar = ("pearson",)
    uncalibrated: ClassVar[str] = "its scores are read as means of ratings"
    rates: ClassVar = True
    defaults: ClassVar = Defaults(
        head={"name": "similarity.v1"},
        dropout=0.2,
        description="Scores of pairs of sentences.",
        learning_rate=0.1,
    )

    score_column: str = "score"
    """Rating column."""

    @property
    def target_column(self) -> str:
        return self.score_column

    def classes(self, labels: Collection[str]) -> Classes | None:
        return None

    def value(self, text: str, labels: Sequence[str]) -> float:
        return rating_of(text, self.score_column, labels)

    def rival(self, datasets: Datasets, labels: Sequence[str]) -> tuple[str, Figures] | None:
        """Return a linear regression on the Jaccard index of the lower-cased words of both
        sentences."""
        (x, y), (dev_x, gold) = map(_overlaps_and_ratings, datasets.items)
        slope = np.cov(x, y)[0, 1] / variance if (variance := x.var(ddof=1)) else 0.0
        ratings = y.mean() + slope * (dev_x - x.mean())
        return "linear regression on shared words", relatedness(ratings, gold)

    def say_targets(self, recipe: Recipe, datasets: Datasets, console: Console) -> None:
        labels = recipe.model.labels
        console.print(Text(escaped(f"ratings: from {labels[0]} to {labels[-1]}")))

    def labels_in(self, values: Sequence[str], source: str) -> tuple[str, ...]:
        return find_scale(values, source)


@hookimpl
def thinstack_tasks() -> list[type[Task]]:
    return [Entailment, Relatedness]


def _target(pair: Pair, labels: Sequence[str]) -> float | int:
    """Return the class of a pair, or its rating from 1."""
    return labels.index(pair.target) if isinstance(pair.target, str) else float(pair.target)


def _overlaps_and_ratings(pairs: Sequence[Pair]) -> tuple[NDArray[Any], NDArray[Any]]:
    sides = [[{word.lower() for word in tree.words} for tree in pair.trees] for pair in pairs]
    overlaps = np.array([len(a & b) / len(a | b) for a, b in sides])
    return overlaps, np.array([pair.target for pair in pairs], np.float64)
