"""Lessons as another package has them: what a lesson may do, with trees that need no thought."""

from importlib.metadata import EntryPoint
from typing import ClassVar

import numpy as np
from pydantic import Field

from thinstack.core import Tree
from thinstack.data.trees.brackets import from_brackets
from thinstack.data.trees.subtrees import LabelledTree
from thinstack.data.trees.treebank import label_ids
from thinstack.data.words.vocabulary import WordVocabulary
from thinstack.plugins.manager import PluginManager
from thinstack.training.lesson import Lesson, Treebank

SENTENCES = [
    "(3 (2 Is) (3 (2 it) (3 (2 a) (3 (3 good) (2 film)))))",
    "(1 No)",
    "(1 (1 (2 It) (1 (2 was) (1 (1 very) (1 dull)))) (2 .))",
]
SETS = {"It works .": (3, 4), "It broke .": (0, 1), "A red box .": (2,)}


class Ended(Lesson):
    """Training sentences that end on the word in a file, for a teacher to label."""

    name: ClassVar[str] = "ended.v1"
    taught: ClassVar[bool] = True

    share: float = Field(default=1.0, ge=0, description="How many for each training tree.")
    end: str = Field(default="end.txt", description="The file.")

    @property
    def files(self) -> tuple[str, ...]:
        return (self.end,)

    def trees(self, treebank: Treebank, draw: np.random.Generator) -> list[LabelledTree]:
        word = LabelledTree.unlabelled(
            Tree.right([self.path(self.end, treebank.folders).read_text(encoding="utf-8")])
        )
        several = np.arange(round(self.share * len(treebank.trees))) % len(treebank.trees)
        whole = [LabelledTree.joined(treebank.trees[place], word).tree for place in several]
        return [LabelledTree.unlabelled(tree) for tree in whole]


class Asked(Lesson):
    """A text of three sentences for each training tree."""

    name: ClassVar[str] = "asked.v1"
    anew: ClassVar[bool] = True
    parsed: ClassVar[bool] = True

    def trees(self, treebank: Treebank, draw: np.random.Generator) -> list[LabelledTree]:
        return [LabelledTree.text([labelled(text) for text in SENTENCES], 1)] * len(treebank.trees)


class Sets(Lesson):
    """Texts that have one class of a set, over the trees of a teacher or right-branching ones."""

    name: ClassVar[str] = "sets.v1"
    taught: ClassVar[bool] = True
    soft: ClassVar[bool] = True

    sentences: bool = Field(default=False, description="Whether the first text has two sentences.")

    def trees(self, treebank: Treebank, draw: np.random.Generator) -> list[LabelledTree]:
        make = treebank.parse or (lambda texts: list(map(Tree.right, texts)))
        trees = [*map(LabelledTree.unlabelled, make([text.split() for text in SETS]))]
        if self.sentences:
            trees[0] = LabelledTree.text([trees[-1], trees[0]])
        sets = zip(trees, SETS.values(), strict=True)
        return [tree._replace(root_set=classes) for tree, classes in sets]


def labelled(text: str) -> LabelledTree:
    """A tree in brackets, whose classes are numbers."""
    tree = from_brackets(text)
    return LabelledTree(tree, label_ids(tree, tuple("01234")))


def treebank(*texts: str, classes: int = 3) -> Treebank:
    """A treebank of such trees."""
    trees = [labelled(text) for text in texts]
    words = {word for one in trees for word in one.tree.words}
    return Treebank(trees, classes, vocabulary=WordVocabulary(sorted(words)))


def plugins() -> PluginManager:
    """What is built in, and these lessons."""
    points = [(lesson.name, lesson.__name__) for lesson in (Ended, Asked, Sets)]
    return PluginManager(
        entry_points=[EntryPoint(name, f"{__name__}:{kind}", "thinstack") for name, kind in points]
    )
