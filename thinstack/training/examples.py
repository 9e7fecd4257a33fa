"""Training examples: sentences as index arrays, made once, and minibatches as their
concatenation."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from thinstack.config import ModelConfig
from thinstack.core import Tree
from thinstack.data.distances import DistanceTable
from thinstack.data.pairs import Pair
from thinstack.data.tree_sources import tree_maker
from thinstack.data.treebank import Labelled
from thinstack.data.vocabulary import WordVocabulary
from thinstack.data.wordpiece import WordpieceVocabulary
from thinstack.errors import ConfigError, TreeError
from thinstack.training.given import Given, given_chains, given_pair, given_tree
from thinstack.training.oracle import right_transitions

__all__ = ["Batch", "Example", "examples_of", "join", "pair_examples_of", "sentences_of"]

AnyVocabulary = WordVocabulary | WordpieceVocabulary
IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Example:
    """What is seen together: a sentence, a pair, or the phrases of a sentence as sentences of their
    own.

    Attributes:
        inputs: the embedding's index inputs, by name.
        lengths: (S,) words of each sentence.
        trees: the trees and targets of each tree source; "gold" is the data's own.
    """

    inputs: dict[str, IntArray]
    lengths: IntArray
    trees: dict[str, Given] = field(default_factory=dict)

    @property
    def words(self) -> int:
        """The number of its words."""
        return int(self.lengths.sum())


@dataclass(frozen=True, slots=True)
class Batch:
    """A minibatch: `inputs` as the model takes them, targets as its head's loss does, the right
    transitions (N,), -1 where that is not known, and the number of its examples."""

    inputs: dict[str, Tensor]
    targets: Tensor
    right: Tensor
    size: int


def examples_of(
    treebank: Sequence[Labelled],
    vocabulary: AnyVocabulary,
    config: ModelConfig,
    reads: str,
    sources: Sequence[str] = (),
    distances: DistanceTable | None = None,
) -> list[Example]:
    """Index trees and their node labels (N,), for a task head that reads nodes or roots; a further
    source of binary trees keeps the labels of spans that the gold tree has. Trees of "self" are
    left to the model.

    `distances` is the table that the source "distances" needs.

    Raises TreeError, naming the tree (from 0), for one that is not binary where the model's are.
    """
    makers = {
        source: tree_maker(source, distances)
        for source in sources
        if source not in ("gold", "self")
    }
    found = []
    for number, (tree, labels) in enumerate(treebank):
        try:
            example = _example(tree, labels, vocabulary, config, reads)
        except TreeError as error:
            raise TreeError(f"tree {number}: {error}") from None
        for source, make_tree in makers.items():
            example.trees[source] = example.trees["gold"].over(make_tree(tree.words))
        found.append(example)
    return found


def pair_examples_of(
    pairs: Sequence[Pair], vocabulary: AnyVocabulary, config: ModelConfig
) -> list[Example]:
    """Index pairs of sentences. Their classes are those of the model; ratings go from 1 to the
    number of its classes.

    Raises ConfigError for a class that the model does not have or a rating outside, TreeError for
    trees it does not take.
    """
    found = []
    for pair in pairs:
        first, second = (tree.words for tree in pair.trees)
        given = given_pair(pair.trees, _target(pair, config.labels), config)
        lengths = np.array([len(first), len(second)])
        inputs = _word_inputs(vocabulary, (*first, *second))
        found.append(Example(inputs, lengths, {"gold": given}))
    return found


def join(examples: Sequence[Example], sources: Sequence[str], *, parses: bool = False) -> Batch:
    """Concatenate examples into a minibatch, the i-th over the trees of `sources[i]`.

    `parses`: whether it is for a model that parses, which takes lengths and is told the right
    transitions.
    """
    chosen = [example.trees[source] for example, source in zip(examples, sources, strict=True)]
    arrays = {
        name: np.concatenate([example.inputs[name] for example in examples])
        for name in examples[0].inputs
    }
    for name in chosen[0].structure:
        arrays[name] = np.concatenate([given.structure[name] for given in chosen])
    if "parents" in arrays:
        sizes = [len(given.structure["parents"]) for given in chosen]
        offsets = np.repeat(np.cumsum(sizes) - sizes, sizes)
        arrays["parents"] = np.where(arrays["parents"] < 0, -1, arrays["parents"] + offsets)
    right = np.full(0, -1)
    if parses:
        arrays["lengths"] = np.concatenate([example.lengths for example in examples])
        right = np.concatenate(
            [_right(example, given) for example, given in zip(examples, chosen, strict=True)]
        )
    targets = np.concatenate([given.targets for given in chosen])
    inputs = {name: torch.from_numpy(array) for name, array in arrays.items()}
    return Batch(inputs, torch.from_numpy(targets), torch.from_numpy(right), len(examples))


def sentences_of(example: Example, steps: IntArray) -> list[IntArray]:
    """Transitions of an example, (2L - S,), as those of its sentences."""
    return np.split(steps, np.cumsum(2 * example.lengths - 1)[:-1])


def _right(example: Example, given: Given) -> IntArray:
    """The right transitions along the trees at hand."""
    gold, own = example.trees["gold"].structure["transitions"], given.structure["transitions"]
    if own is gold:
        return gold
    pairs = zip(sentences_of(example, gold), sentences_of(example, own), strict=True)
    return np.concatenate([right_transitions(known, taken) for known, taken in pairs])


def _example(
    tree: Tree, labels: IntArray, vocabulary: AnyVocabulary, config: ModelConfig, reads: str
) -> Example:
    words: Sequence[str] = tree.words
    if config.trees == "sequence":
        positions, given = given_chains(tree, labels, reads)
        inputs = _word_inputs(vocabulary, [words[position] for position in positions.tolist()])
        return Example(inputs, given.structure["lengths"], {"gold": given})
    given = given_tree(tree, labels, config, reads)
    return Example(_word_inputs(vocabulary, words), np.array([len(words)]), {"gold": given})


def _target(pair: Pair, labels: Sequence[str]) -> float | int:
    if isinstance(pair.target, str):
        if pair.target not in labels:
            raise ConfigError(
                f"pair {pair.id}: expected one of model.labels ({', '.join(labels)}), found "
                f"{pair.target!r}"
            )
        return labels.index(pair.target)
    if not 1 <= pair.target <= len(labels):
        raise ConfigError(
            f"pair {pair.id}: expected a rating from 1 to {len(labels)} (model.labels), found "
            f"{pair.target}"
        )
    return float(pair.target)


def _word_inputs(vocabulary: AnyVocabulary, words: Sequence[str]) -> dict[str, Any]:
    """Index inputs of the embedding, by name."""
    ids = vocabulary.ids(words)
    if isinstance(ids, tuple):
        return {
            "piece_ids": np.asarray(ids[0], np.int64),
            "pieces_per_word": np.asarray(ids[1], np.int64),
        }
    return {"token_ids": np.asarray(ids, np.int64)}
