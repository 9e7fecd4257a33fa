"""Makes the lessons of a teacher: soft labels for every phrase of the training trees, and of
sentences without labels (Hinton et al. 2015)."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thinstack.core import Tree
from thinstack.core.config import ModelConfig
from thinstack.data.trees.treebank import Labelled
from thinstack.data.words.vocabulary import Vocabulary
from thinstack.errors import TreeError
from thinstack.training.examples.example import Example, examples_of
from thinstack.training.lessons.exchanged_trees import exchanged_trees
from thinstack.training.lessons.negation import negated_variants
from thinstack.training.lessons.plain_texts import read_plain_texts
from thinstack.training.loop.teacher import OnRead, Teacher
from thinstack.training.recipe import Recipe, TeacherConfig

__all__ = ["Lesson", "lessons", "taught_examples"]

TREEBANK: Final = "trees"
"""The source of lessons from the training file. Other sources are fields of `SourceWeights`."""


class Lesson(NamedTuple):
    """A tree to learn from.

    Attributes:
        source: where the tree comes from: "trees", "exchanged", "negated" or "texts".
        tree: the binary tree.
        labels: (N,) the classes that the treebank gives to its nodes, -1 where it gives none.
        soft: (N, C) how often each class counts in the loss of a node, as in `LabelledForest`.
    """

    source: str
    tree: Tree
    labels: NDArray[np.int64]
    soft: NDArray[np.float16]


def lessons(
    recipe: Recipe,
    train: Sequence[Labelled],
    aside: Sequence[Labelled],
    data: Path,
    *,
    cache: Path | None = None,
    threads: int | None = None,
    on_read: OnRead | None = None,
) -> list[Lesson]:
    """The lessons of a recipe with a teacher, the same for all seeds.

    Lessons of the trees `train` come first. Then come lessons of trees made from them, and of
    texts. Sentences of `aside`, which are kept for measuring, are never taken from texts. `cache`,
    `threads` and `on_read` are as a `Teacher` takes them.

    Raises TreeError for trees that are not binary, DataError for texts that cannot be read, and
    what a `Teacher` raises.
    """
    assert recipe.teacher is not None
    config, labels = recipe.teacher, recipe.model.labels
    _check_binary(train, data / recipe.data.train)
    teacher = Teacher(config, labels, cache=cache, threads=threads, on_read=on_read)
    made = _unlabelled(config, train, len(labels), teacher, aside, data)
    known = [tree for tree, _ in train]
    soft = teacher.probabilities(known, "the training trees")
    found = [
        Lesson(TREEBANK, tree, gold, with_labels(each, gold, config.alpha))
        for (tree, gold), each in zip(train, soft, strict=True)
    ]
    for source, trees in made.items():
        weight = getattr(config.weights, source)
        for tree, each in zip(trees, teacher.probabilities(trees, source), strict=True):
            unknown = np.full(len(tree), -1)
            found.append(Lesson(source, tree, unknown, each * np.float16(weight)))
    teacher.close()
    return found


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
    taught: Sequence[Lesson],
    vocabulary: Vocabulary,
    config: ModelConfig,
    sources: Sequence[str],
    file: Path,
) -> list[Example]:
    """The examples of lessons, as `examples_of` makes them of trees, for a task head that reads
    nodes. A parser learns only from lessons of the treebank."""
    treebank = [(lesson.tree, lesson.labels) for lesson in taught]
    found = []
    for lesson, example in zip(
        taught, examples_of(treebank, vocabulary, config, "nodes", sources, file), strict=True
    ):
        gold = example.gold._replace(soft=lesson.soft)
        others = {
            source: gold.over(one.forest.transitions)
            for source, one in example.trees.items()
            if source != "gold"
        }
        trees = {"gold": gold, **others}
        found.append(replace(example, trees=trees, parsed=lesson.source == TREEBANK))
    return found


def _unlabelled(
    config: TeacherConfig,
    train: Sequence[Labelled],
    classes: int,
    teacher: Teacher,
    aside: Sequence[Labelled],
    data: Path,
) -> dict[str, list[Tree]]:
    """The trees that only a teacher labels, by their source. Each source has its own random draws,
    so that more trees of one source change no other source."""
    exchanged, negated = (np.random.default_rng(number) for number in range(2))
    known, size = [tree for tree, _ in train], len(train)
    made = {
        "exchanged": exchanged_trees(known, round(config.exchanged * size), exchanged),
        "negated": negated_variants(train, classes, round(config.negated * size), negated),
    }
    if config.texts:
        kept_back = [tree.words for tree, _ in aside]
        files = [data / file for file in config.texts]
        sentences = read_plain_texts(files, config.max_text_words, kept_back)
        made["texts"] = teacher.parse(sentences)
    return made


def _check_binary(treebank: Sequence[Labelled], file: Path) -> None:
    for number, (tree, _) in enumerate(treebank):
        try:
            _ = tree.transitions
        except TreeError as error:
            raise TreeError(f"tree {number}: {error}", source=str(file)) from None
