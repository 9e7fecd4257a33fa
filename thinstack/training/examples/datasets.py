"""Reads the data sets of a recipe from its files."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from thinstack.data.trees.treebank import Labelled
from thinstack.data.words.vocabulary import WordVocabulary
from thinstack.data.words.wordpiece import WordpieceVocabulary
from thinstack.errors import DataError
from thinstack.plugins.build import build_model
from thinstack.training.examples.example import Example
from thinstack.training.examples.set_aside import set_aside, set_aside_share
from thinstack.training.loop.leaves import first_leaves
from thinstack.training.loop.teaching import Lesson, lessons, taught_examples
from thinstack.training.recipe import Recipe

__all__ = ["Convert", "Datasets", "Split", "Teach", "load_datasets", "read_items"]

HELD_PART = 10
"""One of so many training examples is held out for early stopping."""

Convert = Callable[[Sequence[Any]], list[Any]]
"""Changes the items of a file, such as the trees of a treebank."""

Teach = Callable[[Recipe, Sequence[Labelled], Sequence[Labelled], Path], list[Lesson]]
"""Makes the lessons of a teacher, as `teaching.lessons` does."""

Split = tuple[list[Any], list[Any], list[Any]]
"""The items to train on, to hold out for early stopping, and to report on."""


@dataclass(frozen=True, slots=True, eq=False)
class Datasets:
    """The data sets of a recipe.

    Attributes:
        vocabulary, table: the words, or their pieces, and their first leaf vectors (V, W).
        train, watched, dev: examples to train on, to watch for early stopping, to report on.
        items: what the task read: to train on (of files without trees), and to report on.
        skipped: the errors of the items that were left out.
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
    items: tuple[Sequence[Any], Sequence[Any]] = ((), ())
    skipped: Sequence[DataError] = ()
    weights: Mapping[str, Tensor] = field(default_factory=dict)
    taught: Mapping[str, int] = field(default_factory=dict)
    traced: Mapping[str, Sequence[Example]] = field(default_factory=dict)


def load_datasets(
    recipe: Recipe, data: Path, convert: Convert | None = None, teach: Teach = lessons
) -> Datasets:
    """Read the files of a recipe from the folder `data`.

    `convert` is applied to the items of each file. `teach` asks the recipe's teacher, if it has
    one. Raises ConfigError for settings that do not fit one another. Raises DataError and TreeError
    for files that cannot be read, and what opening the bundles of a teacher raises.
    """
    # Settings that do not fit one another are refused here, before any file is read.
    model, task = build_model(recipe.model, entries=1), recipe.task
    reads, width = model.head.reads, model.embedding.table.shape[1]
    task.check_head(recipe, model.head)
    skipped: list[DataError] = []
    train, held, dev = read_items(recipe, data, convert, skipped)
    taught = [] if recipe.teacher is None else teach(recipe, train, held + dev, data)
    learnt = [lesson.tree.words for lesson in taught] or (
        words for item in train for words in task.sentences(item)
    )
    words = (word for sentence in learnt for word in sentence)
    vocabulary, table, weights = first_leaves(recipe, data, words, width)
    files = (recipe.data.train, recipe.data.train, recipe.data.dev or recipe.data.train)
    given, aside, reported = (
        task.examples(part, vocabulary, recipe, reads=reads, file=data / file)
        for part, file in zip(([] if taught else train, held, dev), files, strict=True)
    )
    given = [example.with_labels(recipe.training.labels) for example in given]
    sources = (*recipe.training.sources, *recipe.measured_trees)
    given += taught_examples(taught, vocabulary, recipe.model, sources, data / files[0])
    return Datasets(
        vocabulary,
        table,
        given,
        {"dev": reported, "held": aside, "nothing": []}[recipe.training.stop_on],
        reported,
        items=([] if task.brings_trees else train, dev),
        skipped=skipped,
        weights=weights,
        taught=Counter(lesson.source for lesson in taught),
    )


def read_items(
    recipe: Recipe,
    data: Path,
    convert: Convert | None = None,
    skipped: list[DataError] | None = None,
) -> Split:
    """The items of a recipe, with files in the folder `data`.

    `convert` is applied to the items of each file. The list `skipped` takes the errors of those
    that the recipe has left out. Raises what the task raises for files that cannot be read, and
    DataError where a part is left without items.
    """
    task, files, errors = recipe.task, recipe.data, [] if skipped is None else skipped

    def read(file: str) -> list[Any]:
        items = task.read(data / file, recipe.model, errors)
        if convert is not None:
            items = convert(items)
        if not items:
            raise DataError(
                f"{data / file}: expected examples that have a class, found none; label some, or "
                "rename their labels (task.relabel)"
            )
        return items

    train = read(files.train)
    if files.dev is not None:
        dev = read(files.dev)
    elif files.dev_share is not None:
        train, dev = set_aside_share(train, files.dev_share, task.class_of, task.group_of)
    else:
        train, dev = set_aside(train, files.dev_size or 0, task.group_of)
    held: list[Any] = []
    if recipe.training.stop_on == "held":
        train, held = set_aside(train, -(-len(train) // HELD_PART), task.group_of)
    if not dev:
        raise DataError(
            f"{data / files.train}: expected two {task.items} or more of some class, so that one "
            "of them can be set aside to report on; give more, or a file to report on (dev)"
        )
    if not train:
        aside = len(dev if files.dev is None else held)
        raise DataError(
            f"{data / files.train}: all examples ({aside}) are set aside, expected some to train "
            "on; give more, or set fewer aside"
        )
    task.check_items(recipe, train)
    return train, held, dev
