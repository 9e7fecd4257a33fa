"""Gathers the trees that a model learns from: those of the training file and those of lessons, with
soft labels where a teacher has labelled them (Hinton et al. 2015)."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thinstack.core.config import ModelConfig
from thinstack.data.trees.subtrees import LabelledTree
from thinstack.data.trees.treebank import Labelled
from thinstack.data.words.vocabulary import Vocabulary
from thinstack.errors import TreeError
from thinstack.training.examples.example import Example, examples_of
from thinstack.training.lesson import Lesson, Treebank
from thinstack.training.loop.teacher import OnRead, Teacher
from thinstack.training.recipe import Recipe

__all__ = [
    "Taught",
    "drawn_trees",
    "needs_soft_labels",
    "taught_examples",
    "taught_trees",
    "with_labels",
]

TREEBANK: Final = "trees"
"""The source of the trees of the training file. Other sources are titles of lessons."""


class Taught(NamedTuple):
    """A tree to learn from.

    Attributes:
        source: where the tree comes from: "trees", or the title of a lesson.
        tree: the binary tree with its labels.
        parsed: whether a parser learns from it.
    """

    source: str
    tree: LabelledTree
    parsed: bool


def taught_trees(
    recipe: Recipe,
    train: Sequence[Labelled],
    aside: Sequence[Labelled],
    data: Path,
    *,
    cache: Path | None = None,
    threads: int | None = None,
    on_read: OnRead | None = None,
) -> list[Taught]:
    """The trees to learn from, the same for all seeds: the trees `train`, then those of the lessons
    that are made once.

    Sentences of `aside`, which are kept for measuring, are never taken from texts. `cache`,
    `threads` and `on_read` are as a `Teacher` takes them.

    Raises TreeError for trees that are not binary, if the recipe has a teacher or lessons. Raises
    what a `Teacher` and the lessons raise.
    """
    known = [LabelledTree(*each) for each in train]
    if not (recipe.teacher or recipe.lessons):
        return [Taught(TREEBANK, each, True) for each in known]
    _check_binary(train, data / recipe.data.train)
    teacher = None
    if recipe.teacher is not None:
        labels = recipe.model.labels
        teacher = Teacher(recipe.teacher, labels, cache=cache, threads=threads, on_read=on_read)
    treebank = Treebank(
        known,
        len(recipe.model.labels),
        aside=[tree.words for tree, _ in aside],
        folders=recipe.folders(data),
        parse=None if teacher is None else teacher.parse,
    )
    made = [
        (lesson, lesson.trees(treebank, np.random.default_rng(lesson.draws_from(place))))
        for place, lesson in enumerate(recipe.lessons)
        if not lesson.anew
    ]
    taught = [Taught(TREEBANK, each, True) for each in _softened(recipe, known, None, teacher)]
    for lesson, trees in made:
        softened = _softened(recipe, trees, lesson, teacher if lesson.taught else None)
        taught += [Taught(lesson.title, each, lesson.parsed) for each in softened]
    if teacher is not None:
        teacher.close()
    return taught


def drawn_trees(recipe: Recipe, treebank: Treebank, draw: np.random.Generator) -> list[Taught]:
    """The trees of the lessons that are drawn anew for each epoch. Raises what they raise."""
    return [
        Taught(lesson.title, each, lesson.parsed)
        for lesson in recipe.lessons
        if lesson.anew
        for each in _softened(recipe, lesson.trees(treebank, draw), lesson, None)
    ]


def needs_soft_labels(recipe: Recipe) -> bool:
    """Whether the loss reads soft labels: those of a teacher, or those of lessons with a weight."""
    return recipe.teacher is not None or any(lesson.weight != 1 for lesson in recipe.lessons)


def _softened(
    recipe: Recipe, trees: Sequence[LabelledTree], lesson: Lesson | None, teacher: Teacher | None
) -> Sequence[LabelledTree]:
    """The trees of a lesson, or of the training file without one, with the soft labels that the
    `teacher` gives, or else their own, times the weight of the lesson."""
    if not needs_soft_labels(recipe):
        return trees
    if teacher is not None and recipe.teacher is not None:
        what, alpha = "the training trees" if lesson is None else lesson.title, recipe.teacher.alpha
        found = teacher.probabilities([each.tree for each in trees], what)
        pairs = zip(found, trees, strict=True)
        soft = [with_labels(each, tree.labels, alpha) for each, tree in pairs]
    else:
        classes = len(recipe.model.labels)
        soft = [
            with_labels(np.zeros([len(each.tree), classes]), each.labels, 1.0)
            if each.soft is None
            else each.soft
            for each in trees
        ]
    weight = np.float16(1.0 if lesson is None else lesson.weight)
    return [tree._replace(soft=each * weight) for tree, each in zip(trees, soft, strict=True)]


def with_labels(
    probabilities: NDArray[np.floating], labels: NDArray[np.int64], alpha: float
) -> NDArray[np.float16]:
    """Soft labels (N, C): a mixture of the known labels (N,) and the teacher's `probabilities` (N,
    C). The known labels have the share `alpha`. Where there is no label (-1), the teacher has it
    all."""
    known = (labels >= 0)[:, np.newaxis]
    own = np.eye(probabilities.shape[1])[labels]
    mixed = alpha * own + (1 - alpha) * probabilities.astype(np.float64)
    return np.where(known, mixed, probabilities).astype(np.float16)


def taught_examples(
    taught: Sequence[Taught],
    vocabulary: Vocabulary,
    config: ModelConfig,
    reads: str,
    sources: Sequence[str] = (),
    file: Path | None = None,
) -> list[Example]:
    """The examples of trees, as `examples_of` makes them, with their soft labels."""
    treebank = [(each.tree.tree, each.tree.labels) for each in taught]
    examples = examples_of(treebank, vocabulary, config, reads, sources, file)
    return [
        replace(_with_soft(example, each.tree.soft), parsed=each.parsed)
        for each, example in zip(taught, examples, strict=True)
    ]


def _with_soft(example: Example, soft: NDArray[np.float16] | None) -> Example:
    if soft is None:
        return example
    gold = example.gold._replace(soft=soft)
    others = {
        source: gold.over(one.forest.transitions)
        for source, one in example.trees.items()
        if source != "gold"
    }
    return replace(example, trees={"gold": gold, **others})


def _check_binary(treebank: Sequence[Labelled], file: Path) -> None:
    for number, (tree, _) in enumerate(treebank):
        try:
            _ = tree.transitions
        except TreeError as error:
            raise TreeError(f"tree {number}: {error}", source=str(file)) from None
