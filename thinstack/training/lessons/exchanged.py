"""A lesson of sentences with phrases of other sentences, for a teacher to label."""

from collections import defaultdict
from typing import ClassVar, Final

import numpy as np
from pydantic import Field

from thinstack.core import Tree
from thinstack.data.trees.subtrees import LabelledTree, phrase_sizes, replaced, subtree
from thinstack.training.lesson import Lesson, Treebank

__all__ = ["Exchanged"]

MOST_WORDS: Final = 8
"""Maximum words of a phrase that is exchanged."""
WORDS_AN_EXCHANGE: Final = 12
MOST_EXCHANGES: Final = 3
"""Exchanges per sentence: one, and one more for every 12 words, up to 3."""


class Exchanged(Lesson):
    """Training sentences in which one to three phrases of up to 8 words are replaced by phrases of
    similar length from other training sentences."""

    name: ClassVar[str] = "exchanged.v1"
    summary: ClassVar[str] = "sentences with phrases of other sentences"
    taught: ClassVar[bool] = True

    share: float = Field(default=1.0, ge=0)
    """Number of trees per training tree."""

    def trees(self, treebank: Treebank, draw: np.random.Generator) -> list[LabelledTree]:
        """Return trees without labels, from each of the training trees in turn.

        A phrase is replaced by a phrase of any tree whose number of words differs by at most one.
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
                if nodes := _exchangeable(tree):
                    words, node = nodes[int(len(nodes) * draw.random() ** 2)]
                    near = [size for size in (words - 1, words, words + 1) if size in phrases]
                    similar = phrases[near[int(draw.integers(len(near)))]]
                    number, other = similar[int(draw.integers(len(similar)))]
                    tree = replaced(tree, node, subtree(trees[number], other))
            copied = Tree.from_transitions(tree.transitions, tree.words)  # without labels
            sentences.append(LabelledTree.unlabelled(copied))
        return sentences


def _exchangeable(tree: Tree) -> list[tuple[int, int]]:
    """Return the word count and the node of each phrase of a few words, the longest first."""
    sizes = phrase_sizes(tree)[:-1]
    phrases = [(words, node) for node, words in enumerate(sizes) if words <= MOST_WORDS]
    return sorted(phrases, reverse=True)
