"""The trees of sentences: built from their words, or passed by the user if the model allows it, or
changed so that spans become phrases."""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from thinstack.core import Tree, transitions
from thinstack.core.config import ModelConfig, TreeSource
from thinstack.core.forest import EMPTY
from thinstack.core.transitions import REDUCE
from thinstack.errors import InputError, TreeError, shown

_READ_BY = "convert it with thinstack.from_brackets or thinstack.from_nltk"

# 2**32 divided by the golden ratio: its multiples are evenly spread modulo 2**32.
_SCRAMBLE: Final = 0x9E3779B9

Trees = TreeSource | Sequence[NDArray[np.integer]]
"""The source of the trees of sentences, or the transitions (2n-1,) of each, 0 SHIFT and 1
REDUCE."""

TreeMaker = Callable[[Sequence[str]], NDArray[np.int8]]
"""A function from the n >= 1 words of a sentence to the transitions (2n-1,) of its tree."""

SHAPES = {"balanced": transitions.balanced, "left": transitions.left, "right": transitions.right}


def tree_maker(source: str, parser: TreeMaker | None = None) -> TreeMaker:
    """Return the function that builds the trees of `source`: "balanced", "left", "right", or "self"
    for `parser`.

    Raises InputError for any other source, and for "self" without a parser.
    """
    if not isinstance(source, str):
        raise InputError(f"expected a tree source name, found {shown(source)}")
    if source in SHAPES:
        shape = SHAPES[source]
        return lambda words: shape(len(words))
    if source == "self" and parser is not None:
        return parser
    names = ", ".join([*SHAPES, *(["self"] if parser else [])])
    problem = "no parser for the" if source == "self" else "unknown"
    raise InputError(f"{problem} tree source {source!r}; use one of {names}")


class GivenTrees:
    """The trees that a model reads.

    `parser`, an argument of methods, parses a sentence with the model; only parsing models use it.
    """

    def __init__(self, config: ModelConfig):
        self._config, self._has_trees = config, config.trees != "sequence"

    def maker(self, source: TreeSource, parser: TreeMaker) -> TreeMaker:
        """Return the function that builds the trees of a source; empty ones for a model of plain
        sentences. Raises InputError for a source that the model does not support."""
        if not self._reads(source):
            return lambda words: np.zeros(0, np.int8)
        name = self._config.tree_source if source == "auto" else source
        return tree_maker(name, parser if self._config.parses else None)

    def of_sentences(
        self, words: Sequence[Sequence[str]], trees: Trees, parser: TreeMaker
    ) -> Sequence[NDArray[np.integer]] | None:
        """Return the transitions of each sentence; None if the model parses, or has no trees.
        Raises InputError for trees or a source that do not fit the model or the sentences."""
        if not self._reads(trees):
            return None
        if not isinstance(trees, str):
            if not hasattr(trees, "__len__"):
                raise InputError(f"expected trees or a tree source, found {shown(trees)}")
            if len(words) != len(trees):
                raise InputError(
                    f"{len(words)} sentences need {len(words)} trees, found {len(trees)}"
                )
            return list(trees)
        if self._config.parses and "self" in (trees, trees == "auto" and self._config.tree_source):
            return None
        return list(map(self.maker(trees, parser), words))

    def of_trees(self, trees: Sequence[Tree]) -> Trees:
        """Convert trees to an argument of `of_sentences`. Raises TreeError, with the index (from
        0), for a tree that is not binary, unless the model reads plain sentences. Raises InputError
        for an object that does not iterate over trees."""
        steps = []
        for position, tree in enumerate(trees):
            try:
                if not isinstance(tree, Tree):
                    raise TreeError(f"expected a Tree, found {shown(tree)}; {_READ_BY}")
                steps.append(tree.transitions if self._has_trees else EMPTY)
            except TreeError as error:
                raise TreeError(f"tree {position}: {error}") from None
        return steps if self._has_trees else "auto"

    def _reads(self, trees: Trees) -> bool:
        """Return whether the model reads trees. Raises InputError for trees that it cannot read."""
        if not self._has_trees and not (isinstance(trees, str) and trees == "auto"):
            source = repr(trees) if isinstance(trees, str) else "transitions"
            problem = f"this model reads plain sentences, not trees; found {source}"
            raise InputError(f"{problem}: omit the tree source, or choose auto")
        return self._has_trees


def with_phrases(
    transitions: NDArray[np.integer], phrases: Iterable[tuple[int, int]]
) -> NDArray[np.int8]:
    """Change the tree of `transitions` (2n - 1,) so that the words [start, end) of each of
    `phrases` form one phrase. Phrases must not cross.

    The distance of each gap between words is the height of the node that splits there (Shen et al.
    2018), and every span is split at its greatest distance. The gaps inside a phrase are moved
    below all others, in the same order, so that only nodes that cross the phrase change.
    """
    heights = _heights(transitions)
    if not heights.size:
        return transitions.astype(np.int8)
    deep = heights.max() + 1
    for start, end in phrases:
        heights[start : end - 1] -= deep
    return transitions_of(heights.tolist())


def _heights(transitions: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return the height (n - 1,) of the node that splits at each gap between n words."""
    heights = np.zeros(len(transitions) // 2, np.int64)
    stack: list[tuple[int, int]] = []  # the last word and the height of each node
    words = 0
    for step in transitions.tolist():
        if step == REDUCE:
            (_, right), (gap, left) = stack.pop(), stack.pop()
            height = 1 + max(left, right)
            heights[gap] = height
            stack.append((words - 1, height))
        else:
            stack.append((words, 0))
            words += 1
    return heights


def transitions_of(distances: Sequence[float]) -> NDArray[np.int8]:
    """Return the transitions (2n-1,) of the binary tree over n words that splits every span at its
    greatest distance. `distances`: one for each of the n - 1 gaps.

    Ties are broken by a scrambled position, so that repeated words form a tree of logarithmic depth
    (a treap) instead of a chain.
    """
    steps = [0]
    open_gaps: list[tuple[float, int]] = []
    for position, distance in enumerate(distances, start=1):
        gap = (distance, position * _SCRAMBLE & 0xFFFFFFFF)
        while open_gaps and open_gaps[-1] < gap:
            open_gaps.pop()
            steps.append(1)
        open_gaps.append(gap)
        steps.append(0)
    steps.extend([1] * len(open_gaps))
    return np.array(steps, np.int8)
