"""A lesson of sentences whose phrases come from other sentences, for a teacher to label."""

from collections import defaultdict
from typing import ClassVar, Final

import numpy as np
from pydantic import Field

from thinstack.core import Tree
from thinstack.data.trees.subtrees import LabelledTree, phrase_sizes, replaced, subtree
from thinstack.training.lesson import Lesson, Treebank

__all__ = ["Exchanged"]

MOST_WORDS: Final = 8
"""The most words of a phrase that is exchanged."""

WORDS_AN_EXCHANGE: Final = 12
"""A sentence has one exchange, and one more for every so many words, up to `MOST_EXCHANGES`."""
MOST_EXCHANGES: Final = 3


class Exchanged(Lesson):
    """Training sentences in which one to three phrases of up to 8 words are replaced by phrases of
    similar length from other training sentences."""

    name: ClassVar[str] = "exchanged.v1"
    summary: ClassVar[str] = "sentences with phrases of other sentences"
    taught: ClassVar[bool] = True

    share: float = Field(default=1.0, ge=0)
    """Number of trees per training tree."""

    def trees(self, treebank: Treebank, draw: np.random.Generator) -> list[LabelledTree]:
        """Trees without labels, made from the training trees in turn.

        A phrase is exchanged for a phrase of any tree that has as many words, or one more or fewer.
        Longer phrases are drawn more often. A tree of one word stays as it is.
        """
        trees = [labelled.tree for labelled in treebank.trees]
        phrases: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for number, tree in enumerate(trees):
            for words, node in _exchangeable(tree):
                phrases[words].append((number, node))
        sentences = []
        for place in range(round(self.share * len(trees))):
            tree = trees[place % len(trees)]
            for _ in range(min(1 + len(tree.words) // WORDS_AN_EXCHANGE, MOST_EXCHANGES)):
                nodes = _exchangeable(tree)
                if nodes:
                    words, node = nodes[int(len(nodes) * draw.random() ** 2)]
                    number, other = _of_about(phrases, words, draw)
                    tree = replaced(tree, node, subtree(trees[number], other))
            sentences.append(
                LabelledTree.unlabelled(Tree.from_transitions(tree.transitions, tree.words))
            )
        return sentences


def _exchangeable(tree: Tree) -> list[tuple[int, int]]:
    """The words and the node of each phrase that may be exchanged, the longest first."""
    sizes = phrase_sizes(tree)[:-1]
    phrases = [(words, node) for node, words in enumerate(sizes) if words <= MOST_WORDS]
    return sorted(phrases, reverse=True)


def _of_about(
    phrases: dict[int, list[tuple[int, int]]], words: int, draw: np.random.Generator
) -> tuple[int, int]:
    """A phrase of about so many words: the number of its tree, and its node."""
    near = [size for size in (words - 1, words, words + 1) if size in phrases]
    alike = phrases[near[int(draw.integers(len(near)))]]
    return alike[int(draw.integers(len(alike)))]
