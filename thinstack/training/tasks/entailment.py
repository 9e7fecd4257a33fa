"""The task of classes of pairs of sentences."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from thinstack.core.model.model import Model
from thinstack.errors import DataError
from thinstack.evaluate.figures import Figures
from thinstack.evaluate.pair_figures import entailment
from thinstack.training.examples.datasets import Datasets
from thinstack.training.examples.example import Example
from thinstack.training.examples.labels import find_labels
from thinstack.training.loop.measuring import Answers, answers_of
from thinstack.training.publish.calibrate import Cases, whole_cases
from thinstack.training.tasks._pairs import Pair, Pairs
from thinstack.training.tasks._table import Defaults, check_label

__all__ = ["Entailment", "always_commonest"]


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

    def measure(
        self, model: Model, examples: Sequence[Example], source: str, labels: Sequence[str]
    ) -> tuple[Figures, Answers]:
        answers = answers_of(self.scores(model, examples, source), examples, source)
        return entailment(answers.predicted, answers.gold), answers

    def figures_of(self, scores: NDArray[np.floating], gold: NDArray[Any]) -> Figures:
        return entailment(scores.argmax(1), gold)

    def cases(self, model: Model, examples: Sequence[Example], source: str) -> dict[str, Cases]:
        trees = [example.trees[source] for example in examples]
        return {"calibration_error": whole_cases(self.scores(model, examples, source), trees)}

    def rival(self, datasets: Datasets, labels: Sequence[str]) -> tuple[str, Figures] | None:
        return always_commonest(*datasets.items)

    def labels_of(
        self, values: Sequence[str], source: str, named: Sequence[str], scale: bool | None
    ) -> tuple[str, ...]:
        source = f"{source}, {self.label_column}"
        if named:
            return tuple(named)
        if numbers := [value for value in values if _is_fraction(value)]:
            problem = f"expected classes, found numbers ({', '.join(numbers[:3])} ...)"
            raise DataError(
                f"{source}: {problem}; if they are ratings, name the column with --score"
            )
        return find_labels(values, source)


def _is_fraction(text: str) -> bool:
    try:
        return not float(text).is_integer()
    except ValueError:
        return False


def always_commonest(train: Sequence[Pair], dev: Sequence[Pair]) -> tuple[str, Figures]:
    """The name and the figures on `dev` of a rival that always gives the most frequent class of
    `train`."""
    commonest = Counter(pair.target for pair in train).most_common(1)[0][0]
    right = np.array([pair.target == commonest for pair in dev], np.int64)
    return "always the most frequent class", entailment(right, np.ones_like(right))
