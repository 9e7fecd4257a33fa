"""Training examples: every tree as index arrays, made once, and minibatches as their concatenation."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from thinstack.core import Tree, transitions
from thinstack.data.distances import DistanceTable
from thinstack.data.tree_sources import tree_maker
from thinstack.data.vocabulary import WordVocabulary
from thinstack.data.wordpiece import WordpieceVocabulary
from thinstack.errors import TreeError
from thinstack.metrics import labels_by_span
from thinstack.training.oracle import right_transitions

__all__ = ["Batch", "Example", "examples_of", "join"]

AnyVocabulary = WordVocabulary | WordpieceVocabulary


@dataclass(frozen=True, slots=True)
class Example:
    """One sentence: the embedding's index inputs, and for each tree source its transitions and node labels (-1 = none)."""

    inputs: dict[str, NDArray[np.int64]]
    trees: dict[str, tuple[NDArray[np.int64], NDArray[np.int64]]]

    @property
    def words(self) -> int:
        """The number of its words."""
        return (len(self.trees["gold"][0]) + 1) // 2

    def over(self, steps: NDArray[np.integer]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Transitions and node labels of another tree, which keeps the labels of spans that the gold tree has."""
        gold, labels = self.trees["gold"]
        return steps.astype(np.int64), labels_by_span(transitions.spans_of(gold), labels, transitions.spans_of(steps))


@dataclass(frozen=True, slots=True)
class Batch:
    """A minibatch: `inputs` as the model takes them, labels of nodes (N,) or of roots (B,), the right transitions (N,), -1
    where that is not known, and the number B of its trees."""

    inputs: dict[str, Tensor]
    labels: Tensor
    right: Tensor
    size: int


def examples_of(
    treebank: Sequence[tuple[Tree, NDArray[np.int64]]],
    vocabulary: AnyVocabulary,
    sources: Sequence[str] = (),
    distances: DistanceTable | None = None,
) -> list[Example]:
    """Index binary trees and their node labels (N,); a further source keeps the labels of spans that the gold tree has. Trees
    of "self" are left to the model.

    `distances` is the table that the source "distances" needs.

    Raises TreeError, naming the tree (from 0), for one that is not binary.
    """
    makers = {source: tree_maker(source, distances) for source in sources if source != "self"}
    found = []
    for number, (tree, gold) in enumerate(treebank):
        try:
            steps = tree.transitions.astype(np.int64)
        except TreeError as error:
            raise TreeError(f"tree {number}: {error}") from None
        inputs = _word_inputs(vocabulary, tree.words)
        example = Example(inputs, {"gold": (steps, gold)})
        for source, make_tree in makers.items():
            example.trees[source] = example.over(make_tree(tree.words))
        found.append(example)
    return found


def join(examples: Sequence[Example], sources: Sequence[str], *, roots_only: bool = False, parses: bool = False) -> Batch:
    """Concatenate examples into a minibatch, the i-th over the tree of `sources[i]`; labels of all nodes, or of the roots.

    `parses`: whether it is for a model that parses, which takes lengths and is told the right transitions.
    """
    chosen = [example.trees[source] for example, source in zip(examples, sources, strict=True)]
    arrays = {name: np.concatenate([example.inputs[name] for example in examples]) for name in examples[0].inputs}
    arrays["transitions"] = np.concatenate([steps for steps, _ in chosen])
    labels = np.concatenate([labels[-1:] if roots_only else labels for _, labels in chosen])
    inputs = {name: torch.from_numpy(array) for name, array in arrays.items()}
    right = [np.full(len(steps), -1) for steps, _ in chosen]
    if parses:
        inputs["lengths"] = torch.tensor([example.words for example in examples])
        gold = [example.trees["gold"][0] for example in examples]
        right = [steps if steps is own else right_transitions(own, steps) for own, (steps, _) in zip(gold, chosen, strict=True)]
    return Batch(inputs, torch.from_numpy(labels), torch.from_numpy(np.concatenate(right)), len(examples))


def _word_inputs(vocabulary: AnyVocabulary, words: Sequence[str]) -> dict[str, NDArray[np.int64]]:
    """Index inputs of the embedding, by name."""
    ids = vocabulary.ids(words)
    if isinstance(ids, tuple):
        return {"piece_ids": np.asarray(ids[0], np.int64), "pieces_per_word": np.asarray(ids[1], np.int64)}
    return {"token_ids": np.asarray(ids, np.int64)}
