"""The trees of a training example, with their targets."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thinstack.core import Forest, Tree
from thinstack.core.config import ModelConfig
from thinstack.core.transitions import breaks_of, spans_of
from thinstack.data.trees.phrases import phrases_of, prefixes_of
from thinstack.data.words.vocabulary import Vocabulary
from thinstack.errors import TreeError
from thinstack.evaluate.accuracy import labels_by_span

IntArray = NDArray[np.int64]


class LabelledForest(NamedTuple):
    """The trees and targets of an example.

    Attributes:
        forest: the words and their trees.
        targets: (t,) the targets of the task head: classes of nodes or sentences (-1 if unknown),
            the class of a text, or the class or rating of a pair.
        whole: the index of the target for the whole sentence, text or pair.
        soft: (t, C) the weight of each class in the loss of a target, 0 if nothing is known. In
            training, they replace `targets`.
    """

    forest: Forest
    targets: NDArray[Any]
    whole: int
    soft: NDArray[np.float16] | None = None

    def as_text(self, sentences: Sequence[int]) -> "LabelledForest":
        """Return the tree as that of a text of sentences with these word counts, which parsers and
        leaf embeddings read separately. Raises TreeError unless the tree has a node for each."""
        lengths = np.array(sentences)
        breaks = breaks_of(self.forest.transitions, lengths)
        return self._replace(forest=self.forest._replace(lengths=lengths, breaks=breaks))

    def over(self, steps: NDArray[np.integer]) -> "LabelledForest":
        """Return the same words over other binary trees, with the transitions (N,) of one tree
        after the other.

        Phrases that are also in the old trees keep their labels, as do whole sentences and pairs.
        """
        gold = self.forest.transitions
        forest = self.forest._replace(transitions=steps.astype(gold.dtype))
        if len(self.targets) < len(gold):
            return self._replace(forest=forest)
        nodes = labels_by_span(spans_of(gold), np.arange(len(gold)), spans_of(steps))
        shared = nodes >= 0
        targets = np.where(shared, self.targets[nodes], -1)
        soft = None if self.soft is None else self.soft[nodes] * shared[:, np.newaxis]
        return LabelledForest(forest, targets, len(steps) - 1, soft)


def labelled_tree(
    tree: Tree, labels: IntArray, vocabulary: Vocabulary, config: ModelConfig, reads: str
) -> LabelledForest:
    """Return a sentence with its tree and the labels (N,) of its nodes, or the label of its root
    for a task head that `reads` "roots"."""
    forest = _forest([tree], vocabulary, config)
    if reads == "nodes":
        return LabelledForest(forest, labels, tree.root)
    return LabelledForest(forest, labels[[tree.root]], 0)


def labelled_chains(
    tree: Tree, labels: IntArray, vocabulary: Vocabulary, reads: str
) -> LabelledForest:
    """Return the labeled phrases of a sentence as separate chains (Tai et al. 2015, 5.1).

    `labels`: (N,) the classes of the tree's nodes. A head that `reads` "roots" gets a chain for
    each phrase. For a head that reads "nodes", phrases that start with the same word share the
    longest one: the state after a word is that of the phrase that ends with it.
    """
    spans, classes = phrases_of(tree, labels)
    if reads == "nodes":
        positions, lengths, targets = prefixes_of(spans, classes)
    else:
        lengths, targets = spans[:, 1] - spans[:, 0], classes
        positions = np.concatenate([np.arange(start, end) for start, end in spans.tolist()])
    words = vocabulary.fields([tree.words[position] for position in positions.tolist()])
    forest = Forest(sizes=lengths, lengths=lengths, **words)
    return LabelledForest(forest, targets, len(targets) - 1)


def labelled_pair(
    trees: tuple[Tree, Tree], target: float | int, vocabulary: Vocabulary, config: ModelConfig
) -> LabelledForest:
    """Return the two sentences of a pair, with its rating (float) or class (int)."""
    targets = np.array([target], np.float32 if isinstance(target, float) else np.int64)
    return LabelledForest(_forest(trees, vocabulary, config), targets, 0)


def compact_forest(
    sentences: Sequence[Sequence[str]], trees: Sequence[NDArray[np.integer]], vocabulary: Vocabulary
) -> Forest:
    """Return sentences and the transitions of their trees in smaller integers than the batches of
    `join`, because a table may have a million texts."""
    fields: dict[str, Any] = {
        **vocabulary.fields([word for words in sentences for word in words]),
        "sizes": list(map(len, trees)),
        "lengths": list(map(len, sentences)),
    }
    small: dict[str, Any] = {name: np.array(one, np.int32) for name, one in fields.items()}
    return Forest(**small, transitions=np.concatenate(trees).astype(np.int8))


def _forest(trees: Sequence[Tree], vocabulary: Vocabulary, config: ModelConfig) -> Forest:
    """Return words and trees for a model of `config.trees`. Raises TreeError for other trees."""
    if config.trees == "dependency" and any(None in tree.tokens for tree in trees):
        raise TreeError(
            "expected a dependency tree, found nodes without a word; pass a file of dependency "
            "trees, such as CoNLL-U"
        )
    if config.trees == "binary":
        forest = Forest.of_binary(trees)
    elif config.trees == "sequence":
        lengths = np.array([len(tree.words) for tree in trees])
        forest = Forest(sizes=lengths, lengths=lengths)
    else:
        forest = Forest.of(trees, config.relations)
    return forest._replace(**vocabulary.fields([word for tree in trees for word in tree.words]))
