"""Gathers the trees that a model learns from: those of the training file and those of lessons, with
soft labels where a teacher has labelled them (Hinton et al. 2015)."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thinstack.core.config import ModelConfig
from thinstack.data.trees.subtrees import LabelledTree
from thinstack.data.trees.treebank import Labelled
from thinstack.data.words.vocabulary import Vocabulary
from thinstack.errors import ConfigError, TreeError
from thinstack.training.examples.example import Example, examples_of
from thinstack.training.lesson import Lesson, Treebank
from thinstack.training.loop.answer_cache import AnswerCache
from thinstack.training.loop.teacher import Teacher, word_labels
from thinstack.training.recipe import Recipe

TREEBANK: Final = "trees"
"""The source of the trees of the training file. Other sources are titles of lessons."""


class Taught(NamedTuple):
    """A tree to learn from.

    Attributes:
        source: where the tree comes from: "trees", or the title of a lesson.
        tree: the binary tree with its labels.
        parsed: whether a parser learns from it.
        turn: the remainder of the epochs that read it, divided by `every`.
        every: it is read in one of so many epochs.
    """

    source: str
    tree: LabelledTree
    parsed: bool
    turn: int = 0
    every: int = 1


def taught_trees(
    recipe: Recipe,
    train: Sequence[Labelled],
    aside: Sequence[Labelled],
    data: Path,
    *,
    cache: AnswerCache | None = None,
    threads: int | None = None,
    say: Callable[[str], object] = lambda line: None,
) -> list[Taught]:
    """The trees that a recipe with a teacher or lessons learns from, the same for all seeds: the
    trees `train`, then those of the lessons that are made once. A lesson's place in the recipe is
    the seed of its random draws, so that more trees of one lesson change no other.

    Sentences of `aside`, which are kept for measuring, are never taken from texts. `cache` and
    `threads` are as a `Teacher` takes them, and `say` as a `Treebank` does.

    Raises TreeError for trees that are not binary.
    """
    treebank_trees = [LabelledTree(*tree) for tree in train]
    _check_binary(train, data / recipe.data.train)
    cache, teacher = cache or AnswerCache(), None
    if recipe.teacher is not None:
        labels = recipe.model.labels
        words = word_labels(treebank_trees, len(labels)) if recipe.teacher.own_words else {}
        teacher = Teacher(recipe.teacher, labels, cache, threads=threads, words=words)
    more = {"parse": None if teacher is None else teacher.parse, "say": say}
    treebank = treebank_of(recipe, treebank_trees, [tree.words for tree, _ in aside], data, **more)
    by_lesson = [
        (lesson, lesson.trees(treebank, np.random.default_rng(place)))
        for place, lesson in enumerate(recipe.lessons)
        if not lesson.anew
    ]
    taught = [
        Taught(TREEBANK, tree, True) for tree in _softened(recipe, treebank_trees, None, teacher)
    ]
    for lesson, trees in by_lesson:
        softened = _softened(recipe, trees, lesson, teacher if lesson.taught else None)
        taught += [
            Taught(lesson.title, tree, lesson.teaches_parser, place % lesson.every, lesson.every)
            for place, tree in enumerate(softened)
        ]
    if teacher is not None:
        cache.remove_unused()
    return taught


def treebank_of(
    recipe: Recipe,
    trees: Sequence[LabelledTree],
    aside: Sequence[Sequence[str]],
    data: Path,
    **more: Any,
) -> Treebank:
    """What the lessons of a recipe are made from; `more`: further fields of `Treebank`."""
    labels, joins = recipe.model.labels, recipe.model.aggregation == "tree"
    more |= {"aside": aside, "folders": recipe.folders(data), "labels": labels, "joins": joins}
    return Treebank(trees, len(labels), **more)


def drawn_trees(recipe: Recipe, treebank: Treebank, draw: np.random.Generator) -> list[Taught]:
    """The trees of the lessons that are drawn anew for each epoch."""
    return [
        Taught(lesson.title, tree, lesson.teaches_parser)
        for lesson in recipe.lessons
        if lesson.anew
        for tree in _softened(recipe, lesson.trees(treebank, draw), lesson, None)
    ]


def check_drawn(recipe: Recipe, treebank: Treebank) -> None:
    """Draws the lessons that are drawn anew, before the first epoch. Raises ConfigError for one
    that draws nothing, and what they raise."""
    for lesson in recipe.lessons:
        if lesson.anew and not lesson.trees(treebank, np.random.default_rng(0)):
            raise ConfigError(
                f"lessons: expected trees of {lesson.name}, found none; raise its share, or leave "
                "it out"
            )


def needs_soft_labels(recipe: Recipe) -> bool:
    """Whether the loss reads soft labels: those of a teacher, or those of lessons that have them or
    have a weight."""
    soft = any(lesson.soft or lesson.weight != 1 for lesson in recipe.lessons)
    return recipe.teacher is not None or soft


def _softened(
    recipe: Recipe, trees: Sequence[LabelledTree], lesson: Lesson | None, teacher: Teacher | None
) -> Sequence[LabelledTree]:
    """The trees of a lesson, or of the training file without one, with the soft labels that the
    `teacher` gives, or else their own, times the weight of the lesson."""
    if not needs_soft_labels(recipe):
        return trees
    if teacher is not None:
        soft = teacher.soft_labels(trees, "the training trees" if lesson is None else lesson.title)
        trees = [tree._replace(root_set=()) for tree in trees]  # the teacher has chosen in them
    else:
        soft = [_own_labels(tree, len(recipe.model.labels)) for tree in trees]
    weight = np.float16(1.0 if lesson is None else lesson.weight)
    return [tree._replace(soft=labels * weight) for tree, labels in zip(trees, soft, strict=True)]


def _own_labels(tree: LabelledTree, classes: int) -> NDArray[np.float16]:
    """How often each class counts for the nodes of a tree, (N, C), by its own labels. The classes
    of its root's set count alike."""
    if tree.soft is not None:
        return tree.soft
    soft = np.eye(classes + 1, classes, dtype=np.float16)[tree.labels]  # 0 for -1, unknown
    if tree.root_set:
        soft[-1] = 0
        soft[-1, tree.root_set] = 1 / len(tree.root_set)
    return soft


def taught_examples(
    taught: Sequence[Taught],
    vocabulary: Vocabulary,
    config: ModelConfig,
    reads: str,
    sources: Sequence[str] = (),
) -> list[Example]:
    """The examples of trees, as `examples_of` makes them, with who reads them, and when."""
    examples = examples_of([one.tree for one in taught], vocabulary, config, reads, sources)
    return [
        replace(example, parsed=one.parsed, turn=one.turn, every=one.every)
        for one, example in zip(taught, examples, strict=True)
    ]


def _check_binary(treebank: Sequence[Labelled], file: Path) -> None:
    for number, (tree, _) in enumerate(treebank):
        try:
            _ = tree.transitions
        except TreeError as error:
            raise TreeError(f"tree {number}: {error}", source=str(file)) from None
