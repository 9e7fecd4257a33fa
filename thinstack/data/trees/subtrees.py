"""Extract, replace and join phrases of binary trees."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thinstack.core import Tree
from thinstack.core.transitions import SHIFT, balanced, over, sentence_trees


class LabelledTree(NamedTuple):
    """A binary tree of N nodes whose labels move with its phrases.

    Attributes:
        tree: the tree.
        labels: (N,) the class of each node, -1 if unknown.
        soft: (N, C) the weight of each class in the loss of a node; by default, 1 for its class.
        sentences: the word counts of the sentences of a text; None for a single sentence. Parsers
            and leaf embeddings read sentences separately. The tree has a node for each.
        root_set: the possible classes of the root, if its exact class is unknown. They replace the
            root's label. Lessons with `soft` may have them.
        group: the id of the group of trees that should get the same root label, because they differ
            only in equivalent words. Ids are unique within an epoch.
    """

    tree: Tree
    labels: NDArray[np.int64]
    soft: NDArray[np.float16] | None = None
    sentences: tuple[int, ...] | None = None
    root_set: tuple[int, ...] = ()
    group: int | None = None

    @classmethod
    def unlabelled(cls, tree: Tree) -> "LabelledTree":
        """Return a tree without labels."""
        return cls(tree, np.full(len(tree), -1))

    @classmethod
    def joined(cls, left: "LabelledTree", right: "LabelledTree", label: int = -1) -> "LabelledTree":
        """Join two trees as the children of a root with this class, in one sentence."""
        return cls.text([left, right], label)._replace(sentences=None)

    @classmethod
    def text(cls, sentences: Sequence["LabelledTree"], label: int = -1) -> "LabelledTree":
        """Join the trees of at least one sentence by a balanced tree.

        The root gets this class, unless it is unknown (-1). Other nodes above sentences get none.
        Soft labels are kept if all sentences have them.
        """
        top, following = balanced(len(sentences)).tolist(), iter(sentences)
        nodes = [next(following) if step == SHIFT else None for step in top]
        none = np.full(1, -1)
        labels = np.concatenate([none if one is None else one.labels for one in nodes])
        soft, softs = None, [one.soft for one in sentences if one.soft is not None]
        if len(softs) == len(sentences):
            unknown = np.zeros((1, softs[0].shape[1]), np.float16)
            parts = [unknown if one is None else one.soft for one in nodes]
            soft = np.concatenate([part for part in parts if part is not None])
        if label >= 0:
            labels[-1] = label
            if soft is not None:
                soft[-1] = np.arange(soft.shape[1]) == label
        trees = [one.tree for one in sentences]
        tree = Tree.from_transitions(
            over(balanced(len(trees)), [one.transitions for one in trees]),
            [word for one in trees for word in one.words],
        )
        lengths = [n for one in sentences for n in one.sentences or (len(one.tree.words),)]
        return cls(tree, labels, soft, tuple(lengths) if len(lengths) > 1 else None)

    def sentence_trees(self) -> list[Tree]:
        """Return the tree of each sentence."""
        if self.sentences is None:
            return [self.tree]
        lengths, words = np.array(self.sentences), self.tree.words
        ends = np.cumsum(lengths)
        steps = np.split(
            sentence_trees(self.tree.transitions, lengths), np.cumsum(2 * lengths - 1)[:-1]
        )
        return [
            Tree.from_transitions(part, words[end - length : end])
            for part, end, length in zip(steps, ends, lengths, strict=True)
        ]

    def phrase(self, node: int) -> "LabelledTree":
        """Return the phrase at a node, as a tree with its labels."""
        nodes = slice(_first(self.tree, node), node + 1)
        soft = None if self.soft is None else self.soft[nodes]
        sentences = self.sentences
        if sentences is not None:
            start, end = self.tree.spans[node].tolist()
            within = [place for place in np.cumsum(sentences).tolist() if start < place < end]
            sentences = _lengths([start, *within, end])
        return LabelledTree(subtree(self.tree, node), self.labels[nodes], soft, sentences)

    def replaced(self, node: int, phrase: "LabelledTree") -> "LabelledTree":
        """Replace the phrase at a node by another phrase with its labels, which becomes part of a
        single sentence."""
        first = _first(self.tree, node)

        def spliced(rows: NDArray[Any], new: NDArray[Any]) -> NDArray[Any]:
            return np.concatenate([rows[:first], new, rows[node + 1 :]])

        soft = None
        if self.soft is not None and phrase.soft is not None:
            soft = spliced(self.soft, phrase.soft)
        sentences = self.sentences
        if sentences is not None:
            start, end = self.tree.spans[node].tolist()
            more, ends = len(phrase.tree.words) - (end - start), np.cumsum(sentences).tolist()
            before = [place for place in ends if place <= start]
            sentences = _lengths([0, *before, *(place + more for place in ends if place >= end)])
        tree = replaced(self.tree, node, phrase.tree)
        return LabelledTree(tree, spliced(self.labels, phrase.labels), soft, sentences)


def _lengths(places: Sequence[int]) -> tuple[int, ...] | None:
    """Return the word counts of sentences, from their bounds; None for a single sentence."""
    return tuple(np.diff(places).tolist()) if len(places) > 2 else None


def phrase_sizes(tree: Tree) -> list[int]:
    """Return the number of words below each of the N nodes, (N,)."""
    sizes: list[int] = (tree.spans[:, 1] - tree.spans[:, 0]).tolist()
    return sizes


def subtree(tree: Tree, node: int) -> Tree:
    """Return the phrase at a node as a tree. Raises TreeError unless the tree is binary."""
    start, end = tree.spans[node].tolist()
    return Tree.from_transitions(
        tree.transitions[_first(tree, node) : node + 1], tree.words[start:end]
    )


def replaced(tree: Tree, node: int, phrase: Tree) -> Tree:
    """Return the tree with `phrase` instead of the phrase at a node. Raises TreeError unless both
    are binary."""
    start, end = tree.spans[node].tolist()
    steps, first = tree.transitions, _first(tree, node)
    changed = np.concatenate([steps[:first], phrase.transitions, steps[node + 1 :]])
    return Tree.from_transitions(changed, (*tree.words[:start], *phrase.words, *tree.words[end:]))


def _first(tree: Tree, node: int) -> int:
    """Return the first node of the phrase at a node. In transition order, the nodes of a phrase are
    consecutive."""
    return node - 2 * phrase_sizes(tree)[node] + 2
