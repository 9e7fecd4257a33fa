"""The tasks of treebanks: classes of all labelled phrases, or of whole sentences."""

from collections.abc import Hashable, Iterable, Sequence
from pathlib import Path
from typing import ClassVar

from pydantic import Field
from rich.console import Console

from thinstack.bundle.manifest import RELABEL_FILE, json_file
from thinstack.core.config import EvaluationSource, ModelConfig
from thinstack.core.head import TaskHead
from thinstack.core.model.model import Model
from thinstack.core.scale import Scale
from thinstack.data.files.paths import FilePath
from thinstack.data.tables.alike import likeness
from thinstack.data.trees.treebank import Labelled, read_labelled
from thinstack.data.words.vocabulary import Vocabulary
from thinstack.errors import ConfigError, DataError
from thinstack.evaluate.accuracy import accuracy
from thinstack.evaluate.figures import Figures
from thinstack.evaluate.treebank_evaluation import evaluate_predictor
from thinstack.plugins.kinds import hookimpl
from thinstack.plugins.manager import manager
from thinstack.runtime.predictor import Predictor
from thinstack.training.examples.datasets import Datasets
from thinstack.training.examples.example import Example, examples_of
from thinstack.training.loop.losses import joint_losses
from thinstack.training.loop.measuring import Answers, answers_of
from thinstack.training.loop.teaching import needs_soft_labels
from thinstack.training.publish.calibrate import Cases, cases_of
from thinstack.training.publish.reports import say_classes
from thinstack.training.recipe import Recipe
from thinstack.training.task import Losses, Step, Task

__all__ = ["thinstack_tasks"]

BRACKETS = "brackets.v1"


class Treebank(Task):
    """A task on the classes of the nodes of labeled trees."""

    items: ClassVar[str] = "trees"
    brings_trees: ClassVar = True

    format: str = BRACKETS
    """Name of a registered reader."""
    relabel: dict[str, str] = Field(default_factory=dict)
    """New names for classes in the files; "" removes a class. Sentences without a class are
    skipped."""
    root_weight: float = Field(default=0.0, ge=0)
    """Additional weight of whole sentences when training on phrases: weight of a root's loss
    relative to the mean loss of the labeled nodes of its tree. With 0.2, the root of a tree of 40
    nodes counts 1 + 8 times."""
    group_weight: float = Field(default=0.0, ge=0)
    """Weight in the loss of differences within a group: sentences that a lesson creates from one by
    replacing the people in it."""

    def read(self, path: FilePath, model: ModelConfig, skipped: list[DataError]) -> list[Labelled]:
        # `read_labelled` reads brackets itself, and names the line of a wrong label.
        brackets = self.format == BRACKETS
        read = None if brackets else manager().find("reader", self.format).plugin.trees
        return read_labelled(Path(path), model.labels, read=read, relabel=self.relabel)

    def sentences(self, item: Labelled) -> Iterable[Sequence[str]]:
        return [item[0].words]

    def group_of(self, item: Labelled) -> Hashable:
        return likeness(" ".join(item[0].words))

    def check(self, recipe: Recipe) -> None:
        super().check(recipe)
        if recipe.model.class_sets:
            raise ValueError("model.class_sets: works only with tables of texts; omit it")
        if recipe.model.vectors and not (recipe.init and "vectors" in recipe.init.parts):
            raise ValueError(f"model.vectors: {self.name} does not train them; use vectors.v1")

    def examples(
        self, items: Sequence[Labelled], vocabulary: Vocabulary, recipe: Recipe, reads: str
    ) -> list[Example]:
        sources = (*recipe.training.sources, *recipe.measured_trees)
        return examples_of(items, vocabulary, recipe.model, reads, sources)

    def check_head(self, recipe: Recipe, head: TaskHead) -> None:
        super().check_head(recipe, head)
        nodes = head.reads == "nodes"
        soft = needs_soft_labels(recipe) or self.root_weight or self.group_weight
        if soft and not (nodes and head.soft_labels):
            raise ConfigError(
                "model.head: a teacher, lesson weights, task.root_weight and "
                "task.group_weight need a node head that takes soft labels, such as "
                f"node_classifier.v1; found {recipe.model.head.name}"
            )
        chains = recipe.model.trees == "sequence" and nodes
        if chains and recipe.model.encoder.top_down is not None:
            raise ConfigError(
                "model.head: a sequence model whose head reads nodes does not work with "
                "model.encoder.top_down; use a head that reads roots"
            )

    def check_items(self, recipe: Recipe, train: Sequence[Labelled]) -> None:
        names = set(recipe.model.relations)
        if names and not any(names.intersection(tree.labels) for tree, _ in train):
            raise ConfigError(
                f"model.relations: no node of {recipe.data.train} has one of them, as read by "
                f"{self.format}: a node has one label, its relation (conllu.v1) or its class "
                "(labelled_conllu.v1); omit relations, or use relations from the file"
            )

    def loss(self, step: Step) -> Losses:
        return joint_losses(step, self.root_weight, self.group_weight)

    def measured_trees(self, recipe: Recipe) -> tuple[str, ...]:
        gold, *parsed = super().measured_trees(recipe)
        plain = (recipe.model.tree_source,) if recipe.model.trees == "binary" else ()
        return tuple(dict.fromkeys((gold, *plain, *parsed)))

    def measure(
        self, model: Model, examples: Sequence[Example], source: str, labels: Sequence[str]
    ) -> tuple[Figures, Answers]:
        """Return figures, which are None for phrases if the model scores only whole sentences, and
        for binary accuracy if the `labels` are not a scale."""
        scores = self.scores(model, examples, source)
        trees = [example.trees[source] for example in examples]
        targets, roots = [one.targets for one in trees], [one.whole for one in trees]
        phrases = model.head.reads != "roots" or any(len(one) != 1 for one in targets)
        scale = Scale.of(labels)
        figures = accuracy(scores, targets, scale=scale, phrases=phrases, roots=roots)
        return figures, answers_of(scores, examples, source)

    def cases(self, model: Model, examples: Sequence[Example], source: str) -> dict[str, Cases]:
        """Return sentences, and labeled phrases if there are any."""
        nodes = answers_of(self.scores(model, examples, source), examples, source)
        kinds = {"root_calibration_error": cases_of(nodes.at(nodes.whole))}
        return kinds if nodes.whole.all() else kinds | {"phrase_calibration_error": cases_of(nodes)}

    def measure_bundle(
        self, predictor: Predictor, recipe: Recipe, datasets: Datasets
    ) -> dict[str, Figures]:
        plain = recipe.model.trees == "sequence"
        sources: tuple[EvaluationSource, ...] = ("gold",) if plain else ("gold", "auto")
        development = datasets.items[1]
        figures: dict[str, Figures] = {
            source: evaluate_predictor(predictor, development, source=source) for source in sources
        }
        text = evaluate_predictor(predictor, development, source="auto", text=True)
        return {**figures, "text": text}

    def report_data(self, recipe: Recipe, datasets: Datasets, out: Path, console: Console) -> None:
        say_classes(recipe.model.labels, datasets, console)

    @property
    def evaluate_options(self) -> str:
        return "" if self.format == BRACKETS else f" --format {self.format}"

    def bundle_files(self) -> dict[str, bytes]:
        return {RELABEL_FILE: json_file(self.relabel)} if self.relabel else {}


class Phrases(Treebank):
    """Classes of all labeled phrases of trees, on a scale from negative to positive."""

    name: ClassVar[str] = "phrases.v1"
    summary: ClassVar[str] = "classes of all labeled phrases of trees, from negative to positive"
    figures: ClassVar = {
        "root_accuracy": "root",
        "root_binary_accuracy": "root, binary",
        "phrase_accuracy": "phrases",
        "phrase_binary_accuracy": "phrases, binary",
    }
    watched: ClassVar = ("root_accuracy", "root_binary_accuracy", "phrase_accuracy")
    takes_lessons: ClassVar[bool] = True

    def columns(self, labels: Sequence[str]) -> dict[str, str]:
        binary = {"root_binary_accuracy": "binary"} if Scale.of(labels) else {}
        return {"root_accuracy": "sentences", **binary, "phrase_accuracy": "phrases"}

    def explained(self, labels: Sequence[str]) -> str:
        if Scale.of(labels) is None:
            return ""
        return "*Binary* is positive or negative, without neutral sentences. "


class Sentences(Treebank):
    """Classes of whole sentences with trees."""

    name: ClassVar[str] = "sentences.v1"
    summary: ClassVar[str] = "classes of whole sentences that have trees"
    figures: ClassVar = {"root_accuracy": "accuracy"}
    watched: ClassVar = ("root_accuracy",)


@hookimpl
def thinstack_tasks() -> list[type[Task]]:
    return [Phrases, Sentences]
