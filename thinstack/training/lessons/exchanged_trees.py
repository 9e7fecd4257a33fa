"""Makes sentences whose phrases come from other sentences, by exchanging subtrees."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

import numpy as np

from thinstack.core import Tree
from thinstack.data.trees.subtrees import phrase_sizes, replaced, subtree

__all__ = ["MOST_WORDS", "exchanged_trees"]

MOST_WORDS: Final = 8
"""The most words of a phrase that is exchanged."""

WORDS_AN_EXCHANGE: Final = 12
"""A sentence has one exchange, and one more for every so many words, up to `MOST_EXCHANGES`."""
MOST_EXCHANGES: Final = 3


def exchanged_trees(trees: Sequence[Tree], count: int, draw: np.random.Generator) -> list[Tree]:
    """`count` binary trees without labels, made from `trees` in turn by exchanging phrases.

    A phrase is exchanged for a phrase of any tree that has as many words, or one more or fewer.
    Longer phrases are drawn more often. A tree of one word stays as it is. Raises TreeError for
    trees that are not binary.
    """
    phrases: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for number, tree in enumerate(trees):
        for words, node in _exchangeable(tree):
            phrases[words].append((number, node))
    made = []
    for place in range(count):
        tree = trees[place % len(trees)]
        for _ in range(min(1 + len(tree.words) // WORDS_AN_EXCHANGE, MOST_EXCHANGES)):
            nodes = _exchangeable(tree)
            if nodes:
                words, node = nodes[int(len(nodes) * draw.random() ** 2)]
                number, other = _of_about(phrases, words, draw)
                tree = replaced(tree, node, subtree(trees[number], other))
        made.append(Tree.from_transitions(tree.transitions, tree.words))
    return made


def _exchangeable(tree: Tree) -> list[tuple[int, int]]:
    """The words and the node of each phrase that may be exchanged, the longest first."""
    sizes = phrase_sizes(tree)[:-1]
    found = [(words, node) for node, words in enumerate(sizes) if words <= MOST_WORDS]
    return sorted(found, reverse=True)


def _of_about(
    phrases: dict[int, list[tuple[int, int]]], words: int, draw: np.random.Generator
) -> tuple[int, int]:
    """A phrase of about so many words: the number of its tree, and its node."""
    near = [size for size in (words - 1, words, words + 1) if size in phrases]
    found = phrases[near[int(draw.integers(len(near)))]]
    return found[int(draw.integers(len(found)))]
