"""How a model is told the trees of an example, and what it is to say of them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thinstack.config import ModelConfig
from thinstack.core import Forest, Tree
from thinstack.core.transitions import spans_of
from thinstack.data.phrases import depths_below, phrases_of, prefixes_of
from thinstack.errors import TreeError
from thinstack.measure.accuracy import labels_by_span

__all__ = ["Given", "given_chains", "given_pair", "given_tree", "structure_of"]

IntArray = NDArray[np.int64]


class Given(NamedTuple):
    """Trees and targets of an example.

    Attributes:
        structure: the model's inputs that are not words, by name.
        targets: (t,) what the task head's loss takes: classes of nodes or of sentences (-1 = none),
            or that of a pair.
        whole: which of them is that of the whole sentence or pair.
        words: (t,) how many words each is about; of a pair, the mean of both sentences.
        depths: (t,) edges to the deepest leaf below; of a pair, the mean of both trees.
    """

    structure: dict[str, IntArray]
    targets: NDArray[Any]
    whole: int
    words: NDArray[np.floating]
    depths: NDArray[np.floating]

    def over(self, steps: NDArray[np.integer]) -> "Given":
        """The same over another binary tree of the sentence: labels of the phrases that both have,
        or of the sentence.

        `steps` (2n - 1,) are its transitions; of a pair, those of both trees one after the other.
        """
        structure = {"transitions": steps.astype(np.int64)}
        gold = self.structure["transitions"]
        if len(self.targets) < len(gold):
            return self._replace(structure=structure)
        spans, wanted = spans_of(gold), spans_of(steps)
        targets = labels_by_span(spans, self.targets, wanted)
        depths = labels_by_span(spans, self.depths.astype(np.int64), wanted)
        words = (wanted[:, 1] - wanted[:, 0]).astype(np.float64)
        return Given(structure, targets, len(steps) - 1, words, depths.astype(np.float64))


def structure_of(trees: Sequence[Tree], config: ModelConfig) -> dict[str, IntArray]:
    """What a model of `config.trees` is told of trees, by the names of its inputs.

    Raises TreeError for trees that are not binary, or lack words at inner nodes, where the model's
    are binary or dependency.
    """
    if config.trees == "binary":
        return {
            "transitions": np.concatenate([tree.transitions for tree in trees]).astype(np.int64)
        }
    if config.trees == "sequence":
        return {"lengths": np.array([len(tree.words) for tree in trees], np.int64)}
    if config.trees == "dependency" and any(None in tree.tokens for tree in trees):
        raise TreeError(
            "has nodes without a word, which dependency trees do not; name a file of dependency "
            "trees, such as one in CoNLL-U"
        )
    forest = Forest.of(trees, config.relations)
    return {"parents": forest.parents, "slots": forest.slots, "kinds": forest.kinds}


def given_tree(tree: Tree, labels: IntArray, config: ModelConfig, reads: str) -> Given:
    """A sentence with its tree and the labels (N,) of its nodes, for a task head that reads nodes
    or roots."""
    spans, depths = tree.spans, depths_below(tree)
    words = (spans[:, 1] - spans[:, 0]).astype(np.float64)
    root = int(np.flatnonzero(tree.parents < 0)[0])
    if reads == "nodes":
        return Given(structure_of([tree], config), labels, root, words, depths.astype(np.float64))
    kept = slice(root, root + 1)
    return Given(
        structure_of([tree], config), labels[kept], 0, words[kept], depths[kept].astype(np.float64)
    )


def given_chains(tree: Tree, labels: IntArray, reads: str) -> tuple[IntArray, Given]:
    """The labelled phrases of a sentence as chains, each read by itself (Tai et al. 2015, 5.1):
    words and all else.

    A head that reads roots is given each phrase; one that reads nodes, each word that phrases start
    with and what follows up to the end of the longest, for the state of an LSTM after a word is
    that of the phrase that ends there.
    """
    spans, known = phrases_of(tree, labels)
    depth_of = dict(zip(map(tuple, tree.spans.tolist()), depths_below(tree).tolist(), strict=True))
    if reads == "nodes":
        positions, lengths, targets = prefixes_of(spans, known)
        starts = np.repeat(positions[np.cumsum(lengths) - lengths], lengths)
        ends = positions + 1
    else:
        lengths, targets = spans[:, 1] - spans[:, 0], known
        positions = np.concatenate([np.arange(start, end) for start, end in spans.tolist()])
        starts, ends = spans[:, 0], spans[:, 1]
    depths = [depth_of.get(span, -1) for span in zip(starts.tolist(), ends.tolist(), strict=True)]
    given = Given(
        {"lengths": lengths},
        targets,
        len(targets) - 1,
        (ends - starts) * 1.0,
        np.array(depths, np.float64),
    )
    return positions, given


def given_pair(trees: tuple[Tree, Tree], target: float | int, config: ModelConfig) -> Given:
    """The two sentences of a pair, and their rating or class."""
    words = np.mean([len(tree.words) for tree in trees])
    depths = np.mean([depths_below(tree).max() for tree in trees])
    kind = np.float32 if isinstance(target, float) else np.int64
    return Given(
        structure_of(trees, config),
        np.array([target], kind),
        0,
        np.array([words]),
        np.array([depths]),
    )
