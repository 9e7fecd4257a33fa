"""Treebanks of a few trees in brackets, whose classes are numbers."""

from own_lessons import labelled

from thinstack.data.words.vocabulary import Vocabulary, WordVocabulary
from thinstack.training.lesson import Treebank


def treebank(*texts: str, classes: int = 3, vocabulary: Vocabulary | None = None) -> Treebank:
    trees = [labelled(text) for text in texts]
    known = vocabulary or WordVocabulary(sorted({w for one in trees for w in one.tree.words}))
    return Treebank(trees, classes, vocabulary=known)
