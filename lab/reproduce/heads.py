"""The head word that each phrase has: by a lexicalised model, by a parse, or always the same
child's (Teng & Zhang 2017, section 7.5)."""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import cosine_similarity

from thinstack.bundle import Bundle
from thinstack.bundle.weights import load_model
from thinstack.core import Tree
from thinstack.core.forest import Forest
from thinstack.core.model.model import Model
from thinstack.errors import InputError

IntArray = NDArray[np.int64]

UNCLEAR: Final = -1
"""The head of a phrase over which a parse has several."""

FUNCTION_WORDS: Final = frozenset({"mark", "case", "aux", "cop"})
"""Relations of the words that Collins's rules make heads, and that UD hangs on content words."""

TOGETHER: Final = 128
"""Trees that are encoded at a time."""


class Lexicalised:
    """A model of binary trees that has a head word at every node, from its bundle.

    Raises InputError for any other model, and what `load_model` raises.
    """

    def __init__(self, bundle: Bundle):
        self.labels, self._vocabulary = bundle.config.labels, bundle.vocabulary()
        self._model: Model = load_model(bundle)
        words, outputs = self._model.encoder.word_size, self._model.output_names
        if bundle.config.trees != "binary" or not words or "node_scores" not in outputs:
            raise InputError(
                f"{bundle.path}: expected a classifier of binary trees with head words, found the "
                f"cell {bundle.config.cell.name} and {bundle.config.trees} trees: train one with "
                "lexicalized_lstm.v1, such as the row bicontree of "
                "lab/recipes/tables/sentiment.toml"
            )

    @torch.inference_mode()
    def heads(self, trees: Sequence[Tree]) -> list[IntArray]:
        """The head word of each node (N,) of each tree, as its place among the tree's words.

        A node has the head of the child whose head vector is more like its own, by the cosine. Of
        two that are as like, it is the left one.
        """
        found = []
        for part, forest in self._forests(trees):
            encoding = self._model.encode(self._model.inputs(forest), False)
            vectors = encoding.words.index_select(0, encoding.places)
            nodes = np.cumsum([len(tree) for tree in part])[:-1]
            for tree, own in zip(part, np.split(vectors.numpy(), nodes), strict=True):
                found.append(follow(tree, _nearer(tree, torch.from_numpy(own))))
        return found

    @torch.inference_mode()
    def classes(self, trees: Sequence[Tree]) -> list[IntArray]:
        """The most probable class of each node (N,) of each tree."""
        found: list[IntArray] = []
        for part, forest in self._forests(trees):
            scores = self._model(self._model.inputs(forest))["node_scores"].numpy()
            found += np.split(scores.argmax(1), np.cumsum([len(tree) for tree in part])[:-1])
        return found

    def _forests(self, trees: Sequence[Tree]) -> Iterator[tuple[Sequence[Tree], Forest]]:
        for start in range(0, len(trees), TOGETHER):
            part = trees[start : start + TOGETHER]
            words = list(chain.from_iterable(tree.words for tree in part))
            yield part, Forest.of_binary(part)._replace(**self._vocabulary.fields(words))


def _nearer(tree: Tree, vectors: Tensor) -> IntArray:
    """Which child, 0 or 1, of each node has the vector that is more like the node's (N, W)."""
    children = np.array([pair or (-1, -1) for pair in tree.children])
    inner = children[:, 0] >= 0
    like = [cosine_similarity(vectors[inner], vectors[side[inner]]) for side in children.T]
    chosen = np.zeros(len(tree), np.int64)
    chosen[inner] = (like[1] > like[0]).numpy()
    return chosen


def follow(tree: Tree, chosen: Sequence[int] | IntArray) -> IntArray:
    """The head word of each node (N,) of a binary tree, where a node has that of its child number
    `chosen`, 0 or 1 (N,)."""
    heads: list[int] = []
    words = 0
    for children, child in zip(tree.children, chosen, strict=True):
        heads.append(heads[children[child]] if children else words)
        words += not children
    return np.array(heads, np.int64)


def parsed_heads(tree: Tree, parse: Tree) -> IntArray:
    """The head word of each node (N,) by a dependency parse of its words: the only word whose
    governor is no word of the phrase. UNCLEAR where there are several such words."""
    heads = np.full(len(tree), UNCLEAR, np.int64)
    for node, (start, end) in enumerate(tree.spans.tolist()):
        governors = parse.parents[start:end]
        outside = np.flatnonzero((governors < start) | (governors >= end))
        if len(outside) == 1:
            heads[node] = start + outside[0]
    return heads


def function_heads(tree: Tree, parse: Tree) -> IntArray:
    """`parsed_heads`, but the first word of `FUNCTION_WORDS` in the phrase that hangs on the head
    and stands before it is the head in its place.

    So prepositions, auxiliaries, copulas and conjunctions are heads, as by the rules of Collins
    (2003), which need labels of phrases that a sentiment treebank does not have.
    """
    heads = parsed_heads(tree, parse)
    relations = [str(label).partition(":")[0] for label in parse.labels]
    for node, (start, head) in enumerate(
        zip(tree.spans[:, 0].tolist(), heads.tolist(), strict=True)
    ):
        for word in range(start, head):
            if parse.parents[word] == head and relations[word] in FUNCTION_WORDS:
                heads[node] = word
                break
    return heads
