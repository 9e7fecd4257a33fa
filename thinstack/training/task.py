"""The contract of a task: how to read data, train and evaluate, with which settings."""

from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple, Self

import numpy as np
from pydantic import SerializeAsAny

from thinstack.data.files.paths import FilePath
from thinstack.errors import ConfigError, DataError
from thinstack.evaluate.figures import Figures, figure_names, line
from thinstack.plugins.named import Named, named

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from rich.console import Console
    from torch import Tensor

    from thinstack.bundle import Bundle
    from thinstack.core.config import ModelConfig
    from thinstack.core.embedding import Leaves
    from thinstack.core.head import TaskHead
    from thinstack.core.model.model import Model
    from thinstack.data.words.vocabulary import Vocabulary
    from thinstack.runtime.predictor import Predictor
    from thinstack.training.examples.datasets import Datasets
    from thinstack.training.examples.example import Example, Minibatch
    from thinstack.training.loop.measuring import Answers
    from thinstack.training.loop.seeds import SeedResult, Spreads
    from thinstack.training.publish.calibrate import Cases
    from thinstack.training.recipe import Recipe, TrainingConfig

Losses = tuple[tuple["Tensor", "Tensor"], tuple[int, int]]
"""The summed losses of a task and of a parser, and the numbers of cases in each sum."""


class Step(NamedTuple):
    """A training step of a `model` on a `batch`, with the settings `training`.

    `initial` is the initial model, if the task `keeps_start`. `epoch` counts from 1.
    """

    model: "Model"
    batch: "Minibatch"
    training: "TrainingConfig"
    initial: "Model | None" = None
    epoch: int = 1


class Task(Named):
    """What a model is trained to predict. Its fields are the settings of `[task]` in a recipe.

    A task reads each file into items, such as trees or rows of a table, converts these to examples,
    and defines training, evaluation and reports.

    Attributes:
        heads: what the task head may read.
        figures: the names of the figures by key, in print order.
        watched: the figures whose sum selects the epoch.
        items: the name of the items in a file, in the plural.
        repeats: whether several items of a file usually have the same `group_of`.
        takes_lessons: whether a teacher and lessons may add examples.
        predicts: whether `thinstack predict` runs models of this task.
        uncalibrated: why no temperature is fitted, if `cases` is empty.
    """

    plugin_kind: ClassVar[str] = "task"
    heads: ClassVar[tuple[str, ...]] = ("nodes", "roots")
    figures: ClassVar[Mapping[str, str]]
    watched: ClassVar[tuple[str, ...]]
    items: ClassVar[str] = "examples"
    repeats: ClassVar[bool] = False
    takes_lessons: ClassVar[bool] = False
    predicts: ClassVar[bool] = True
    uncalibrated: ClassVar[str] = "its task has no cases to fit one on"

    # -- data

    @property
    def brings_trees(self) -> bool:
        """Whether the files contain trees. Otherwise, trees are built from the words."""
        return False

    @property
    def encoders(self) -> tuple[str, ...]:
        """The names or folders of the pretrained encoders that it uses."""
        return ()

    @property
    def teaches_parser(self) -> bool:
        """Whether a parser is trained on the trees of the examples."""
        return self.brings_trees

    @abstractmethod
    def read(self, path: FilePath, model: "ModelConfig", skipped: list[DataError]) -> list[Any]:
        """Read the items of a file. `skipped` receives the errors of items that settings skip.
        Raises DataError or TreeError for an unusable file."""

    def read_more(
        self, path: FilePath, model: "ModelConfig", skipped: list[DataError]
    ) -> list[Any]:
        """Read the items of one of its `files`, with the errors of `read`."""
        return self.read(path, model, skipped)

    @abstractmethod
    def sentences(self, item: Any) -> Iterable[Sequence[str]]:
        """Return the words of each sentence of an item."""

    @abstractmethod
    def examples(
        self, items: Sequence[Any], vocabulary: "Vocabulary", recipe: "Recipe", reads: str
    ) -> list["Example"]:
        """Return the examples of the items of a file, with the targets for a task head that `reads`
        "nodes", "roots" or "pairs"."""

    def made_examples(
        self,
        texts: Iterable[Sequence[Sequence[str]]],
        targets: Iterable[Any],
        vocabulary: "Vocabulary",
        model: "ModelConfig",
    ) -> list["Example"]:
        """Return the examples of texts without trees, given as the words of their sentences, with
        their `targets`: classes, ratings, or arrays (C,). Trees are built from the words; if the
        model predicts trees, they are balanced until it does."""
        from thinstack.text.given_trees import tree_maker
        from thinstack.training.examples.example import Example
        from thinstack.training.examples.labelled import LabelledForest, compact_forest

        maker, examples = tree_maker("balanced" if model.parses else model.tree_source), []
        for sentences, target in zip(texts, targets, strict=True):
            forest = compact_forest(sentences, list(map(maker, sentences)), vocabulary)
            examples.append(Example({"gold": LabelledForest(forest, np.array([target]), 0)}))
        return examples

    def class_of(self, item: Any) -> str:
        """Return the class of an item. `data.dev_share` sets aside a share of each class."""
        return ""

    def group_of(self, item: Any) -> Hashable:
        """Return what an item has in common with those that must be set aside with it."""
        return id(item)

    def replaced_by(self, item: Any) -> Hashable:
        """Return what an item has in common with the corrections that replace it."""
        return self.group_of(item)

    def for_corrections(self, file: FilePath) -> Self:
        """Return the task for reading a file of corrections."""
        return self

    def leaves(
        self,
        recipe: "Recipe",
        data: Path,
        items: Sequence[Any],
        words: Iterable[str],
        width: int,
        start: "Bundle | None",
    ) -> "Leaves":
        """Return the vocabulary, the leaf table and other initial weights, by default those of
        `thinstack.training.loop.initial.first_leaves`. `items`: the training items."""
        from thinstack.training.loop.initial import first_leaves

        return first_leaves(recipe, data, words, width, start)

    def work_in(self, folder: Path, on_read: Callable[[str, int, int], object]) -> None:
        """Receive the folder for intermediate results, and the function to call with progress: what
        is read, how many are done, and how many there are."""

    # -- what fits

    def check(self, recipe: "Recipe") -> None:
        """Raise ValueError for unsuitable settings of other sections."""
        if self.brings_trees:
            return
        model, training = recipe.model, recipe.training
        if model.trees not in self.tree_kinds():
            expected = " or ".join(map(repr, self.tree_kinds()))
            problem = f"expected {expected}, because {self.items} have no trees"
            raise ValueError(f"model.trees: {problem}; found {model.trees!r}")
        parser = "encoder" if model.parser is None else "parser"  # of SPINN, the first
        if model.parses and (recipe.init is None or parser not in recipe.init.parts):
            raise ValueError(
                f"task: {self.items} cannot train a parser; start from a bundle ([init])"
            )
        if training.trees != (("self",) if model.parses else ("gold",)):
            wanted = "gold = false, sources = ['self']" if model.parses else "gold alone"
            raise ValueError(f"training: {self.items} have no trees; expected {wanted}")

    def tree_kinds(self) -> tuple[str, ...]:
        """Return the `model.trees` that can be built from words."""
        return ("binary",)

    def check_head(self, recipe: "Recipe", head: "TaskHead") -> None:
        """Raise ConfigError for an unsuitable task head."""
        if head.reads not in self.heads:
            needed = f"task {self.name} needs a head that reads {' or '.join(self.heads)}"
            name = recipe.model.head.name
            raise ConfigError(f"model.head: {needed}; {name} reads {head.reads}")

    def check_items(self, recipe: "Recipe", train: Sequence[Any]) -> None:
        """Raise ConfigError or DataError for unsuitable training items."""

    # -- learning

    @property
    def keeps_start(self) -> bool:
        """Whether `loss` reads the model from which training started."""
        return False

    def loss(self, step: Step) -> Losses:
        """Return the losses of the task, by default that of the head over all targets, and of a
        parser."""
        from thinstack.training.loop.losses import joint_losses

        return joint_losses(step)

    # -- measuring

    def measured_trees(self, recipe: "Recipe") -> tuple[str, ...]:
        """Return the tree sources that the model is evaluated with."""
        if not self.teaches_parser:
            return recipe.training.trees
        return ("gold", "self") if recipe.model.parses else ("gold",)

    def scores(
        self, model: "Model", examples: Sequence["Example"], source: str
    ) -> list["NDArray[np.floating[Any]]"]:
        """Return the scores (t, C) of the t targets of each example, over the trees of `source`."""
        from thinstack.training.loop.measuring import scores_of

        return scores_of(model, examples, source)

    @abstractmethod
    def measure(
        self, model: "Model", examples: Sequence["Example"], source: str, labels: Sequence[str]
    ) -> tuple[Figures, "Answers | None"]:
        """Return the figures over the trees of `source`, and the answers, if the task has one per
        case. The source "self" is the model's own trees."""

    def cases(
        self, model: "Model", examples: Sequence["Example"], source: str
    ) -> dict[str, "Cases"]:
        """Return the cases for fitting a temperature, by the name of their calibration error."""
        return {}

    def measure_bundle(
        self, predictor: "Predictor", recipe: "Recipe", datasets: "Datasets"
    ) -> dict[str, Figures]:
        """Return the figures of the bundle as shipped, by tree source; "text" is raw text."""
        return {}

    def selection(self, figures: Mapping[str, float | None]) -> float:
        """Return the number that selects the epoch; higher is better. Undefined figures are 0."""
        return sum(figures[name] or 0.0 for name in self.watched)

    def names(self, labels: Sequence[str]) -> dict[str, str]:
        """Return {key: name} of the figures of a model with these labels."""
        return figure_names(self.figures, labels)

    def line(self, figures: Mapping[str, float | None], labels: Sequence[str]) -> str:
        """Format figures with their names."""
        return line(figures, self.names(labels))

    # -- reports

    def rival(self, datasets: "Datasets", labels: Sequence[str]) -> tuple[str, Figures] | None:
        """Return the name and the figures of a simple baseline, if there is one."""
        return None

    def report_data(
        self, recipe: "Recipe", datasets: "Datasets", out: Path, console: "Console"
    ) -> None:
        """Print a description of the data, and list skipped items in the folder `out`."""

    def report(
        self,
        results: Sequence["SeedResult"],
        over_seeds: "Spreads",
        rival: tuple[str, Figures] | None,
        recipe: "Recipe",
        console: "Console",
    ) -> None:
        """Print the figures of all seeds, and of the baseline."""
        from thinstack.training.publish.reports import show_seeds

        show_seeds(results, over_seeds, recipe, console)
        if rival is not None:
            name, figures = rival
            console.print(f"baseline {name}: {self.line(figures, recipe.model.shown_labels)}")

    def report_changes(
        self, result: "SeedResult", datasets: "Datasets", recipe: "Recipe", console: "Console"
    ) -> None:
        """Print what became right and wrong since the model from which training started."""

    def columns(self, labels: Sequence[str]) -> dict[str, str]:
        """Return {key: heading} of the figures on the card."""
        return self.names(labels)

    def explained(self, labels: Sequence[str]) -> str:
        """Return the card's explanation of the columns: "", or sentences followed by a space."""
        return ""

    def advice_after(self, bundle: Path, recipe: "Recipe") -> Iterable[str]:
        """Return lines of advice on how to use a bundle that was trained on a table."""
        return ()

    @property
    def evaluate_options(self) -> str | None:
        """The options with which `thinstack evaluate` reads the same files; None if it does not."""
        return ""

    def bundle_files(self) -> dict[str, bytes]:
        """Return further files of the bundle."""
        return {}


AnyTask = Annotated[SerializeAsAny[Task], named("task")]
"""A task, described by its `name` and its settings."""
