"""The task of aspects: which phrases are terms, and what is said of them."""

from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from thinstack.bundle import open_bundle
from thinstack.core.config import ModelConfig
from thinstack.core.model.model import Model
from thinstack.core.transitions import spans_of
from thinstack.data.files.paths import FilePath
from thinstack.data.tables.alike import likeness
from thinstack.data.tables.table import Table
from thinstack.data.tables.table_rows import COLUMN_ADVICE, RowChecks, TableRow
from thinstack.data.words.vocabulary import Vocabulary
from thinstack.errors import DataError
from thinstack.evaluate.aspect_figures import NAMES, Judged, aspect_figures
from thinstack.evaluate.figures import Figures
from thinstack.runtime.predictor import Predictor
from thinstack.text.sentences import Splitter, splitter
from thinstack.training.examples.example import Example, Minibatch
from thinstack.training.loop.measuring import Answers
from thinstack.training.recipe import Recipe, TrainingConfig
from thinstack.training.task import Losses
from thinstack.training.tasks._table import Defaults, TableTask
from thinstack.training.tasks.aspects.loss import aspect_losses
from thinstack.training.tasks.aspects.reading import ENDS, Labelled, read_sentences
from thinstack.training.tasks.aspects.targets import examples_of_terms

__all__ = ["Aspects"]


class Aspects(TableTask):
    """Learns which phrases are terms, and what is said of each. Each row of a table names a term,
    the characters from column `start` to column `end` of its text, and labels it."""

    name: ClassVar[str] = "aspects.v1"
    summary: ClassVar[str] = "terms of texts, and what is said of each"
    heads: ClassVar = ("nodes",)
    figures: ClassVar = NAMES
    watched: ClassVar = ("polarity_accuracy", "aspect_f1")
    items: ClassVar[str] = "sentences"
    repeats: ClassVar[bool] = True
    advice: ClassVar[str] = f"{COLUMN_ADVICE}; the columns of terms must be named 'start' and 'end'"
    defaults: ClassVar = Defaults(
        head={"name": "node_classifier.v1", "options": {"hidden": 0, "dropout": 0.4}},
        dropout=0.25,
        description="Terms and what is said of them: {}.",
    )

    text_column: str = Field(default="text", description="The column of the texts.")
    label_column: str = Field(default="label", description="The column of what is said of terms.")
    guide: str = Field(
        default="sentiment",
        description="Name or folder of a bundle of sentiment. It makes the trees of the sentences, "
        "and says how their phrases sound that are no terms.",
    )
    polarity_weight: float = Field(
        default=2.0, ge=0, description="How much what is said of a term counts in the loss."
    )
    phrase_weight: float = Field(
        default=0.3,
        ge=0,
        description="How much the sentiment of the other phrases counts in the loss.",
    )

    @property
    def columns_read(self) -> list[str]:
        return [self.text_column, self.label_column, *ENDS]

    @property
    def target_column(self) -> str:
        return self.label_column

    def rows(
        self, path: FilePath, skipped: list[DataError] | None = None, labels: Collection[str] = ()
    ) -> Iterator[TableRow]:
        table = Table(path, encoding=self.encoding, separator=self.separator, header=self.header)
        checks: RowChecks = {"skipped": skipped, "advice": self.advice}
        return table.rows(self.columns_read, optional=[self.label_column, *ENDS], **checks)

    def splitter(self) -> Splitter:
        """The function that cuts texts into sentences."""
        return splitter()

    def read(self, path: FilePath, model: ModelConfig, skipped: list[DataError]) -> list[Labelled]:
        return read_sentences(path, self, model.labels[1:], skipped if self.skip_bad else None)

    def sentences(self, item: Labelled) -> Iterable[Sequence[str]]:
        return [item.words]

    def group_of(self, item: Labelled) -> Hashable:
        return likeness(item.text)

    def check(self, recipe: Recipe) -> None:
        pass

    def examples(
        self,
        items: Sequence[Labelled],
        vocabulary: Vocabulary,
        recipe: Recipe,
        *,
        reads: str,
        file: Path,
    ) -> list[Example]:
        if not items:
            return []
        weights = {"polarity_weight": self.polarity_weight, "phrase_weight": self.phrase_weight}
        guide = Predictor(open_bundle(self.guide), classes=3)
        return examples_of_terms(items, guide, vocabulary, recipe.model, **weights)

    # -- learning and measuring

    def loss(
        self,
        model: Model,
        batch: Minibatch,
        whole: Sequence[Example],
        training: TrainingConfig,
        initial: Model | None,
    ) -> Losses:
        return aspect_losses(model, batch, training)

    def measured_trees(self, recipe: Recipe) -> tuple[str, ...]:
        return ("gold", "self")

    def measure(
        self, model: Model, examples: Sequence[Example], source: str, labels: Sequence[str]
    ) -> tuple[Figures, Answers | None]:
        scores = self.scores(model, examples, source)
        return aspect_figures(
            judged(example, rows, source) for example, rows in zip(examples, scores, strict=True)
        ), None

    def find_labels(self, values, source, scale=None):
        raise NotImplementedError


def judged(example: Example, scores: np.ndarray, source: str) -> Judged:
    gold = example.gold
    spans = [tuple(span) for span in spans_of(gold.forest.transitions).tolist()]
    terms = [(*spans[node], int(gold.targets[node]) - 2) for node in np.flatnonzero(gold.targets > 0)]
    own = spans_of(example.trees[source].forest.transitions)
    sides, phrases = [], []
    for start, end, _ in terms:
        around = np.flatnonzero((own[:, 0] <= start) & (own[:, 1] >= end))
        node = around[(own[around, 1] - own[around, 0]).argmin()]
        phrases.append(tuple(own[node]) == (start, end))
        sides.append(int(scores[node, 1:].argmax()) - 1)
    found = []
    for node in np.argsort(scores[:, 0], kind="stable"):
        if scores[node, 0] > 0.5:
            break
        start, end = own[node].tolist()
        if all(end <= s or start >= e for s, e, _ in found):
            found.append((start, end, int(scores[node, 1:].argmax()) - 1))
    return Judged(terms, sides, phrases, found)
