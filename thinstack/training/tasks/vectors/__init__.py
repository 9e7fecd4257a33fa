"""The task of vectors of phrases, distilled from a sentence encoder."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field, PrivateAttr
from torch import Tensor

from thinstack.bundle import Bundle, open_bundle
from thinstack.core.config import ModelConfig
from thinstack.core.embedding import Leaves
from thinstack.core.model.model import Model
from thinstack.core.transitions import spans_of
from thinstack.data.files.paths import FilePath
from thinstack.data.tables.table import Table
from thinstack.data.words.vocabulary import Vocabulary
from thinstack.errors import ConfigError, DataError
from thinstack.evaluate.figures import Figures, nearest_figures
from thinstack.plugins.build import build_model
from thinstack.plugins.kinds import hookimpl
from thinstack.runtime.predictor import Predictor
from thinstack.runtime.scored import Scored
from thinstack.text.given_trees import tree_maker
from thinstack.text.sentences import splitter
from thinstack.training.examples.example import Example, forests_of
from thinstack.training.examples.labelled import IntArray, LabelledForest, compact_forest
from thinstack.training.loop.measuring import take_own_trees
from thinstack.training.loop.teacher import AnswerCache
from thinstack.training.recipe import Recipe
from thinstack.training.task import Losses, Step, Task
from thinstack.training.tasks.vectors.encoder import Pooling, StringEncoder, TeacherTable
from thinstack.training.tasks.vectors.learning import (
    MEAN_BESIDE,
    Text,
    draw_nodes,
    head_of_vectors,
    mean_losses,
    parse,
    start_of,
    vector_losses,
)

__all__ = ["thinstack_tasks"]

SEED = 0
"""Seed of the drawn phrases, so that all seeds of a recipe use the same."""
AT_ONCE = 20_000
"""Strings per file of the teacher's answers, and texts that determine its rotation."""


class VectorsOfPhrases(Task):
    """Vectors of phrases, as a sentence encoder computes them from their text, and the classes and
    trees of another bundle.

    Phrases of each text are drawn once. The first epochs (`mean_epochs`) train only the leaf table
    and the head of the mean of words, without trees, which is several times as fast.
    """

    name: ClassVar[str] = "vectors.v1"
    summary: ClassVar[str] = "vectors of phrases, distilled from a sentence encoder"
    heads: ClassVar = ("nodes",)
    items: ClassVar[str] = "texts"
    figures: ClassVar = {
        "cosine": "cosine to the teacher",
        "first": "teacher's nearest phrase first",
        "among_ten": "among ten",
    }
    watched: ClassVar = ("among_ten",)
    teaches_parser: ClassVar = True

    encoder: str
    """Teacher: a transformers sentence encoder, as a folder in the data folder or a name on the
    Hugging Face Hub."""
    pooling: Pooling | None = None
    """How the teacher combines the vectors of pieces: their "mean", or the first one ("cls").
    Default: as in 1_Pooling/config.json in its folder."""
    guide: str = "sentiment"
    """Name or folder of the bundle that parses the texts. A model with labels is also trained on
    its class probabilities, so the classes must be the same."""
    text_column: str = "text"
    """Text column."""
    phrases: int = Field(default=4, ge=1)
    """Number of phrases per text to train on, in addition to the whole text."""
    max_words: int = Field(default=100, ge=2)
    """Maximum number of words. Longer texts are skipped."""
    mean_epochs: int = Field(default=0, ge=0)
    """Number of initial epochs that train vectors without trees."""
    class_weight: float = Field(default=0.5, ge=0)
    """Weight of the guide's classes in the loss."""
    short: int = Field(default=128, ge=2)
    """Number of first columns that are also trained to work on their own."""
    short_weight: float = Field(default=0.25, ge=0)
    """Weight of these columns in the loss."""
    _folder: Path | None = PrivateAttr(default=None)
    _on_read: Callable[[str, int, int], object] = PrivateAttr(default=lambda *_: None)
    _teacher: TeacherTable | None = PrivateAttr(default=None)

    @property
    def bundles(self) -> tuple[str, ...]:
        return (self.guide,)

    @property
    def encoders(self) -> tuple[str, ...]:
        return (self.encoder,)

    def work_in(self, folder: Path, on_read: Callable[[str, int, int], object]) -> None:
        self._folder, self._on_read = folder, on_read

    def read(self, path: FilePath, model: ModelConfig, skipped: list[DataError]) -> list[Text]:
        """Return the distinct texts of a table that have 1 to `max_words` words."""
        rows = Table(path).rows([self.text_column])
        texts = list(dict.fromkeys(row.values[self.text_column] for row in rows))
        items = [Text(*pair) for pair in zip(texts, splitter()(texts), strict=True)]
        usable = [item for item in items if 0 < len(item.words) <= self.max_words]
        if not usable:
            raise DataError(
                f"{path}: expected texts of 1 to {self.max_words} words in {self.text_column}, "
                "found none; set the text column (task.text_column)"
            )
        return usable

    def sentences(self, item: Text) -> Iterable[Sequence[str]]:
        return [sentence.words for sentence in item.sentences]

    def group_of(self, item: Text) -> str:
        return item.text.lower()

    def leaves(
        self,
        recipe: Recipe,
        data: Path,
        items: Sequence[Text],
        words: Iterable[str],
        width: int,
        start: Bundle | None,
    ) -> Leaves:
        """Return leaves from the teacher's vectors of pieces, unless training starts from a bundle.
        If that returns vectors of the same size, the teacher is rotated to them."""
        words = list(words)
        leaves = super().leaves(recipe, data, items, words, width, start)
        encoder = StringEncoder(self.encoder, data, self.pooling)
        size = head_of_vectors(build_model(recipe.model, entries=1)).classes
        cache = AnswerCache(self._folder, self._on_read, at_once=AT_ONCE)
        self._teacher = TeacherTable(encoder, size, cache)
        texts = [item.text for item in items[:AT_ONCE]]
        earlier = Predictor(start) if start is not None and start.config.gives_vectors else None
        if earlier is not None and earlier.width == size:
            self._teacher.turn_like(texts, earlier.encode(texts))
        else:
            self._teacher.turn_to(texts)
        if recipe.init is not None:
            return leaves
        return start_of(recipe, leaves.vocabulary, words, self._teacher)

    def examples(
        self, items: Sequence[Text], vocabulary: Vocabulary, recipe: Recipe, reads: str
    ) -> list[Example]:
        if not items:
            return []
        assert self._teacher is not None, "leaves are read first"
        draw, examples, drawn = np.random.default_rng(SEED), list[Example](), list[IntArray]()
        strings, joins = list[str](), recipe.model.aggregation == "tree"
        for text, tree in zip(items, self._trees(items, recipe.model), strict=True):
            steps, soft = tree.transitions, tree.scores.astype(np.float16)
            nodes = draw_nodes(steps, self.phrases, draw)
            forest = compact_forest([text.words], [steps], vocabulary)
            targets, whole = np.full(len(steps), -1, np.int32), len(steps) - 1
            labelled = LabelledForest(forest, targets, whole, soft if soft.size else None)
            if joins:
                labelled = labelled.as_text([len(one.words) for one in text.sentences])
            examples.append(Example({"gold": labelled}))
            drawn.append(nodes)
            strings += text.strings(spans_of(steps)[nodes])
        rows = self._teacher.rows_of(strings)
        ends = np.cumsum([len(nodes) for nodes in drawn])
        for example, nodes, part in zip(examples, drawn, np.split(rows, ends[:-1]), strict=True):
            example.gold.targets[nodes] = part
        return examples

    def _trees(self, items: Sequence[Text], model: ModelConfig) -> Iterable[Scored]:
        """Return the guide's trees of texts, with its scores if the model has labels. A model
        without a parser is trained on its own kind of trees."""
        if not model.parses:
            maker, none = tree_maker(model.tree_source), np.zeros((0, 0), np.float32)
            return (Scored(maker(text.words), none) for text in items)
        guide = Predictor(open_bundle(self.guide))
        if model.labels not in ((), guide.config.labels):
            raise ConfigError(
                "task.guide: expected the classes of model.labels "
                f"({', '.join(model.labels)}), found "
                f"{', '.join(guide.config.labels) or 'none'} in {self.guide}; use these "
                "labels"
            )
        classes = len(model.labels)
        return (tree._replace(scores=tree.scores[:, :classes]) for tree in parse(items, guide))

    def check(self, recipe: Recipe) -> None:
        model = recipe.model
        if model.trees != "binary" or model.cell.name != MEAN_BESIDE or not model.gives_vectors:
            raise ValueError(
                f"model: expected binary trees, the cell {MEAN_BESIDE} and a vector head such "
                "as vector.v1 (model.head, or model.vectors beside labels), found trees = "
                f"{model.trees!r}, {model.cell.name} and {model.head.name}"
            )
        if model.cell.options.get("reads") != "state":
            raise ValueError('model.cell.options: vectors need reads = "state"')
        if recipe.training.trees != ("gold",):
            raise ValueError(
                "training: vectors are trained on the guide's trees; expected gold alone"
            )
        if model.labels and not model.parses:
            raise ValueError("model.labels: the guide's trees set the classes; add a parser")

    def loss(self, step: Step) -> Losses:
        vectors = self._teacher_vectors(step.batch.targets)
        learn = mean_losses if step.epoch <= self.mean_epochs else vector_losses
        return learn(step, vectors, self)

    def _teacher_vectors(self, targets: NDArray[Any]) -> Tensor:
        """Return the teacher's vectors (n, D) of the targets that have one."""
        assert self._teacher is not None, "examples are made first"
        return torch.from_numpy(self._teacher.vectors[targets[targets >= 0]].astype(np.float32))

    @torch.inference_mode()
    def measure(
        self, model: Model, examples: Sequence[Example], source: str, labels: Sequence[str]
    ) -> tuple[Figures, None]:
        model.eval()
        if source == "self":
            take_own_trees(model, examples)
        parts = []
        for part, forest in forests_of(examples, source):
            targets = np.concatenate([example.trees[source].targets for example in part])
            rows = model(model.inputs(forest))["node_vectors"][torch.from_numpy(targets >= 0)]
            parts.append((rows, self._teacher_vectors(targets)))
        vectors, teacher = (torch.cat(one) for one in zip(*parts, strict=True))
        cosine = 100 * float((vectors.cpu() * teacher).sum(1).mean())
        return {"cosine": cosine, **nearest_figures(vectors.cpu().numpy(), teacher.numpy())}, None


@hookimpl
def thinstack_tasks() -> list[type[Task]]:
    return [VectorsOfPhrases]
