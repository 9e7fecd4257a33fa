"""Reads the data sets of a recipe."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from thinstack.bundle import Bundle
from thinstack.data.words.vocabulary import Vocabulary
from thinstack.errors import ConfigError, DataError, TreeError
from thinstack.plugins.build import build_model
from thinstack.training.examples.example import Example
from thinstack.training.examples.inputs import Inputs
from thinstack.training.examples.set_aside import corrected, set_aside, set_aside_share
from thinstack.training.lesson import Treebank
from thinstack.training.loop.teaching import (
    Taught,
    drawn_trees,
    taught_examples,
    taught_trees,
    treebank_of,
)
from thinstack.training.recipe import Recipe
from thinstack.training.task import Task

MOST_TRACED = 2000
"""Maximum examples that are evaluated after each epoch only to report progress."""

HELD_PART = 10
"""One in this many training examples is held out for early stopping."""

Split = tuple[list[Any], list[Any], list[Any]]
"""The training items, those held out for early stopping, and the development items."""


@dataclass(frozen=True, slots=True, eq=False)
class Datasets:
    """The data sets of a recipe.

    Attributes:
        vocabulary, table: the words or word pieces, and their initial leaf vectors (V, W).
        train, watched, dev: examples for training, early stopping and evaluation.
        items: what the task read: the training items (of files without trees), and the development
            items.
        skipped: the errors of the items that were skipped.
        weights: other pretrained weights of the leaf embedding, by name.
        taught: the number of training examples by source: the training file or a lesson.
        treebank: the data for lessons that are drawn for each epoch, if there are any.
        traced: examples to evaluate after each epoch, by tree source. Their figures are recorded,
            but do not select the epoch.
        start: the bundle that training starts from, if any.
        test, tested: the examples and the items of `data.test`.
        notes: sentences about how the files were read.
    """

    vocabulary: Vocabulary
    table: NDArray[np.float32]
    train: list[Example]
    watched: list[Example]
    dev: list[Example]
    items: tuple[Sequence[Any], Sequence[Any]] = ((), ())
    skipped: Sequence[DataError] = ()
    weights: Mapping[str, Tensor] = field(default_factory=dict)
    taught: Mapping[str, int] = field(default_factory=dict)
    treebank: Treebank | None = None
    traced: Mapping[str, Sequence[Example]] = field(default_factory=dict)
    start: Bundle | None = None
    test: Sequence[Example] = ()
    tested: Sequence[Any] = ()
    notes: Sequence[str] = ()


def load_datasets(recipe: Recipe, data: Path | Inputs) -> Datasets:
    """Read the files of a recipe from the folder `data`, or from its open `Inputs`.

    Raises ConfigError for settings that do not fit together, and DataError and TreeError for files
    that cannot be read.
    """
    # Check that the settings fit together before reading any file.
    model, task = build_model(recipe.model, entries=1), recipe.task
    reads, width = model.head.reads, model.embedding.table.shape[1]
    task.check_head(recipe, model.head)
    inputs, files = Inputs.of(data), recipe.data
    folder, start = inputs.folder, inputs.bundle(recipe.init.bundle) if recipe.init else None
    train, held, dev = read_items(recipe, inputs)
    tested = inputs.items(files.test, recipe) if files.test is not None else []
    taught, aside = list[Taught](), [*held, *dev, *tested]
    if recipe.teacher is not None or recipe.lessons:
        taught = taught_trees(recipe, train, aside, folder, **inputs.teaching)
    sentences = [tree.tree.words for _, trees in taught for tree in trees]
    words = (word for sentence in sentences or _sentences(task, train) for word in sentence)
    vocabulary, table, weights = task.leaves(recipe, folder, train, words, width, start)

    def examples(items: list[Any], file: str, lessons: Sequence[Taught] = ()) -> list[Example]:
        sources = (*recipe.training.sources, *recipe.measured_trees)
        try:
            return [
                *task.examples(items, vocabulary, recipe, reads),
                *taught_examples(lessons, vocabulary, recipe.model, reads, sources),
            ]
        except TreeError as error:
            raise TreeError(error.message, source=str(folder / file)) from None

    trained = examples([] if taught else train, files.train, taught)
    watched, reported = examples(held, files.train), examples(dev, files.dev or files.train)
    return Datasets(
        vocabulary,
        table,
        trained,
        {"dev": reported, "held": watched, "nothing": []}[recipe.training.stop_on],
        reported,
        items=([] if task.brings_trees else train, dev),
        skipped=inputs.skipped,
        weights=weights,
        taught=Counter(one.source for one in taught for _ in one.trees),
        treebank=_treebank(recipe, taught, _sentences(task, aside), folder, vocabulary),
        traced=_traced(recipe, reported),
        start=start,
        test=examples(tested, files.test or ""),
        tested=tested,
        notes=inputs.notes,
    )


def _treebank(
    recipe: Recipe,
    taught: Sequence[Taught],
    aside: Iterable[Sequence[str]],
    folder: Path,
    vocabulary: Vocabulary,
) -> Treebank | None:
    """Return the data for lessons that are drawn for each epoch, if there are any. Raises
    ConfigError if one of them draws nothing."""
    if not any(lesson.anew for lesson in recipe.lessons):
        return None
    always = (one.trees for one in taught if one.lesson is None or one.lesson.every == 1)
    trees = [*chain.from_iterable(always)]
    treebank = treebank_of(recipe, trees, [*aside], folder, vocabulary=vocabulary)
    for one in drawn_trees(recipe, treebank, np.random.default_rng(0)):
        if not one.trees:
            name = one.lesson.name if one.lesson else one.source
            raise ConfigError(
                f"lessons: expected trees of {name}, found none; raise its share, or drop it"
            )
    return treebank


def _traced(recipe: Recipe, reported: Sequence[Example]) -> dict[str, Sequence[Example]]:
    """Return the examples that show the progress of training on a table if none are watched."""
    if recipe.task.brings_trees or recipe.training.stop_on != "nothing":
        return {}
    step = -(-len(reported) // MOST_TRACED)
    return dict.fromkeys(recipe.training.trees[-1:], reported[:: max(step, 1)])


def _sentences(task: Task, items: Sequence[Any]) -> Iterator[Sequence[str]]:
    return (words for item in items for words in task.sentences(item))


def read_items(recipe: Recipe, data: Path | Inputs) -> Split:
    """Read the items of a recipe from the folder `data`, or from its open `Inputs`, which collect
    the errors of skipped items and notes.

    Raises DataError if no items are left for training or development.
    """
    task, files, inputs = recipe.task, recipe.data, Inputs.of(data)
    inputs.skipped, inputs.notes = [], []
    train = inputs.items(files.train, recipe)
    if files.dev is not None:
        dev = inputs.items(files.dev, recipe)
    elif files.dev_share is not None:
        train, dev = set_aside_share(train, files.dev_share, task.class_of, task.group_of)
    else:
        train, dev = set_aside(train, files.dev_size or 0, task.group_of)
    held: list[Any] = []
    if recipe.training.stop_on == "held":
        train, held = set_aside(train, -(-len(train) // HELD_PART), task.group_of)
    if files.add is not None:
        train, held, dev = _corrected(recipe, files.add, inputs, (train, held, dev))
    path = inputs.folder / files.train
    if not dev:
        raise DataError(
            f"{path}: expected at least two different {task.items} of some "
            "class, so that one can be set aside for development; add more, or a development "
            "file (dev), and check that the text and label columns are not swapped"
        )
    if not train:
        aside = len(dev if files.dev is None else held)
        raise DataError(
            f"{path}: all examples ({aside}) would be set aside, leaving none "
            "to train on; add more, or set fewer aside"
        )
    task.check_items(recipe, train)
    for name in task.files:
        more = task.path(name, recipe.folders(inputs.folder))
        train += task.read_more(more, recipe.model, inputs.skipped)
    return train, held, dev


def _corrected(recipe: Recipe, file: str, inputs: Inputs, parts: Split) -> Split:
    """Replace and add rows from the file `data.add`."""
    task = recipe.task
    reader = task.for_corrections(inputs.table(file))
    rows = inputs.items(file, recipe.model_copy(update={"task": reader}))
    before = {task.replaced_by(item) for item in parts[2]}
    (train, held, dev), replaced = corrected(parts, rows, task.replaced_by, last=not task.repeats)
    texts = len({task.replaced_by(row) for row in rows})
    inputs.notes.append(
        f"{file}: {texts:,} {task.items}, of which {len(replaced):,} replace rows "
        f"({len(before.intersection(replaced)):,} for development)"
    )
    return train, held, dev
