"""How often the head words of phrases are those of a parse, and words of opinion."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reproduce.heads import UNCLEAR, IntArray, function_heads, parsed_heads
from thinstack.core import Tree
from thinstack.data.trees.treebank import Labelled


class Shares(NamedTuple):
    """Percent of the phrases whose head is that of the `parse`, or that of the parse with its
    `function` words first; of the phrases that hold a word of opinion, those whose head is one
    (`opinion`); percent of the heads that are in the `left` child. NaN of no phrase."""

    parse: float
    function: float
    opinion: float
    left: float


class References:
    """What the heads of phrases are compared with.

    Phrases have two words or more. Those over which the parse has several heads do not count. A
    word of opinion is one whose own class is not `neutral`.

    Attributes:
        parsed, function: for each tree, `parsed_heads` and `function_heads` of its nodes (N,).
        phrases, counted: the number of phrases, and of those that count.
    """

    def __init__(self, treebank: Sequence[Labelled], parses: Sequence[Tree], neutral: int):
        trees = [tree for tree, _ in treebank]
        pairs = list(zip(trees, parses, strict=True))
        self.parsed = [parsed_heads(*pair) for pair in pairs]
        self.function = [function_heads(*pair) for pair in pairs]
        words = np.array([len(tree.words) for tree in trees])
        # Of each node: where the words of its tree start among all words.
        self._first = np.repeat(np.cumsum(words) - words, [len(tree) for tree in trees])
        inner = np.concatenate([tree.arities > 0 for tree in trees])
        classes = np.concatenate([ids for _, ids in treebank])[~inner]
        self._opinion = (classes >= 0) & (classes != neutral)
        spans = np.concatenate([tree.spans for tree in trees]) + self._first[:, None]
        before = np.concatenate([[0], np.cumsum(self._opinion)])
        self._holds = before[spans[:, 1]] > before[spans[:, 0]]
        self._counts = inner & (np.concatenate(self.parsed) != UNCLEAR)
        self._middle = self._first + np.concatenate([_middles(tree) for tree in trees])
        self.phrases, self.counted = int(inner.sum()), int(self._counts.sum())

    def shares(self, heads: Sequence[IntArray]) -> Shares:
        """The shares of the head words of each tree's nodes (N,)."""
        counts, found = self._counts, np.concatenate(heads)
        words = self._first + found
        return Shares(
            parse=_percent((found == np.concatenate(self.parsed))[counts]),
            function=_percent((found == np.concatenate(self.function))[counts]),
            opinion=_percent(self._opinion[words[counts & self._holds]]),
            left=_percent((words < self._middle)[counts]),
        )


def _middles(tree: Tree) -> IntArray:
    """Where the right child of each node (N,) of a binary tree starts; 0 at leaves."""
    ends = [pair[0] if pair else -1 for pair in tree.children]
    return np.array([tree.spans[left, 1] if left >= 0 else 0 for left in ends], np.int64)


def _percent(right: NDArray[np.bool_]) -> float:
    return 100 * float(right.mean()) if right.size else float("nan")
