"""The task of ratings of pairs of sentences."""

import math
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.text import Text

from thinstack.core.model.model import Model
from thinstack.data.tables.table_rows import Classes
from thinstack.errors import ConfigError, DataError, escaped
from thinstack.evaluate.figures import Figures
from thinstack.evaluate.pair_figures import relatedness
from thinstack.training.examples.datasets import Datasets
from thinstack.training.examples.example import Example
from thinstack.training.loop.measuring import Answers, answers_of
from thinstack.training.recipe import Recipe
from thinstack.training.tasks._pairs import Pair, Pairs
from thinstack.training.tasks._table import Defaults, say_what_is_odd

__all__ = ["Relatedness", "by_overlap"]

MAX_SCALE: Final = 21
"""The most whole numbers on a scale. A longer scale, such as 0 to 100, has too few pairs for
each."""


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

    def measure(
        self, model: Model, examples: Sequence[Example], source: str, labels: Sequence[str]
    ) -> tuple[Figures, Answers]:
        scores = self.scores(model, examples, source)
        answers = answers_of(scores, examples, source, ratings=True)
        return relatedness(answers.predicted, answers.gold), answers

    def figures_of(self, scores: NDArray[np.floating], gold: NDArray[Any]) -> Figures:
        return relatedness(scores @ np.arange(1, scores.shape[1] + 1), gold)

    def rival(self, datasets: Datasets, labels: Sequence[str]) -> tuple[str, Figures] | None:
        return by_overlap(*datasets.items)

    def report_data(self, recipe: Recipe, datasets: Datasets, out: Path, console: Console) -> None:
        labels = recipe.model.labels
        console.print(Text(escaped(f"ratings: from {labels[0]} to {labels[-1]}")))
        say_what_is_odd(self, recipe, datasets, out, console)

    def labels_of(
        self, values: Sequence[str], source: str, named: Sequence[str], scale: bool | None
    ) -> tuple[str, ...]:
        return tuple(named) or find_scale(values, f"{source}, {self.score_column}")


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


def rating_of(text: str, column: str, labels: Sequence[str]) -> float:
    """The rating of a score, from 1 to the number of `labels`. These are whole numbers, which the
    scores of `column` go over."""
    least, score = _least(labels), _number(text)
    if score is None or not least <= score <= float(labels[-1]):
        expected = f"a score from {labels[0]} to {labels[-1]} (model.labels) in {column}"
        raise DataError(
            f"expected {expected}, found {text!r:.60}; fix it, or pass the whole scale, such "
            "as --labels 0,1,2,3,4,5"
        )
    return score - least + 1


def find_scale(scores: Iterable[str], source: str) -> tuple[str, ...]:
    """The labels of a model of these scores: the whole numbers from the least to the greatest
    score. Texts that are no number are ignored. `source` leads messages."""
    least, greatest, text = math.inf, -math.inf, ""
    for text in scores:
        if (score := _number(text)) is not None:
            least, greatest = min(least, score), max(greatest, score)
    if least >= greatest:
        odd = f"only {least:g}" if least == greatest else f"{text!r:.60}, which is not a number"
        if _number(text.replace(",", ".")) != _number(text):
            odd += " (write 1.5, not 1,5)"
        raise DataError(
            f"{source}: expected scores, that is different numbers, found {odd}; name the "
            "column of the scores with --score"
        )
    low, high = math.floor(least), math.ceil(greatest)
    if high - low >= MAX_SCALE:
        raise DataError(
            f"{source}: expected scores on a scale of 2 to {MAX_SCALE} whole numbers, such as "
            f"0 to 5, 1 to 7 or 0 to 1, found {least:g} to {greatest:g}; divide them (0 to "
            "100 by 20, which gives 0 to 5), or fix the row that is off the scale"
        )
    return tuple(str(number) for number in range(low, high + 1))


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _least(labels: Sequence[str]) -> float:
    """The least score of a model, whose labels are whole numbers that go up by one."""
    numbers = [_number(label) for label in labels]
    if numbers[0] is None or numbers != [numbers[0] + step for step in range(len(labels))]:
        raise ConfigError(
            "model.labels: expected the whole numbers that the scores of the table go over, one by "
            f"one (such as 0, 1, 2, 3, 4, 5), found {', '.join(labels)}"
        )
    return numbers[0]
