"""Reads the data sets of a recipe from its files."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from thinstack.bundle import Bundle
from thinstack.data.words.vocabulary import WordVocabulary
from thinstack.data.words.wordpiece import WordpieceVocabulary
from thinstack.errors import DataError, TreeError
from thinstack.plugins.build import build_model
from thinstack.training.examples.example import Example
from thinstack.training.examples.inputs import Inputs
from thinstack.training.examples.set_aside import corrected, set_aside, set_aside_share
from thinstack.training.lesson import Treebank
from thinstack.training.loop.teaching import (
    Taught,
    check_drawn,
    taught_examples,
    taught_trees,
    treebank_of,
)
from thinstack.training.recipe import Recipe
from thinstack.training.task import Task

MOST_TRACED = 2000
"""The most examples that are measured after each epoch only to show how learning goes."""

HELD_PART = 10
"""One of so many training examples is held out for early stopping."""

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
        taught: how many training examples come from each source, the training file or a lesson.
        treebank: what lessons are drawn from for each epoch, if there are such lessons.
        traced: examples to measure after each epoch, by the source of their trees. Their figures
            are noted in the record of the epoch, and choose nothing.
        start: the bundle where learning starts, if there is one.
        test: examples of `data.test`, to measure the trained model on.
        notes: sentences about how the files were read.
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
    treebank: Treebank | None = None
    traced: Mapping[str, Sequence[Example]] = field(default_factory=dict)
    start: Bundle | None = None
    test: Sequence[Example] = ()
    notes: Sequence[str] = ()


def load_datasets(recipe: Recipe, data: Path | Inputs) -> Datasets:
    """Read the files of a recipe from the folder `data`, or from what was opened there.

    Raises ConfigError for settings that do not fit one another. Raises DataError and TreeError for
    files that cannot be read.
    """
    # Settings that do not fit one another are refused here, before any file is read.
    model, task = build_model(recipe.model, entries=1), recipe.task
    reads, width = model.head.reads, model.embedding.table.shape[1]
    task.check_head(recipe, model.head)
    inputs, skipped, notes = Inputs.of(data), list[DataError](), list[str]()
    data, start = inputs.folder, inputs.start(recipe)
    train, held, dev = read_items(recipe, inputs, skipped, notes)
    taught = list[Taught]()
    if recipe.teacher is not None or recipe.lessons:
        taught = taught_trees(recipe, train, held + dev, data, **inputs.teaching)
    learnt = [tree.tree.tree.words for tree in taught] or _sentences(task, train)
    words = (word for sentence in learnt for word in sentence)
    vocabulary, table, weights = task.leaves(recipe, data, train, words, width, start)
    files, sources = recipe.data, (*recipe.training.sources, *recipe.measured_trees)
    tested = inputs.items(files.test, recipe, skipped) if files.test is not None else []
    with _in_file(data / files.train):
        examples = task.examples([] if taught else train, vocabulary, recipe, reads)
        examples += taught_examples(taught, vocabulary, recipe.model, reads, sources)
        aside = task.examples(held, vocabulary, recipe, reads)
    with _in_file(data / (files.dev or files.train)):
        reported = task.examples(dev, vocabulary, recipe, reads)
    with _in_file(data / (files.test or "")):
        measured = task.examples(tested, vocabulary, recipe, reads)
    treebank = None
    if any(lesson.anew for lesson in recipe.lessons):
        trees = [tree.tree for tree in taught if tree.every == 1]
        apart = [*_sentences(task, held + dev)]
        treebank = treebank_of(recipe, trees, apart, data, vocabulary=vocabulary)
        check_drawn(recipe, treebank)
    return Datasets(
        vocabulary,
        table,
        examples,
        {"dev": reported, "held": aside, "nothing": []}[recipe.training.stop_on],
        reported,
        items=([] if task.brings_trees else train, dev),
        skipped=skipped,
        weights=weights,
        taught=Counter(tree.source for tree in taught),
        treebank=treebank,
        traced=_traced(recipe, reported),
        start=start,
        test=measured,
        notes=notes,
    )


@contextmanager
def _in_file(path: Path) -> Iterator[None]:
    """Say in which file a tree is that does not fit the model."""
    try:
        yield
    except TreeError as error:
        raise TreeError(error.message, source=str(path)) from None


def _traced(recipe: Recipe, reported: Sequence[Example]) -> dict[str, Sequence[Example]]:
    """What is measured after each epoch of a table for its curve, at most `MOST_TRACED` examples,
    where no watched figures show how learning goes."""
    if recipe.task.brings_trees or recipe.training.stop_on != "nothing":
        return {}
    step = -(-len(reported) // MOST_TRACED)
    return dict.fromkeys(recipe.training.trees[-1:], reported[:: max(step, 1)])


def _sentences(task: Task, items: Sequence[Any]) -> Iterator[Sequence[str]]:
    return (words for item in items for words in task.sentences(item))


def read_items(
    recipe: Recipe,
    data: Path | Inputs,
    skipped: list[DataError] | None = None,
    notes: list[str] | None = None,
) -> Split:
    """The items of a recipe, with files in the folder `data`, or what was opened there.

    The list `skipped` takes the errors of those
    that the recipe has left out, and `notes` what became of the rows of `data.add`. They leave
    what is set aside as it is. Raises DataError where a part is left without items.
    """
    task, files, inputs = recipe.task, recipe.data, Inputs.of(data)
    errors, data = [] if skipped is None else skipped, inputs.folder
    train = inputs.items(files.train, recipe, errors)
    if files.dev is not None:
        dev = inputs.items(files.dev, recipe, errors)
    elif files.dev_share is not None:
        train, dev = set_aside_share(train, files.dev_share, task.class_of, task.group_of)
    else:
        train, dev = set_aside(train, files.dev_size or 0, task.group_of)
    held: list[Any] = []
    if recipe.training.stop_on == "held":
        train, held = set_aside(train, -(-len(train) // HELD_PART), task.group_of)
    if files.add is not None:
        reader = task.for_corrections(inputs.table(files.add))
        rows = inputs.items(files.add, recipe.model_copy(update={"task": reader}), errors)
        before = {task.replaced_by(item) for item in dev}
        (train, held, dev), replaced = corrected(
            (train, held, dev), rows, task.replaced_by, last=not task.repeats
        )
        aside = len(before.intersection(replaced))
        texts = len({task.replaced_by(row) for row in rows})
        if notes is not None:
            notes.append(
                f"{files.add}: {texts:,} {task.items}, of which {len(replaced):,} replace rows "
                f"({aside:,} for development)"
            )
    if not dev:
        raise DataError(
            f"{data / files.train}: expected at least two different {task.items} of some "
            "class, so that one can be set aside for development; add more, or a development "
            "file (dev), and check that the columns of texts and labels are not swapped"
        )
    if not train:
        aside = len(dev if files.dev is None else held)
        raise DataError(
            f"{data / files.train}: all examples ({aside}) would be set aside, expected some "
            "to train on; add more, or set fewer aside"
        )
    task.check_items(recipe, train)
    for name in task.files:
        path = task.path(name, recipe.folders(data))
        train += task.read_more(path, recipe.model, errors)
    return train, held, dev
