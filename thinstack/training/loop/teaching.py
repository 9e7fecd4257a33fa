"""Collects the trees to train on: those of the training file and of lessons, with soft labels if
there is a teacher (Hinton et al. 2015)."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thinstack.core.config import ModelConfig
from thinstack.data.trees.subtrees import LabelledTree
from thinstack.data.trees.treebank import Labelled
from thinstack.data.words.vocabulary import Vocabulary
from thinstack.errors import TreeError
from thinstack.training.examples.example import Example, examples_of
from thinstack.training.lesson import Lesson, Treebank
from thinstack.training.loop.teacher import AnswerCache, Teacher, word_labels
from thinstack.training.recipe import Recipe


class Taught(NamedTuple):
    """The trees to train on from a `lesson`, or from the training file (None)."""

    lesson: Lesson | None
    trees: Sequence[LabelledTree]

    @property
    def source(self) -> str:
        """The title of the lesson, or "trees"."""
        return "trees" if self.lesson is None else self.lesson.title


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
    """Return the trees `train`, and those of the lessons that are created once. They are the same
    for all seeds.

    The random draws of a lesson are seeded with its place in the recipe, so that they do not depend
    on other lessons. `aside`: held-out sentences, which no lesson may contain. `threads`: as in
    `Teacher`. `say`: as in `Treebank`. Raises TreeError for trees that are not binary.
    """
    trees, cache, teacher = [LabelledTree(*tree) for tree in train], cache or AnswerCache(), None
    for number, one in enumerate(trees):
        try:
            _ = one.tree.transitions
        except TreeError as error:
            file = str(data / recipe.data.train)
            raise TreeError(f"tree {number}: {error}", source=file) from None
    if recipe.teacher is not None:
        labels = recipe.model.labels
        words = word_labels(trees, len(labels)) if recipe.teacher.own_words else {}
        teacher = Teacher(recipe.teacher, labels, cache, threads=threads, words=words)
    more = {"parse": None if teacher is None else teacher.parse, "say": say}
    treebank = treebank_of(recipe, trees, [tree.words for tree, _ in aside], data, **more)
    lessons = [
        Taught(lesson, lesson.trees(treebank, np.random.default_rng(place)))
        for place, lesson in enumerate(recipe.lessons)
        if not lesson.anew
    ]
    taught = [_softened(recipe, one, teacher) for one in (Taught(None, trees), *lessons)]
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
    """Return the data for the lessons of a recipe; `more`: further fields of `Treebank`."""
    labels, joins = recipe.model.labels, recipe.model.aggregation == "tree"
    more |= {"aside": aside, "folders": recipe.folders(data), "labels": labels, "joins": joins}
    return Treebank(trees, len(labels), **more)


def drawn_trees(recipe: Recipe, treebank: Treebank, draw: np.random.Generator) -> list[Taught]:
    """Draw the trees of the lessons that are drawn again for each epoch."""
    return [
        _softened(recipe, Taught(lesson, lesson.trees(treebank, draw)), None)
        for lesson in recipe.lessons
        if lesson.anew
    ]


def needs_soft_labels(recipe: Recipe) -> bool:
    """Whether the loss uses soft labels, because there is a teacher, or a lesson that has a weight
    or soft labels."""
    soft = any(lesson.soft or lesson.weight != 1 for lesson in recipe.lessons)
    return recipe.teacher is not None or soft


def _softened(recipe: Recipe, taught: Taught, teacher: Teacher | None) -> Taught:
    """Add soft labels, if needed: those of the teacher or of the trees, times the weight of the
    lesson."""
    lesson, trees = taught
    if not needs_soft_labels(recipe):
        return taught
    if teacher is not None and (lesson is None or lesson.taught):
        soft = teacher.soft_labels(trees, "the training trees" if lesson is None else lesson.title)
        trees = [tree._replace(root_set=()) for tree in trees]  # which the teacher has resolved
    else:
        soft = [_own_labels(tree, len(recipe.model.labels)) for tree in trees]
    weight = np.float16(1.0 if lesson is None else lesson.weight)
    pairs = zip(trees, soft, strict=True)
    return Taught(lesson, [tree._replace(soft=labels * weight) for tree, labels in pairs])


def _own_labels(tree: LabelledTree, classes: int) -> NDArray[np.float16]:
    """Return the labels of a tree as soft labels (N, C), where a root's set has equal weights."""
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
    """Return the examples of trees, as in `examples_of`."""
    examples = list[Example]()
    for lesson, trees in taught:
        new = examples_of(trees, vocabulary, config, reads, sources)
        if lesson is not None:
            parsed, every = lesson.teaches_parser, 1 if lesson.anew else lesson.every
            new = [
                replace(example, parsed=parsed, turn=place % every, every=every)
                for place, example in enumerate(new)
            ]
        examples += new
    return examples
