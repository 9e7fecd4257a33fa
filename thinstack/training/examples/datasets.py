"""Reads the data sets of a recipe from its files."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from thinstack.core import Tree
from thinstack.core.config.task import PAIR_TASKS
from thinstack.core.head import TaskHead
from thinstack.data.tables.alike import likeness
from thinstack.data.trees.pairs import Pair, read_pairs
from thinstack.data.trees.treebank import Labelled, read_labelled
from thinstack.data.words.vocabulary import WordVocabulary
from thinstack.data.words.wordpiece import WordpieceVocabulary
from thinstack.errors import ConfigError, DataError
from thinstack.plugins.build import build_model
from thinstack.plugins.manager import manager
from thinstack.training.examples.example import (
    Example,
    examples_of,
    pair_examples_of,
    text_examples_of,
)
from thinstack.training.examples.pair_tables import read_pair_table, sentences_of
from thinstack.training.examples.texts import Text, parted, read_texts, set_aside_share
from thinstack.training.loop.leaves import first_leaves
from thinstack.training.loop.teaching import Lesson, lessons, taught_examples
from thinstack.training.recipe import DataConfig, Recipe

__all__ = [
    "Convert",
    "Datasets",
    "Split",
    "Teach",
    "class_of",
    "group_of",
    "load_datasets",
    "read_pair_files",
    "read_sentences",
    "tree_reader",
]

HELD_PART = 10
"""One of so many training sentences is held out for early stopping."""

Convert = Callable[[Sequence[Labelled]], list[Labelled]]
"""Takes sentences and gives them other trees, with the classes of their nodes."""

Teach = Callable[[Recipe, Sequence[Labelled], Sequence[Labelled], Path], list[Lesson]]
"""Makes the lessons of a teacher, as `teaching.lessons` does."""

Item = TypeVar("Item")
Split = tuple[list[Item], list[Item], list[Item]]
"""The items to train on, to hold out for early stopping, and to report on."""


@dataclass(frozen=True, slots=True, eq=False)
class Datasets:
    """The data sets of a recipe.

    Attributes:
        vocabulary, table: the words, or their pieces, and their first leaf vectors (V, W).
        train, watched, dev: examples to train on, to watch for early stopping, to report on.
        texts: for the task "texts", the texts to train on and to report on.
        skipped: the errors of the rows of tables that were left out.
        pairs: for pairs from tables, the pairs to train on and to report on.
        weights: other pretrained weights of the leaf embedding, by name.
        taught: with a teacher, how many training examples come from each source.
        traced: examples to measure after each epoch, by the source of their trees. Their figures
            are noted in the record of the epoch, and choose nothing.
    """

    vocabulary: WordVocabulary | WordpieceVocabulary
    table: NDArray[np.float32]
    train: list[Example]
    watched: list[Example]
    dev: list[Example]
    texts: tuple[Sequence[Text], Sequence[Text]] = ((), ())
    skipped: Sequence[DataError] = ()
    pairs: tuple[Sequence[Pair], Sequence[Pair]] = ((), ())
    weights: Mapping[str, Tensor] = field(default_factory=dict)
    taught: Mapping[str, int] = field(default_factory=dict)
    traced: Mapping[str, Sequence[Example]] = field(default_factory=dict)


def load_datasets(
    recipe: Recipe, data: Path, convert: Convert | None = None, teach: Teach = lessons
) -> Datasets:
    """Read the files of a recipe from the folder `data`.

    `convert` is applied to the trees of a treebank. `teach` asks the recipe's teacher, if it has
    one. Raises ConfigError for settings that do not fit one another. Raises DataError and TreeError
    for files that cannot be read, and what opening the bundles of a teacher raises.
    """
    # Settings that do not fit one another are refused here, before any file is read.
    model = build_model(recipe.model, entries=1)
    width = model.embedding.table.shape[1]
    _check_head(recipe, model.head)
    if recipe.data.task == "texts":
        return _load_texts(recipe, data, width)
    if recipe.data.task in PAIR_TASKS:
        return _load_pairs(recipe, data, width)
    sentences = read_sentences(recipe, data, convert)
    taught: list[Lesson] = []
    if recipe.teacher is not None:
        taught = teach(recipe, sentences[0], sentences[1] + sentences[2], data)
    trees = [lesson.tree for lesson in taught] or [tree for tree, _ in sentences[0]]
    vocabulary, table, weights = first_leaves(recipe, data, _words(trees), width)
    sources = tuple(dict.fromkeys((*recipe.training.sources, *recipe.made_trees)))
    files = (recipe.data.train, recipe.data.train, recipe.data.dev or recipe.data.train)
    parts = [] if taught else sentences[0], *sentences[1:]
    train, held, dev = (
        examples_of(part, vocabulary, recipe.model, model.head.reads, sources, data / file)
        for part, file in zip(parts, files, strict=True)
    )
    train = [example.with_labels(recipe.training.labels) for example in train]
    train += taught_examples(taught, vocabulary, recipe.model, sources, data / files[0])
    watched = {"dev": dev, "held": held, "nothing": []}[recipe.training.stop_on]
    counts = Counter(lesson.source for lesson in taught)
    return Datasets(vocabulary, table, train, watched, dev, taught=counts, weights=weights)


def _words(trees: Iterable[Tree]) -> Iterator[str]:
    return (word for tree in trees for word in tree.words)


def _load_texts(recipe: Recipe, data: Path, width: int) -> Datasets:
    files, labels = recipe.data, recipe.model.labels
    skipped: list[DataError] = []

    def read(file: str) -> list[Text]:
        return read_texts(data / file, files, labels, skipped if files.skip_bad else None)

    train, _, dev = _split(recipe, read, data)
    words = (word for text in train for sentence in text.sentences for word in sentence)
    vocabulary, table, weights = first_leaves(recipe, data, words, width)
    given, reported = (text_examples_of(part, vocabulary, recipe.model) for part in (train, dev))
    watched = reported if recipe.training.stop_on == "dev" else []
    found = Datasets(vocabulary, table, given, watched, reported, weights=weights)
    return replace(found, texts=(train, dev), skipped=skipped)


def _load_pairs(recipe: Recipe, data: Path, width: int) -> Datasets:
    skipped: list[DataError] = []
    pairs = read_pair_files(recipe, data, skipped)
    trees = [tree for pair in pairs[0] for tree in pair.trees]
    vocabulary, table, weights = first_leaves(recipe, data, _words(trees), width)
    train, held, dev = (pair_examples_of(part, vocabulary, recipe.model) for part in pairs)
    watched = {"dev": dev, "held": held, "nothing": []}[recipe.training.stop_on]
    found = Datasets(vocabulary, table, train, watched, dev, skipped=skipped, weights=weights)
    return replace(found, pairs=(pairs[0], pairs[2])) if recipe.data.from_table else found


def _check_head(recipe: Recipe, head: TaskHead) -> None:
    reads, soft = head.reads, head.soft_labels
    expected = ("pairs",) if recipe.data.task in PAIR_TASKS else ("nodes", "roots")
    if reads not in expected:
        needed = f"data.task = {recipe.data.task!r} needs a head that reads {' or '.join(expected)}"
        raise ConfigError(f"model.head: {needed}; {recipe.model.head.name} reads {reads}")
    if (recipe.teacher or recipe.training.root_weight) and not (reads == "nodes" and soft):
        raise ConfigError(
            "model.head: a teacher and training.root_weight need a head of nodes that takes soft "
            f"labels, such as node_classifier.v1; found {recipe.model.head.name}"
        )
    chains = recipe.model.trees == "sequence" and reads == "nodes"
    if chains and recipe.model.encoder.top_down is not None:
        raise ConfigError(
            "model.head: for a head that reads nodes, a sequence model reads phrases as parts of "
            "longer ones, which does not fit model.encoder.top_down; take a head that reads roots"
        )


def tree_reader(files: DataConfig) -> Callable[[str | Path], list[Tree]] | None:
    """The function that reads the tree files of a recipe. None for brackets: `read_labelled` reads
    these itself, and names the line of a wrong label. Raises UnknownNameError for an unknown
    format."""
    if files.format == "brackets.v1":
        return None
    read: Callable[[str | Path], list[Tree]] = manager().find("reader", files.format).plugin.trees
    return read


def read_sentences(recipe: Recipe, data: Path, convert: Convert | None = None) -> Split[Labelled]:
    """The trees of a recipe and the classes of their nodes.

    `convert` is applied to the trees of each file. Raises DataError and TreeError for files that
    cannot be read, and ConfigError for relations that the training file does not have.
    """
    read = tree_reader(recipe.data)

    def labelled(file: str) -> list[Labelled]:
        found = read_labelled(
            data / file, recipe.model.labels, read=read, relabel=recipe.data.relabel
        )
        return found if convert is None else convert(found)

    parts = _split(recipe, labelled, data)
    _check_relations(recipe, parts[0])
    return parts


def _check_relations(recipe: Recipe, train: Sequence[Labelled]) -> None:
    names = set(recipe.model.relations)
    if names and not any(names.intersection(tree.labels) for tree, _ in train):
        raise ConfigError(
            f"model.relations: no node of {recipe.data.train} has one of them, as read by "
            f"{recipe.data.format}: a node has one label, its relation (conllu.v1) or its class "
            "(labelled_conllu.v1); leave relations out, or name relations of the file"
        )


def read_pair_files(
    recipe: Recipe, data: Path, skipped: list[DataError] | None = None
) -> Split[Pair]:
    """The pairs of a recipe.

    The list `skipped` takes the errors of bad rows of a table, if the recipe has them left out.
    Raises DataError and TreeError for files that cannot be read, and ConfigError for `relabel`.
    """
    files, model = recipe.data, recipe.model
    if recipe.data.relabel:
        raise ConfigError(
            "data.relabel is for classes of trees, and the format of pairs names their classes; "
            "leave it out"
        )
    if files.from_table:
        bad = ([] if skipped is None else skipped) if files.skip_bad else None
        return _split(recipe, lambda file: read_pair_table(data / file, files, model, bad), data)
    trees, target = model.trees, files.task
    assert target in ("relatedness", "entailment")
    return _split(
        recipe,
        lambda file: read_pairs(data / file, format=files.format, trees=trees, target=target),
        data,
    )


def _split(recipe: Recipe, read: Callable[[str], list[Item]], data: Path) -> Split[Item]:
    def some(file: str) -> list[Item]:
        if not (found := read(file)):
            raise DataError(
                f"{data / file}: expected examples that have a class, found none; label some, or "
                "rename their labels (data.relabel)"
            )
        return found

    # Files of trees keep the parts that they always had, though a sentence may be there twice.
    groups = group_of if recipe.data.from_table else id
    train = some(recipe.data.train)
    if recipe.data.dev is not None:
        dev = some(recipe.data.dev)
    elif recipe.data.dev_share is not None:
        train, dev = set_aside_share(train, recipe.data.dev_share, class_of, group_of)
    else:
        train, dev = _set_aside(train, recipe.data.dev_size or 0, groups)
    held: list[Item] = []
    if recipe.training.stop_on == "held":
        train, held = _set_aside(train, -(-len(train) // HELD_PART), groups)
    if not dev:
        what = "pairs" if recipe.data.task in PAIR_TASKS else "texts"
        raise DataError(
            f"{data / recipe.data.train}: expected two {what} or more of some class, so that one "
            "of them can be set aside to report on; give more, or a file to report on (dev)"
        )
    if not train:
        aside = len(dev if recipe.data.dev is None else held)
        raise DataError(
            f"{data / recipe.data.train}: all examples ({aside}) are set aside, expected some to "
            "train on; give more, or set fewer aside"
        )
    return train, held, dev


def class_of(item: object) -> str:
    """The class of a text or a pair. All pairs with a rating have the same class, ""."""
    target = item.label if isinstance(item, Text) else getattr(item, "target", "")
    return target if isinstance(target, str) else ""


def group_of(item: object) -> Hashable:
    """What rows of a table have in common that must not be in both parts: the text, or the two
    sentences of a pair in any order. Every other item is a group of its own."""
    if isinstance(item, Text):
        return likeness(item.text)
    if isinstance(item, Pair):
        return sentences_of(item)
    return id(item)


def _set_aside(
    items: Sequence[Item], count: int, group_of: Callable[[Item], Hashable] = id
) -> tuple[list[Item], list[Item]]:
    """The items without those set aside, and `count` items set aside at equal distances, from the
    first on; with them all items of their groups."""
    aside = set((np.arange(count) * len(items) // max(count, 1)).tolist())
    return parted(items, aside, group_of)
