"""The task of classes of texts."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from sys import intern
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from pydantic import Field
from rich.console import Console

from thinstack.bundle import Bundle, open_bundle
from thinstack.bundle.weights import load_model
from thinstack.core.config import ModelConfig
from thinstack.core.config.base import Rate
from thinstack.core.model.model import Model
from thinstack.core.scale import (
    FIVE,
    NUMBERS,
    ClassSets,
    Scale,
    are_numbers,
    in_order,
    sentiment_sets,
    set_matrix,
)
from thinstack.data.files.paths import FilePath
from thinstack.data.tables.table_rows import TableRow
from thinstack.data.words.vocabulary import Vocabulary
from thinstack.errors import DataError, InputError
from thinstack.evaluate.accuracy import NAMES, text_figures
from thinstack.evaluate.figures import Figures, percent, percentage
from thinstack.integrations.show.marks import as_text, shorten, visible
from thinstack.runtime.predictor import Predictor
from thinstack.runtime.scored import text_scores
from thinstack.text.sentences import Sentence
from thinstack.training.examples.datasets import Datasets
from thinstack.training.examples.example import Example
from thinstack.training.loop.losses import text_losses
from thinstack.training.loop.measuring import Answers, answers_of, text_scores_of
from thinstack.training.loop.seeds import SeedResult, Spreads
from thinstack.training.publish.calibrate import Cases
from thinstack.training.publish.reports import say_classes, show_seeds
from thinstack.training.recipe import Recipe
from thinstack.training.task import Losses, Step
from thinstack.training.tasks._table import Defaults, TextTask, check_label
from thinstack.training.tasks.texts.report import NAME, plain_rival, show_texts

__all__ = ["Texts"]

NEIGHBOURS = 0.2
"""`neighbours` for ordered classes. On held-out SST sentences, it adds a point of accuracy."""

PHRASE_PENALTY = 1.0
"""`phrase_penalty` for texts whose labels are classes of the initial bundle, or sets of them."""

LISTED = 3
"""Number of texts that became right, and wrong, in a list."""


class Text(NamedTuple):
    """A text, or a phrase of one, with its class.

    Attributes:
        text: the text in the table.
        sentences: the words of each sentence. A phrase is one sentence.
        label: its class.
        line: its line in the table, from 1.
    """

    text: str
    sentences: list[list[str]]
    label: str
    line: int


class Texts(TextTask):
    """Classes of texts with any number of sentences, from a table (.csv, .tsv, .json, .jsonl,
    .parquet, .spacy)."""

    name: ClassVar[str] = "texts.v1"
    summary: ClassVar[str] = "classes of texts of any number of sentences, from a table"
    figures: ClassVar = NAMES
    watched: ClassVar = ("accuracy",)
    defaults: ClassVar = Defaults(
        head={"name": "root_classifier.v1", "options": {"hidden": 0, "dropout": 0.6}},
        dropout=0.4,
        description="Classes of texts.",
    )
    starts: ClassVar[tuple[str, ...]] = ("sentiment-context", "vectors", "sentiment")

    neighbours: Rate = 0.0
    """For ordered classes: share of the target that goes to the classes next to a text's own."""
    phrase_penalty: float = Field(default=0.0, ge=0)
    """If training starts from a bundle: weight of a penalty, relative to the loss of a text, for
    changing the scores of phrases inside its sentences (a mean divergence)."""

    def rows(
        self, path: FilePath, skipped: list[DataError] | None = None, labels: Collection[str] = ()
    ) -> Iterator[TableRow]:
        if not str(path).lower().endswith(".spacy"):
            return super().rows(path, skipped, labels)
        from thinstack.integrations.spacy.doc_bins import read_doc_bin

        checks = self.row_checks(skipped, labels)
        return read_doc_bin(path, self.columns_read, **self.doc_bin_options(), **checks)

    def doc_bin_options(self) -> dict[str, Any]:
        """Return further arguments of `read_doc_bin`."""
        return {}

    def words(self, row: TableRow, sentences: Sequence[Sentence]) -> list[Sequence[str]]:
        """Return the words of each sentence of a row."""
        return [sentence.words for sentence in sentences]

    def item(self, row: TableRow, texts: Sequence[list[Sentence]], model: ModelConfig) -> Text:
        label = row.values[self.label_column]
        check_label(label, model.shown_labels, self.label_column)
        # In a million texts most words repeat, so each is stored once.
        words = [[intern(word) for word in part] for part in self.words(row, texts[0])]
        return Text(row.values[self.text_column], words, intern(label), row.line)

    def sentences(self, item: Text) -> Iterable[Sequence[str]]:
        return item.sentences

    def examples(
        self, items: Sequence[Text], vocabulary: Vocabulary, recipe: Recipe, reads: str
    ) -> list[Example]:
        number = {name: place for place, name in enumerate(recipe.model.shown_labels)}
        texts, targets = [item.sentences for item in items], [number[item.label] for item in items]
        return self.made_examples(texts, targets, vocabulary, recipe.model)

    def class_of(self, item: Text) -> str:
        return item.label

    def check_items(self, recipe: Recipe, train: Sequence[Text]) -> None:
        if len(labels := {item.label for item in train}) == 1:
            raise DataError(
                f"{recipe.data.train}: expected texts of at least two classes to train on, found "
                f"only {labels.pop()!r:.60}; add texts of another class"
            )

    @property
    def keeps_start(self) -> bool:
        return self.phrase_penalty > 0

    def loss(self, step: Step) -> Losses:
        return text_losses(step, neighbours=self.neighbours, penalty=self.phrase_penalty)

    def measure(
        self, model: Model, examples: Sequence[Example], source: str, labels: Sequence[str]
    ) -> tuple[Figures, Answers]:
        texts = text_scores_of(model, examples, source)(None)
        answers = answers_of(np.split(texts, len(texts)), examples, source)
        return text_figures(texts, answers.gold, labels), answers

    def cases(self, model: Model, examples: Sequence[Example], source: str) -> dict[str, Cases]:
        at = text_scores_of(model, examples, source)  # parses, if the trees are the model's own
        gold = np.concatenate([example.trees[source].targets for example in examples])
        return {"calibration_error": Cases(at, gold, np.arange(len(gold)) % 2)}

    def measure_bundle(
        self, predictor: Predictor, recipe: Recipe, datasets: Datasets
    ) -> dict[str, Figures]:
        """Return the figures of the words of sentences; a phrase is one sentence."""
        texts, labels = datasets.items[1], recipe.model.shown_labels
        scored = predictor.score_texts([text.sentences for text in texts])
        lengths = np.array([len(words) for text in texts for words in text.sentences])
        gold = np.array([labels.index(text.label) for text in texts], np.int64)
        scores = text_scores(scored, lengths)
        return {"text": text_figures(scores, gold, labels, predictor.view.best(scores))}

    def rival(self, datasets: Datasets, labels: Sequence[str]) -> tuple[str, Figures]:
        return NAME, plain_rival(*datasets.items, labels)

    def report(
        self,
        results: Sequence[SeedResult],
        over_seeds: Spreads,
        rival: tuple[str, Figures] | None,
        recipe: Recipe,
        console: Console,
    ) -> None:
        """Print the figures of several seeds, and compare those of the best with the baseline."""
        if len(results) > 1:
            show_seeds(results, over_seeds, recipe, console)
        best = max(results, key=lambda result: result.selection)
        (source,) = recipe.measured_trees
        answers = best.answers[source]
        assert rival is not None
        assert answers is not None
        show_texts(answers, best.dev[source], rival, recipe, console)

    def report_changes(
        self, result: SeedResult, datasets: Datasets, recipe: Recipe, console: Console
    ) -> None:
        (source,) = recipe.measured_trees
        answers, start, labels = result.answers[source], datasets.start, recipe.model.shown_labels
        if start is None or answers is None or recipe.init is None:
            return
        same, sets = start.config.shown_labels == labels, recipe.model.class_sets
        if not same and (not sets or start.config.shown_labels != recipe.model.labels):
            return
        classes = None if same else set_matrix(recipe.model.labels, sets)
        scores = text_scores_of(load_model(start), datasets.dev, source, classes)(None)
        before, after, gold = scores.argmax(1), answers.predicted, answers.gold
        better, worse = (after == gold) & (before != gold), (after != gold) & (before == gold)
        first, now = (percent(percentage(one == gold)) for one in (before, after))
        console.print(
            f"compared with {as_text(recipe.init.bundle)}: accuracy {first} -> {now}; of "
            f"{len(gold):,} texts, {better.sum():,} became right and {worse.sum():,} wrong",
            soft_wrap=True,
        )
        for title, changed in (("right", better), ("wrong", worse)):
            for place in np.flatnonzero(changed)[:LISTED].tolist():
                text, then, answer = datasets.items[1][place], before[place], after[place]
                line = f"  {title}: line {text.line}, {labels[then]} -> {labels[answer]}: "
                console.print(as_text(line + shorten(visible(text.text), 70)), soft_wrap=True)

    def say_targets(self, recipe: Recipe, datasets: Datasets, console: Console) -> None:
        """Print the classes, and whether they are treated as a scale."""
        labels, sets, lines = recipe.model.shown_labels, recipe.model.class_sets, list[str]()
        if sets:
            meant = "; ".join(f"{label} is {' or '.join(sets[label])}" for label in labels)
            lines.append(
                f"they are treated as a scale of sentiment: {meant}. Phrases keep their "
                "scores; if the classes are something else, train with --no-scale (in Python "
                "scale=False)"
            )
        elif self.neighbours:
            lines.append(
                f"they are treated as a scale, {' < '.join(labels)}: {self.neighbours:.0%} of "
                "each text's target goes to the adjacent classes; if they are not a scale, "
                "train with --no-scale (in a recipe neighbours = 0)"
            )
        elif are_numbers(labels) and len(labels) > 2:
            lines.append(
                "they are numbers, but not treated as a scale; if they are one, such as "
                "stars, train with --scale (in a recipe neighbours = 0.2). If no text has its "
                "lowest or highest step, list all steps, such as --labels 1,2,3,4,5"
            )
        if not sets and {*labels} == {*NUMBERS} and Scale.of(labels):
            lines.append(f"0 to 4 are shown as the treebank's classes, {FIVE[0]} to {FIVE[-1]}")
        say_classes(labels, datasets, console, lines)

    def labels_of(
        self, values: Sequence[str], source: str, named: Sequence[str], scale: bool | None
    ) -> tuple[str, ...]:
        labels = super().labels_of(values, source, named, scale)
        in_known_order = named or len(labels) < 3 or in_order(labels) or are_numbers(labels)
        if scale and not in_known_order:
            raise InputError(
                f"--scale: the order of the classes is unknown ({', '.join(labels):.200}); "
                "list them in order, from one end to the other: --labels A,B,C (in Python "
                "labels=)"
            )
        return labels

    def settled(
        self, labels: Sequence[str], scale: bool | None, start: Bundle | None
    ) -> tuple[Self, ClassSets | None]:
        sets: ClassSets | None = None
        if start is not None and tuple(labels) == start.config.labels and scale is not False:
            sets = {}
        elif start is not None and start.config.labels == FIVE:
            sets = sentiment_sets(labels, self.label_column, scale)
        if sets is not None:
            return self.model_copy(update={"phrase_penalty": PHRASE_PENALTY}), sets
        if scale and len(labels) < 3:
            raise InputError(f"--scale: expected three classes or more, found {len(labels)}")
        ordered = in_order(labels) if scale is None else scale
        return self.model_copy(update={"neighbours": NEIGHBOURS} if ordered else {}), None

    def starts_for(self, labels: Sequence[str], scale: bool | None) -> tuple[str, ...]:
        of_sentiment = self.settled(labels, scale, open_bundle("sentiment"))[1] is not None
        return ("sentiment",) if of_sentiment else self.starts

    def advice_after(self, bundle: Path, recipe: Recipe) -> Iterator[str]:
        if recipe.init is None or "head" not in recipe.init.parts:
            yield (
                "this model scores whole sentences, not their phrases; to score both, train "
                "on labels that are a sentiment scale (with --init sentiment), or on labeled "
                "phrases (--task spans)"
            )
        yield f'try it: thinstack predict --model {bundle} "Any text."'
