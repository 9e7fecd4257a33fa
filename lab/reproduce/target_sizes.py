"""How long and how deep the phrases, sentences and pairs are that a model is measured on."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thinstack.core import Tree
from thinstack.core.transitions import spans_of
from thinstack.core.tree import depths
from thinstack.data.trees.phrases import phrases_of, prefixes_of
from thinstack.data.trees.treebank import Labelled
from thinstack.training.examples.example import Example
from thinstack.training.examples.labelled import LabelledForest
from thinstack.training.tasks.pairs import Pair


class TargetSizes(NamedTuple):
    """The sizes of K labelled targets.

    Attributes:
        words: (K,) the number of words; for a pair, the mean of both sentences.
        depth: (K,) the number of edges to the deepest leaf below, in the data's own tree, -1 if
            that has no such phrase; for a pair, the mean of both trees.
    """

    words: NDArray[np.floating]
    depth: NDArray[np.floating]


def target_sizes(
    items: Sequence[Labelled | Pair], examples: Sequence[Example], source: str, reads: str
) -> TargetSizes:
    """The sizes of the labelled targets of examples over the trees of `source`, in order.

    `items`: what the examples were made from. `reads`: what the task head reads.
    """
    parts = []
    for item, example in zip(items, examples, strict=True):
        one = example.trees[source]
        if isinstance(item, Pair):
            sizes: Any = np.mean(list(map(_whole, item.trees)), axis=0)[:, np.newaxis]
        elif not (len(one.forest.transitions) or len(one.forest.parents)):
            sizes = _of_chains(*item, reads)
        elif reads == "roots":
            sizes = [[value] for value in _whole(item[0])]
        else:
            sizes = _of_nodes(item[0], one, source)
        parts.append(np.array(sizes, np.float64)[:, one.targets >= 0])
    return TargetSizes(*np.concatenate(parts, axis=1))


def depths_below(tree: Tree) -> NDArray[np.int64]:
    """The number of edges from each node to the deepest leaf below it, (N,); 0 for a leaf. This is
    the depth of Zhu et al. (2015, figure 4)."""
    parents = tree.parents.tolist()
    below = [0] * len(parents)
    for node in np.argsort(-depths(tree.parents), kind="stable").tolist():  # children first
        parent = parents[node]
        if parent >= 0:
            below[parent] = max(below[parent], below[node] + 1)
    return np.array(below, np.int64)


def _whole(tree: Tree) -> tuple[int, int]:
    return len(tree.words), int(depths_below(tree)[tree.root])


def _of_nodes(tree: Tree, one: LabelledForest, source: str) -> tuple[Any, Any]:
    if source == "gold":
        return np.diff(tree.spans)[:, 0], depths_below(tree)
    spans = spans_of(one.forest.transitions)
    return np.diff(spans)[:, 0], _depths_of(spans, tree)


def _of_chains(tree: Tree, labels: NDArray[np.int64], reads: str) -> tuple[Any, Any]:
    """The sizes of the phrases that `labelled_chains` reads."""
    spans, classes = phrases_of(tree, labels)
    if reads == "nodes":
        positions, lengths, _ = prefixes_of(spans, classes)
        starts = np.repeat(positions[np.cumsum(lengths) - lengths], lengths)
        spans = np.stack([starts, positions + 1], axis=1)
    return np.diff(spans)[:, 0], _depths_of(spans, tree)


def _depths_of(spans: NDArray[np.int64], tree: Tree) -> list[int]:
    depth_of = dict(zip(map(tuple, tree.spans.tolist()), depths_below(tree).tolist(), strict=True))
    return [depth_of.get(tuple(span), -1) for span in spans.tolist()]
