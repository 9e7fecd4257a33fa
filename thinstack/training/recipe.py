"""Running a recipe: read the data, train every seed, measure, and export the best as a bundle."""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from thinstack.config import DataConfig, EmbeddingConfig, Recipe
from thinstack.core import Tree
from thinstack.data.distances import DistanceTable
from thinstack.data.treebank import Labelled, read_labelled
from thinstack.data.vectors import read_vectors, standardise
from thinstack.data.vocabulary import WordVocabulary, mean_unknown
from thinstack.data.wordpiece import WordpieceVocabulary
from thinstack.errors import ConfigError, DataError, TreeError
from thinstack.models import Model, SpinnModel, build_model
from thinstack.plugins.manager import readers
from thinstack.training.distances import fit
from thinstack.training.examples import AnyVocabulary, Example, examples_of
from thinstack.training.loop import Report, evaluate_model, train
from thinstack.training.own_trees import agreement

__all__ = ["Material", "SeedResult", "prepare", "run_seed", "summary", "tree_reader"]

HELD_PART = 10
"""One in so many training sentences is held out for early stopping."""

UNSEEN_STD = 0.05


@dataclass(frozen=True, slots=True, eq=False)
class Material:
    """What a recipe trains on: vocabulary, leaf table (V, W), the table that makes trees of words if one is asked for, and the
    sentences to train on, to watch and to report on.
    """

    vocabulary: AnyVocabulary
    table: NDArray[np.float32]
    distances: DistanceTable | None
    train: list[Example]
    watched: list[Example]
    dev: list[Example]


@dataclass(frozen=True, slots=True, eq=False)
class SeedResult:
    """A trained model, the record of its epochs, and its accuracy on the development file by tree source."""

    seed: int
    model: Model
    history: list[dict[str, Any]]
    dev: dict[str, dict[str, float | None]]

    @property
    def epoch(self) -> int:
        """The epoch whose weights were kept: the first best of those watched, or the last where nothing was."""
        if not self.history[-1]["watched"]:
            return len(self.history)
        return 1 + max(range(len(self.history)), key=lambda epoch: self.history[epoch]["selection"])

    @property
    def selection(self) -> float:
        """What the epoch was chosen by; -inf where nothing was watched."""
        return max((record["selection"] for record in self.history if record["watched"]), default=float("-inf"))


def tree_reader(files: DataConfig) -> Callable[[str | Path], list[Tree]] | None:
    """What reads the tree files of a recipe; None for brackets, whose labels the treebank reader checks line by line."""
    return None if files.format == "brackets.v1" else readers().reader(files.format).trees


def prepare(recipe: Recipe, data: Path) -> Material:
    """Read the files of a recipe from the folder `data`. Raises DataError, TreeError or ConfigError."""
    if recipe.model.trees != "binary":
        raise ConfigError(f"model.trees: recipes train on files of binary bracket trees, found {recipe.model.trees!r}")
    model = build_model(recipe.model, entries=1)
    reads = model.head.reads
    if reads not in ("nodes", "roots"):
        raise ConfigError(f"model.head: recipes train heads that read nodes or roots; {recipe.model.head.name} reads {reads}")
    read = tree_reader(recipe.data)
    treebank = read_labelled(data / recipe.data.train, recipe.model.labels, read=read)
    development = read_labelled(data / recipe.data.dev, recipe.model.labels, read=read)
    held: list[Labelled] = []
    if recipe.training.stop_on == "held":
        held = treebank[::HELD_PART]
        treebank = [labelled for number, labelled in enumerate(treebank) if number % HELD_PART]
        if not treebank:
            raise DataError(f"{data / recipe.data.train}: one tree only, which is held out; training needs at least two")
    trees = [tree for tree, _ in treebank]
    vocabulary, table = leaf_table(recipe.model.embedding, recipe.data, data, trees, width=model.embedding.table.shape[1])
    sources = tuple(dict.fromkeys((*recipe.training.sources, recipe.model.tree_source)))
    distances = fit(trees) if "distances" in sources else None
    train, held_out, dev = (
        _examples(data / file, part, vocabulary, sources, distances)
        for file, part in ((recipe.data.train, treebank), (recipe.data.train, held), (recipe.data.dev, development))
    )
    watched = {"dev": dev, "held": held_out, "nothing": []}[recipe.training.stop_on]
    return Material(vocabulary, table, distances, train, watched, dev)


def _examples(
    path: Path,
    treebank: Sequence[Labelled],
    vocabulary: AnyVocabulary,
    sources: Sequence[str],
    distances: DistanceTable | None,
) -> list[Example]:
    try:
        return examples_of(treebank, vocabulary, sources, distances)
    except TreeError as error:
        raise TreeError(str(error), source=str(path)) from None


def leaf_table(
    embedding: EmbeddingConfig, files: DataConfig, data: Path, trees: Sequence[Tree], *, width: int
) -> tuple[AnyVocabulary, NDArray[np.float32]]:
    """The vocabulary and the first leaf table (V, W) of a recipe; `width` is W.

    A word table holds the pretrained words and, drawn at random, those of the training trees that they lack. Row 0, the
    unknown word, is the mean of the pretrained ones (0 if there are none). Raises ConfigError if the vectors are narrower than
    the table, DataError if they cannot be read.
    """
    if files.vectors is None:
        if embedding.kind == "wordpieces":
            raise ConfigError("data.vectors: a wordpiece model needs a file of pieces and their vectors")
        words: tuple[str, ...] = ()
        vectors = np.zeros((0, width), np.float32)
    else:
        found = read_vectors(data / files.vectors)
        words, vectors = found.words, found.vectors[:, :width]
        if vectors.shape[1] < width:
            raise ConfigError(
                f"model.embedding: {embedding.registered} of size {embedding.size} has a table of {width} columns, "
                f"but {files.vectors} has {vectors.shape[1]}"
            )
        if files.vector_std is not None:
            vectors = standardise(vectors, files.vector_std)
    if embedding.kind == "wordpieces":
        return WordpieceVocabulary(words), vectors
    known = WordVocabulary(words)
    unseen = sorted({word.lower() for tree in trees for word in tree.words if known.lookup(word) == known.UNKNOWN})
    drawn = np.random.default_rng(0).normal(scale=UNSEEN_STD, size=(len(unseen), width)).astype(np.float32)
    pretrained = mean_unknown(vectors) if len(vectors) else np.zeros((1, width), np.float32)
    return WordVocabulary((*words, *unseen)), np.concatenate([pretrained, drawn])


def run_seed(
    recipe: Recipe,
    material: Material,
    seed: int,
    folder: Path,
    *,
    on_batch: Callable[[int, int, int], None] = lambda epoch, done, total: None,
    on_epoch: Report = lambda record: None,
) -> SeedResult:
    """Train one seed in `folder`, going on from its checkpoint if there is one, and measure it on the development file."""
    torch.manual_seed(seed)
    model = build_model(recipe.model, entries=len(material.table))
    with torch.no_grad():
        model.embedding.table.copy_(torch.from_numpy(material.table))
    model, history = train(
        model,
        material.train,
        material.watched,
        recipe.training,
        seed=seed,
        folder=folder,
        on_batch=on_batch,
        on_epoch=on_epoch,
    )
    model = model.cpu()
    sources = dict.fromkeys(("gold", recipe.model.tree_source, *(["self"] if model.parses else [])))
    dev = {source: evaluate_model(model, material.dev, source).to_dict() for source in sources}
    if isinstance(model, SpinnModel) and model.parses:
        dev["self"] |= agreement(model, material.dev)
    return SeedResult(seed, model, history, dev)


def summary(results: Sequence[SeedResult]) -> dict[str, dict[str, dict[str, float | None]]]:
    """Mean and standard deviation (0 for one seed) over the seeds, by tree source and figure; None where there is no case."""
    return {
        source: {name: _spread([result.dev[source][name] for result in results]) for name in figures}
        for source, figures in results[0].dev.items()
    }


def _spread(values: Sequence[float | None]) -> dict[str, float | None]:
    known = [value for value in values if value is not None]
    if not known:
        return {"mean": None, "std": None}
    return {"mean": statistics.fmean(known), "std": statistics.stdev(known) if len(known) > 1 else 0.0}
