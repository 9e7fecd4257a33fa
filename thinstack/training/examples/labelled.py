"""Makes a `LabelledForest`: the trees of a training example, with the right answers."""

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
from thinstack.text.given_trees import TreeMaker

IntArray = NDArray[np.int64]


class LabelledForest(NamedTuple):
    """The trees and targets of an example.

    Attributes:
        forest: the words and their trees.
        targets: (t,) the targets of the task head's loss. They are classes of nodes or sentences
            (-1 unknown), the class of a text, or the class or rating of a pair.
        whole: the place of the target for the whole sentence, text or pair.
        soft: (t, C) with a teacher, how often each class counts in the loss of a target, 0 where
            nothing is known. In training they take the place of `targets`.
    """

    forest: Forest
    targets: NDArray[Any]
    whole: int
    soft: NDArray[np.float16] | None = None

    def as_text(self, sentences: Sequence[int]) -> "LabelledForest":
        """The same tree as that of a text of sentences of so many words, which a parser and a leaf
        embedding read by themselves. Raises TreeError unless the tree has a node for each."""
        lengths = np.array(sentences)
        breaks = breaks_of(self.forest.transitions, lengths)
        return self._replace(forest=self.forest._replace(lengths=lengths, breaks=breaks))

    def over(self, steps: NDArray[np.integer]) -> "LabelledForest":
        """The same words over other binary trees.

        Phrases that the old trees have too keep their labels. Labels of whole sentences and pairs
        always stay. `steps`: (N,) the transitions of the new trees, one tree after the other.
        """
        kind = self.forest.transitions.dtype
        forest = self.forest._replace(transitions=steps.astype(kind))
        gold = self.forest.transitions
        if len(self.targets) < len(gold):
            return self._replace(forest=forest)
        nodes = labels_by_span(spans_of(gold), np.arange(len(gold)), spans_of(steps))
        there = nodes >= 0
        targets = np.where(there, self.targets[nodes], -1)
        soft = None if self.soft is None else self.soft[nodes] * there[:, np.newaxis]
        return LabelledForest(forest, targets, len(steps) - 1, soft)


def labelled_tree(
    tree: Tree, labels: IntArray, vocabulary: Vocabulary, config: ModelConfig, reads: str
) -> LabelledForest:
    """A sentence with its tree and the labels (N,) of its nodes. For a task head that `reads`
    "roots", it has only the label of its root."""
    forest = _forest([tree], vocabulary, config)
    if reads == "nodes":
        return LabelledForest(forest, labels, tree.root)
    return LabelledForest(forest, labels[[tree.root]], 0)


def labelled_chains(
    tree: Tree, labels: IntArray, vocabulary: Vocabulary, reads: str
) -> LabelledForest:
    """The labelled phrases of a sentence as chains, each read by itself (Tai et al. 2015, 5.1).

    `labels`: (N,) the classes of the tree's nodes. A head that `reads` "roots" gets each phrase as
    a chain. For a head that reads "nodes", phrases that start with the same word share the longest
    one. There, the state after a word is the state of the phrase that ends with it.
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
    """The two sentences of a pair, with its rating (float) or class (int)."""
    targets = np.array([target], np.float32 if isinstance(target, float) else np.int64)
    return LabelledForest(_forest(trees, vocabulary, config), targets, 0)


def labelled_text(
    sentences: Sequence[Sequence[str]], target: Any, vocabulary: Vocabulary, maker: TreeMaker
) -> LabelledForest:
    """The sentences of a text, each over the tree that `maker` makes of its words, with the text's
    target: a class, or whatever the task head's loss takes a row of."""
    forest = compact_forest(sentences, [maker(words) for words in sentences], vocabulary)
    return LabelledForest(forest, np.array([target]), 0)


def compact_forest(
    sentences: Sequence[Sequence[str]], trees: Sequence[NDArray[np.integer]], vocabulary: Vocabulary
) -> Forest:
    """Sentences and the transitions of their trees, in arrays of fewer bits than those of the
    batches that `join` makes: tables may hold a million texts."""
    fields: dict[str, Any] = {
        **vocabulary.fields([word for words in sentences for word in words]),
        "sizes": np.array(list(map(len, trees))),
        "lengths": np.array(list(map(len, sentences))),
    }
    small: dict[str, Any] = {name: values.astype(np.int32) for name, values in fields.items()}
    return Forest(**small, transitions=np.concatenate(trees).astype(np.int8))


def _forest(trees: Sequence[Tree], vocabulary: Vocabulary, config: ModelConfig) -> Forest:
    """Words and trees as a model of `config.trees` reads them. Raises TreeError for others."""
    if config.trees == "dependency" and any(None in tree.tokens for tree in trees):
        raise TreeError(
            "expected a dependency tree, found nodes without a word; name a file of dependency "
            "trees, such as one in CoNLL-U"
        )
    if config.trees == "binary":
        forest = Forest.of_binary(trees)
    elif config.trees == "sequence":
        lengths = np.array([len(tree.words) for tree in trees])
        forest = Forest(sizes=lengths, lengths=lengths)
    else:
        forest = Forest.of(trees, config.relations)
    return forest._replace(**vocabulary.fields([word for tree in trees for word in tree.words]))
