"""The trees of sentences: built from their words, or passed by the user if the model allows it."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from thinstack.core import Tree, transitions
from thinstack.core.config import ModelConfig, TreeSource
from thinstack.core.forest import EMPTY
from thinstack.data.tables.containers import check_container
from thinstack.errors import InputError, TreeError, shown

_READ_BY = "convert it with thinstack.from_brackets or thinstack.from_nltk"

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
        self._own, self._has_trees = config.tree_source, config.trees != "sequence"
        self._parses = config.parses

    def maker(self, source: TreeSource, parser: TreeMaker) -> TreeMaker:
        """Return the function that builds the trees of a source; empty ones for a model of plain
        sentences. Raises InputError for a source that the model does not support."""
        if not self._reads(source):
            return lambda words: np.zeros(0, np.int8)
        name = self._own if source == "auto" else source
        return tree_maker(name, parser if self._parses else None)

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
        if self._parses and "self" in (trees, trees == "auto" and self._own):
            return None
        return list(map(self.maker(trees, parser), words))

    def of_trees(self, trees: Sequence[Tree]) -> Trees:
        """Convert trees to an argument of `of_sentences`. Raises TreeError, with the index (from
        0), for a tree that is not binary, unless the model reads plain sentences. Raises InputError
        for an object that does not iterate over trees."""
        check_container(trees, "trees")
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
