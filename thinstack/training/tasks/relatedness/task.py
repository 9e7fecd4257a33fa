"""The task of ratings of pairs of sentences."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
from rich.console import Console

from thinstack.core.model.model import Model
from thinstack.data.tables.table_rows import Classes
from thinstack.data.trees.pairs import Pair
from thinstack.evaluate.figures import Figures
from thinstack.evaluate.pair_figures import relatedness
from thinstack.training.examples.datasets import Datasets
from thinstack.training.examples.example import Example
from thinstack.training.publish.class_report import say_ratings
from thinstack.training.publish.measuring import Answers, answers_of
from thinstack.training.recipe import Recipe
from thinstack.training.tasks._pairs import Pairs
from thinstack.training.tasks._table import Defaults
from thinstack.training.tasks._table_report import say_what_is_odd
from thinstack.training.tasks.relatedness.scale import find_scale, rating_of

__all__ = ["Relatedness", "by_overlap"]


class Relatedness(Pairs):
    """Learns ratings of pairs of sentences."""

    name: ClassVar[str] = "relatedness.v1"
    summary: ClassVar[str] = "ratings of pairs of sentences"
    figures: ClassVar = {"pearson": "Pearson's r", "spearman": "Spearman's rho", "mse": "MSE"}
    watched: ClassVar = ("pearson",)
    uncalibrated: ClassVar[str] = "its scores are read as means of ratings"
    target: ClassVar = "relatedness"
    defaults: ClassVar = Defaults(
        head={"name": "similarity.v1"},
        dropout=0.2,
        description="Scores of pairs of sentences: the mean of {}, weighted by `pair_scores`.",
        learning_rate=0.1,
    )

    score_column: str = Field(default="score", description="The column of the ratings.")

    @property
    def target_column(self) -> str:
        return self.score_column

    def classes(self, labels: Collection[str]) -> Classes | None:
        return None

    def value(self, text: str, labels: Sequence[str]) -> float:
        return rating_of(text, self.score_column, labels)

    def measure(
        self, model: Model, examples: Sequence[Example], source: str, labels: Sequence[str]
    ) -> tuple[Figures, Answers]:
        scores = self.scores(model, examples, source)
        answers = answers_of(scores, examples, source, ratings=True)
        return relatedness(answers.predicted, answers.gold), answers

    def rival(self, datasets: Datasets, labels: Sequence[str]) -> tuple[str, Figures] | None:
        return None if self.brings_trees else by_overlap(*datasets.items)

    def report_data(self, recipe: Recipe, datasets: Datasets, out: Path, console: Console) -> None:
        labels = recipe.model.labels
        if self.brings_trees:
            say_ratings("1", str(len(labels)), console)
        else:
            say_ratings(labels[0], labels[-1], console)
            say_what_is_odd(self, recipe, datasets, out, console)

    def find_labels(
        self, values: Sequence[str], source: str, scale: bool | None = None
    ) -> tuple[str, ...]:
        return find_scale(values, f"{source}, {self.score_column}")


def by_overlap(train: Sequence[Pair], dev: Sequence[Pair]) -> tuple[str, Figures]:
    """The name and the figures on `dev` of a linear regression of ratings on the share of words
    that both sentences have: the Jaccard index of their lower-cased words."""
    x, y = _overlaps(train), np.array([pair.target for pair in train], np.float64)
    slope = np.cov(x, y)[0, 1] / variance if (variance := x.var(ddof=1)) else 0.0
    ratings = y.mean() + slope * (_overlaps(dev) - x.mean())
    gold = np.array([pair.target for pair in dev], np.float64)
    return "linear regression on shared words", relatedness(ratings, gold)


def _overlaps(pairs: Sequence[Pair]) -> NDArray[Any]:
    sides = [[{word.lower() for word in tree.words} for tree in pair.trees] for pair in pairs]
    return np.array([len(a & b) / len(a | b) for a, b in sides])
