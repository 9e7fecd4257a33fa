"""Treebanks of a few trees in brackets, whose classes are numbers."""

from thinstack.data.trees.brackets import from_brackets
from thinstack.data.trees.subtrees import LabelledTree
from thinstack.data.trees.treebank import label_ids
from thinstack.data.words.vocabulary import Vocabulary, WordVocabulary
from thinstack.training.lesson import Treebank


def labelled(text: str) -> LabelledTree:
    tree = from_brackets(text)
    return LabelledTree(tree, label_ids(tree, tuple("01234")))


def treebank(*texts: str, classes: int = 3, vocabulary: Vocabulary | None = None) -> Treebank:
    trees = [labelled(text) for text in texts]
    known = vocabulary or WordVocabulary(sorted({w for one in trees for w in one.tree.words}))
    return Treebank(trees, classes, vocabulary=known)
