"""What a recipe trains on, read from its files."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from thinstack.config import DataConfig, EmbeddingConfig, ModelConfig, Recipe
from thinstack.config.recipe import PAIR_TASKS
from thinstack.core import Tree
from thinstack.data.distances import DistanceTable
from thinstack.data.pairs import Pair, read_pairs
from thinstack.data.treebank import Labelled, read_labelled, read_trees
from thinstack.data.vectors import read_vectors, standardise
from thinstack.data.vocabulary import WordVocabulary, mean_unknown
from thinstack.data.wordpiece import WordpieceVocabulary
from thinstack.errors import ConfigError, DataError, TreeError
from thinstack.models import build_model
from thinstack.plugins.manager import readers
from thinstack.training.examples import AnyVocabulary, Example, examples_of, pair_examples_of
from thinstack.training.fit_distances import fit

__all__ = [
    "Convert",
    "Material",
    "Split",
    "prepare",
    "read_pair_files",
    "read_sentences",
    "tree_reader",
]

HELD_PART = 10
"""One in so many training sentences is held out for early stopping."""

UNSEEN_STD = 0.05

Convert = Callable[[Sequence[Labelled]], list[Labelled]]
"""Gives sentences other trees, with the classes of their nodes."""

Item = TypeVar("Item")
Split = tuple[list[Item], list[Item], list[Item]]
"""What is trained on, held out for early stopping, and reported on."""


@dataclass(frozen=True, slots=True, eq=False)
class Material:
    """What a recipe trains on: vocabulary, leaf table (V, W), the table that makes trees of words
    if one is asked for, and the examples to train on, to watch and to report on.
    """

    vocabulary: AnyVocabulary
    table: NDArray[np.float32]
    distances: DistanceTable | None
    train: list[Example]
    watched: list[Example]
    dev: list[Example]


def prepare(recipe: Recipe, data: Path, convert: Convert | None = None) -> Material:
    """Read the files of a recipe from the folder `data`; `convert` is applied to the trees of a
    task without pairs. Raises DataError, TreeError or ConfigError."""
    model = build_model(recipe.model, entries=1)
    reads, width = model.head.reads, model.embedding.table.shape[1]
    expected = ("pairs",) if recipe.data.task in PAIR_TASKS else ("nodes", "roots")
    if reads not in expected:
        raise ConfigError(
            f"model.head: data.task = {recipe.data.task!r} needs a head that reads "
            f"{' or '.join(expected)}; "
            f"{recipe.model.head.name} reads {reads}"
        )
    if (
        recipe.model.trees == "sequence"
        and reads == "nodes"
        and recipe.model.encoder.top_down is not None
    ):
        raise ConfigError(
            "model.head: phrases are read as parts of longer ones where a head reads nodes, which "
            "a pass back from the last "
            "word does not allow; take a head that reads roots"
        )
    distances = None
    if recipe.data.task in PAIR_TASKS:
        pairs = read_pair_files(recipe, data)
        words = (tree.words for pair in pairs[0] for tree in pair.trees)
        vocabulary, table = leaf_table(
            recipe.model.embedding, recipe.data, data, words, width=width
        )
        train, held, dev = (pair_examples_of(part, vocabulary, recipe.model) for part in pairs)
    else:
        sentences = read_sentences(recipe, data, convert)
        trees = [tree for tree, _ in sentences[0]]
        vocabulary, table = leaf_table(
            recipe.model.embedding, recipe.data, data, (tree.words for tree in trees), width=width
        )
        sources = tuple(dict.fromkeys((*recipe.training.sources, *recipe.made_trees)))
        distances = fit(trees) if "distances" in sources else None
        files = (recipe.data.train, recipe.data.train, recipe.data.dev or recipe.data.train)
        train, held, dev = (
            _examples(data / file, part, vocabulary, recipe.model, reads, sources, distances)
            for file, part in zip(files, sentences, strict=True)
        )
    watched = {"dev": dev, "held": held, "nothing": []}[recipe.training.stop_on]
    return Material(vocabulary, table, distances, train, watched, dev)


def tree_reader(files: DataConfig) -> Callable[[str | Path], list[Tree]] | None:
    """What reads the tree files of a recipe; None for brackets, whose labels the treebank reader
    checks line by line."""
    read = None if files.format == "brackets.v1" else readers().reader(files.format).trees
    if not files.relabel:
        return read
    read_any = read or read_trees
    return lambda path: [_relabelled(tree, files.relabel) for tree in read_any(path)]


def read_sentences(recipe: Recipe, data: Path, convert: Convert | None = None) -> Split[Labelled]:
    """The trees of a recipe and the labels of their nodes. Raises DataError, TreeError or
    ConfigError."""
    read = tree_reader(recipe.data)

    def labelled(file: str) -> list[Labelled]:
        found = read_labelled(data / file, recipe.model.labels, read=read)
        if recipe.data.relabel:
            found = [
                (tree, labels) for tree, labels in found if labels[tree.parents < 0].min() >= 0
            ]
        return found if convert is None else convert(found)

    return _split(recipe, labelled, data)


def read_pair_files(recipe: Recipe, data: Path) -> Split[Pair]:
    """The pairs of a recipe. Raises DataError, TreeError or ConfigError."""
    if recipe.data.relabel:
        raise ConfigError("data.relabel is for classes of trees; pairs have those of their format")
    trees, target = recipe.model.trees, recipe.data.task
    assert target in ("relatedness", "entailment")
    return _split(
        recipe,
        lambda file: read_pairs(data / file, format=recipe.data.format, trees=trees, target=target),
        data,
    )


def _split(recipe: Recipe, read: Callable[[str], list[Item]], data: Path) -> Split[Item]:
    def some(file: str) -> list[Item]:
        if not (found := read(file)):
            raise DataError(f"{data / file}: expected examples that have a class, found none")
        return found

    train = some(recipe.data.train)
    if recipe.data.dev is not None:
        dev = some(recipe.data.dev)
    else:
        train, dev = _set_aside(train, recipe.data.dev_size or 0)
    held: list[Item] = []
    if recipe.training.stop_on == "held":
        train, held = _set_aside(train, -(-len(train) // HELD_PART))
    if not train:
        aside = len(dev if recipe.data.dev is None else held)
        raise DataError(
            f"{data / recipe.data.train}: all examples ({aside}) are set aside, none is left to "
            "train on"
        )
    return train, held, dev


def _set_aside(items: Sequence[Item], count: int) -> tuple[list[Item], list[Item]]:
    """The others, and `count` items from all over, the first among them."""
    aside = set((np.arange(count) * len(items) // max(count, 1)).tolist())
    return [item for place, item in enumerate(items) if place not in aside], [
        items[place] for place in sorted(aside)
    ]


def _relabelled(tree: Tree, names: dict[str, str]) -> Tree:
    labels = (None if label is None else names.get(label, label) for label in tree.labels)
    return tree.with_labels(label or None for label in labels)


def _examples(
    path: Path,
    treebank: Sequence[Labelled],
    vocabulary: AnyVocabulary,
    config: ModelConfig,
    reads: str,
    sources: Sequence[str],
    distances: DistanceTable | None,
) -> list[Example]:
    try:
        return examples_of(treebank, vocabulary, config, reads, sources, distances)
    except TreeError as error:
        raise TreeError(str(error), source=str(path)) from None


def leaf_table(
    embedding: EmbeddingConfig,
    files: DataConfig,
    data: Path,
    sentences: Iterable[Sequence[str]],
    *,
    width: int,
) -> tuple[AnyVocabulary, NDArray[np.float32]]:
    """The vocabulary and the first leaf table (V, W) of a recipe; `width` is W.

    A word table holds the pretrained words and, drawn at random, those of the training sentences
    that they lack. Row 0, the unknown word, is the mean of the pretrained ones (0 if there are
    none). Raises ConfigError if the vectors are narrower than the table, DataError if they cannot
    be read.
    """
    if files.vectors is None:
        if embedding.kind == "wordpieces":
            raise ConfigError(
                "data.vectors: a wordpiece model needs a file of pieces and their vectors"
            )
        words: tuple[str, ...] = ()
        vectors = np.zeros((0, width), np.float32)
    else:
        found = read_vectors(data / files.vectors)
        words, vectors = found.words, found.vectors[:, :width]
        if vectors.shape[1] < width:
            raise ConfigError(
                f"model.embedding: {embedding.registered} of size {embedding.size} has a table of "
                f"{width} columns, "
                f"but {files.vectors} has {vectors.shape[1]}"
            )
        if files.vector_std is not None:
            vectors = standardise(vectors, files.vector_std)
    if embedding.kind == "wordpieces":
        return WordpieceVocabulary(words), vectors
    known = WordVocabulary(words)
    unseen = sorted(
        {
            word.lower()
            for sentence in sentences
            for word in sentence
            if known.lookup(word) == known.UNKNOWN
        }
    )
    drawn = (
        np.random.default_rng(0)
        .normal(scale=UNSEEN_STD, size=(len(unseen), width))
        .astype(np.float32)
    )
    pretrained = mean_unknown(vectors) if len(vectors) else np.zeros((1, width), np.float32)
    return WordVocabulary((*words, *unseen)), np.concatenate([pretrained, drawn])
