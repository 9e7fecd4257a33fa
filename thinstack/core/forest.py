"""`Forest`: a batch of trees as flat concatenated arrays, without padding."""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thinstack.core.transitions import sentence_trees
from thinstack.core.tree import Tree

IntArray = NDArray[np.int64]

EMPTY: Final = np.zeros(0, np.int64)

WORD_FIELDS: Final = {"words": ["token_ids"], "wordpieces": ["piece_ids", "pieces_per_word"]}
"""The fields of a `Forest` for words, by the kind of vocabulary."""


class Forest(NamedTuple):
    """B trees over N nodes and L words.

    Every field is a flat int64 array. A field that a batch does not need is empty. Trees are
    represented by `transitions`, or by `parents`, `slots` and `kinds`; plain sequences have
    neither. The inputs of models and of ONNX files have the names of these fields.

    Attributes:
        parents: (N,) position of each node's parent in the whole batch; -1 for a root.
        slots: (N,) the index of a node among its parent's children, from 0 (roots: 0).
        kinds: (N,) the type of the edge to the parent, from 1 (roots: 1).
        sizes: (B,) number of nodes in each tree, or of words in each sequence.
        lengths: (S,) number of words in each sentence, or in each tree if these are the same.
        breaks: (S,) the break after each sentence, for a model that joins its parses of sentences
            to one tree per text. 0 ends a text. From 1 to `thinstack.core.transitions.MOST_BREAK`,
            the next sentence belongs to the same text, and gaps of greater breaks are split first.
            Empty if each sentence is a tree.
        transitions: (N,) 0 SHIFT and 1 REDUCE, of binary trees in transition order; empty if the
            model should parse.
        token_ids: (L,) the row of each word in the leaf table.
        piece_ids: (P,) the rows of the pieces of all words, in order.
        pieces_per_word: (L,) the number of pieces in each word, at least 1.
        constituents: (N,) the label of each inner node, from 0. Values at leaves are not read.
    """

    parents: IntArray = EMPTY
    slots: IntArray = EMPTY
    kinds: IntArray = EMPTY
    sizes: IntArray = EMPTY
    lengths: IntArray = EMPTY
    breaks: IntArray = EMPTY
    transitions: IntArray = EMPTY
    token_ids: IntArray = EMPTY
    piece_ids: IntArray = EMPTY
    pieces_per_word: IntArray = EMPTY
    constituents: IntArray = EMPTY

    @classmethod
    def of(cls, trees: Iterable[Tree], relations: Sequence[str] = ()) -> "Forest":
        """Build the parents, slots and kinds of trees. Slots count siblings from the left.

        If the label of a child is `relations[i]` (distinct names), its edge has kind 2 + i. Any
        other label gives kind 1, so R relations make R + 1 kinds.
        """
        return join(
            cls(
                parents=tree.parents,
                slots=_sibling_ranks(tree.parents),
                kinds=_kinds(tree, relations),
                sizes=np.array([len(tree)]),
                lengths=np.array([len(tree.words)]),
            )
            for tree in trees
        )

    @classmethod
    def of_binary(cls, trees: Iterable[Tree]) -> "Forest":
        """Build the transitions of binary trees. Raises TreeError for a tree that is not binary."""
        return join(
            cls(
                sizes=np.array([len(tree)]),
                lengths=np.array([len(tree.words)]),
                transitions=tree.transitions.astype(np.int64),
            )
            for tree in trees
        )

    @property
    def leaves(self) -> NDArray[np.bool_]:
        """Which nodes have no children, (N,), from `parents`."""
        leaf = np.ones(len(self.parents), bool)
        leaf[self.parents[self.parents >= 0]] = False
        return leaf

    def inputs(self, names: Iterable[str]) -> dict[str, IntArray]:
        """Return these fields as inputs of a model: missing `breaks` are all 0."""
        fields = {name: getattr(self, name) for name in names}
        if "breaks" in fields and not len(self.breaks):
            fields["breaks"] = np.zeros_like(self.lengths)
        return fields

    @property
    def sentence_transitions(self) -> IntArray:
        """The transitions of the sentences' trees, without those that join sentences of a text."""
        if not self.breaks.any():
            return self.transitions
        return sentence_trees(self.transitions, self.lengths).astype(np.int64)

    def by_tree(self, values: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """Split the values of all nodes (N,) into one array per tree."""
        return np.split(values, np.cumsum(self.sizes)[:-1])


def join(forests: Iterable[Forest]) -> Forest:
    """Concatenate several batches, shifting the positions of parents."""
    parts = [Forest(), *forests]
    if any(len(part.breaks) for part in parts):
        parts = [part._replace(**part.inputs(["breaks"])) for part in parts]
    nodes = [len(part.parents) for part in parts]
    offsets = np.repeat(np.cumsum(nodes) - nodes, nodes)
    joined = Forest(*map(np.concatenate, zip(*parts, strict=True)))
    return joined._replace(parents=np.where(joined.parents < 0, -1, joined.parents + offsets))


def text_sizes(lengths: IntArray, breaks: IntArray) -> IntArray:
    """Return the number of nodes (T,) of the tree of each text, from the words (S,) of each
    sentence and the breaks after them, as in a `Forest`."""
    words: IntArray = np.diff(np.cumsum(lengths)[breaks == 0], prepend=0)
    return 2 * words - 1


def without_trees(forest: Forest) -> Forest:
    """Return the batch without its trees, so that a model with a parser predicts them."""
    return forest._replace(transitions=EMPTY)


def _kinds(tree: Tree, relations: Sequence[str]) -> IntArray:
    kind_of: dict[str | None, int] = {name: kind for kind, name in enumerate(relations, start=2)}
    kinds = np.array([kind_of.get(label, 1) for label in tree.labels], np.int64)
    return np.where(tree.parents < 0, 1, kinds)


def _sibling_ranks(parents: IntArray) -> IntArray:
    order = np.argsort(parents, kind="stable")
    ranked = parents[order]
    ranks = np.empty_like(parents)
    ranks[order] = np.arange(len(parents)) - np.searchsorted(ranked, ranked)
    return np.where(parents < 0, 0, ranks)
