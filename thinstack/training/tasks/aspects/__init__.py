"""The task of aspects: terms, and the opinions about them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import ClassVar, Final

from pydantic import Field
from rich.console import Console
from rich.text import Text

from thinstack.core.config import ModelConfig
from thinstack.core.model.model import Model
from thinstack.core.scale import NO_TERM, Scale
from thinstack.data.files.paths import FilePath
from thinstack.data.words.vocabulary import Vocabulary
from thinstack.errors import DataError, InputError, escaped
from thinstack.evaluate.accuracy import ASPECT_NAMES, aspect_figures
from thinstack.evaluate.figures import Figures
from thinstack.runtime.predictor import Predictor
from thinstack.training.examples.datasets import Datasets
from thinstack.training.examples.example import Example
from thinstack.training.examples.set_aside import is_held_out
from thinstack.training.loop.losses import aspect_losses
from thinstack.training.loop.measuring import Answers, answers_of
from thinstack.training.publish.calibrate import Cases, cases_of
from thinstack.training.recipe import Recipe
from thinstack.training.task import Losses, Step
from thinstack.training.tasks._table import Defaults, TextTask
from thinstack.training.tasks.aspects.sentences import (
    LabelledSentence,
    guided_examples,
    judged_bundle,
    judged_examples,
    read_sentences,
)
from thinstack.training.tasks.spans import ENDS, SPAN_ADVICE

__all__ = ["Aspects"]

_EXPLAINED: Final = """Trees are *gold*: those of the guide,
changed so that every term is a phrase; or *self* and *auto*: the model's own. A term that is not a
phrase is judged by the smallest phrase around it. *F1 of terms* counts terms that the model finds
with exactly the same words. """


class Aspects(TextTask):
    """Terms and the opinions about them. Each row of a table labels a term, the characters from
    `start` to `end` in its text. A row without start, end and label adds a text that may have no
    term."""

    name: ClassVar[str] = "aspects.v1"
    summary: ClassVar[str] = "terms in texts, and the opinion about each"
    heads: ClassVar = ("nodes",)
    figures: ClassVar = ASPECT_NAMES
    watched: ClassVar = ("polarity_accuracy", "aspect_f1")
    items: ClassVar[str] = "sentences"
    repeats: ClassVar[bool] = True
    teaches_parser: ClassVar = True
    advice: ClassVar[str] = SPAN_ADVICE
    defaults: ClassVar = Defaults(
        head={"name": "node_classifier.v1", "options": {"hidden": 0, "dropout": 0.4}},
        dropout=0.25,
        description="Terms, and what is said of each.",
    )
    starts: ClassVar[tuple[str, ...]] = ("aspects",)

    label_column: str = "label"
    """Label column."""
    guide: str | None = None
    """Name or folder of a sentiment bundle with a parser. It parses the sentences and scores
    phrases that are not terms; an aspects bundle also labels terms. Default: the bundle that
    training starts from."""
    tables: tuple[str, ...] = ()
    """Additional tables to train on, in the data folder or next to the recipe. An aspects guide
    labels the texts of tables without the columns start and end."""
    held_out: int | None = Field(default=None, gt=1)
    """With 10, a tenth of the texts in `tables`, selected by their letters, is never used in
    training; `python -m reproduce held-out` prints them."""
    alpha: float = Field(default=1.0, ge=0, le=1)
    """Weight of the tables' labels if the guide is an aspects bundle. The guide's get the rest."""
    polarity_weight: float = Field(default=12.0, ge=0, le=1000)
    """Weight of a term's label in the loss."""
    phrase_weight: float = Field(default=0.3, ge=0, le=1000)
    """Weight of the sentiment of any other phrase in the loss."""

    @property
    def columns_read(self) -> list[str]:
        return [*super().columns_read, *ENDS]

    @property
    def optional_columns(self) -> list[str]:
        return [self.label_column, *ENDS]

    def read(
        self, path: FilePath, model: ModelConfig, skipped: list[DataError], *, labelled: bool = True
    ) -> list[LabelledSentence]:
        bad = skipped if self.skip_bad else None
        return read_sentences(path, self, model.labels[1:], bad, labelled=labelled)

    @property
    def files(self) -> tuple[str, ...]:
        return self.tables

    @property
    def bundles(self) -> tuple[str, ...]:
        return () if self.guide is None else (self.guide,)

    def read_more(
        self, path: FilePath, model: ModelConfig, skipped: list[DataError]
    ) -> list[LabelledSentence]:
        labelled = {*ENDS} <= {*self.table(path).columns}
        items, share = self.read(path, model, skipped, labelled=labelled), self.held_out
        return [item for item in items if share is None or not is_held_out(item.text, share)]

    def sentences(self, item: LabelledSentence) -> Iterable[Sequence[str]]:
        return [item.words]

    def class_of(self, item: LabelledSentence) -> str:
        """Return its labels, so that sentences with terms of both polarities are set aside in
        proportion."""
        return ", ".join(sorted({label for _, _, label in item.terms}))

    def check(self, recipe: Recipe) -> None:
        labels, model = recipe.model.labels, recipe.model
        scale = Scale.of(labels[1:])
        if labels[0] != NO_TERM or scale is None or len({*scale.sides}) < len(scale.sides):
            raise ValueError(
                f"model.labels: expected {NO_TERM!r} and then a negative, a neutral and a positive "
                f"class, or a negative and a positive one, found {', '.join(labels):.200}"
            )
        if not model.parses or model.trees != "binary":
            raise ValueError(
                "model.parser: terms are phrases from the model's trees; expected a "
                "binary-tree parser, found none: start from a model with one, such as "
                "sentiment (--init sentiment)"
            )
        if recipe.training.trees != ("gold",):
            raise ValueError("training: aspects use the guide's trees; remove all sources but gold")
        if self.guide is None and recipe.init is None:
            raise ValueError(
                "task.guide: expected a bundle that parses texts, found none; set one, such as "
                'guide = "sentiment", or start from one ([init])'
            )

    def examples(
        self, items: Sequence[LabelledSentence], vocabulary: Vocabulary, recipe: Recipe, reads: str
    ) -> list[Example]:
        if not items:
            return []
        name = self.guide or ("" if recipe.init is None else recipe.init.bundle)
        return guided_examples(name, items, vocabulary, recipe.model, self)

    def check_items(self, recipe: Recipe, train: Sequence[LabelledSentence]) -> None:
        if not any(item.terms for item in train):
            raise DataError(
                f"{recipe.data.train}: expected rows with start, end and label of terms, found "
                "none to train on"
            )

    def loss(self, step: Step) -> Losses:
        return aspect_losses(step)

    def measure(
        self, model: Model, examples: Sequence[Example], source: str, labels: Sequence[str]
    ) -> tuple[Figures, Answers | None]:
        scores = self.scores(model, examples, source)
        return aspect_figures(judged_examples(examples, scores, source, labels)), None

    def cases(self, model: Model, examples: Sequence[Example], source: str) -> dict[str, Cases]:
        nodes = answers_of(self.scores(model, examples, source), examples, source)
        return {"phrase_calibration_error": cases_of(nodes)}

    def measure_bundle(
        self, predictor: Predictor, recipe: Recipe, datasets: Datasets
    ) -> dict[str, Figures]:
        judged = judged_bundle(predictor, datasets.items[1], recipe.model.labels)
        return {"text": aspect_figures(judged)}

    def explained(self, labels: Sequence[str]) -> str:
        return _EXPLAINED

    def say_targets(self, recipe: Recipe, datasets: Datasets, console: Console) -> None:
        train, dev = (
            Counter(label for item in part for *_, label in item.terms) for part in datasets.items
        )
        listed = [f"{name} {train[name]:,} + {dev[name]:,}" for name in recipe.model.labels[1:]]
        line = f"terms (training + development): {', '.join(listed)}"
        console.print(Text(escaped(line)), soft_wrap=True)

    def labels_of(
        self, values: Sequence[str], source: str, named: Sequence[str], scale: bool | None
    ) -> tuple[str, ...]:
        named = [label for label in named if label != NO_TERM]
        return (NO_TERM, *super().labels_of(values, source, named, scale))

    def labels_in(self, values: Sequence[str], source: str) -> tuple[str, ...]:
        if not (labelled := [value for value in values if value]):
            raise DataError(
                f"{source}: expected rows with start, end and label of terms, found only texts"
            )
        labels = super().labels_in(labelled, source)
        sides = Scale.of(labels)
        if sides is None or len({*sides.sides}) < len(sides.sides):
            raise InputError(
                f"{source}: expected the labels negative, neutral and positive (or two of "
                f"them), found {', '.join(labels):.200}; rename them, "
                "or list the labels to use (--labels) and skip rows with others (--skip-bad)"
            )
        return labels

    def advice_after(self, bundle: Path, recipe: Recipe) -> Iterator[str]:
        yield f'try it: thinstack predict --model {bundle} --aspects "Any text."'
