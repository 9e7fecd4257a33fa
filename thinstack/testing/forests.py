"""Forests with random inputs, and the outputs that an executor or the recursion gives for them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from thinstack.core import Forest
from thinstack.core.cell import Cell
from thinstack.core.depth_ordered import in_node_order
from thinstack.core.forest import join
from thinstack.core.schedule import Schedule, schedule_parents
from thinstack.testing import recursion


class CellInputs(NamedTuple):
    """A forest with inputs of its leaves (L, X) and of its inner nodes (I, inner_size), in node
    order."""

    forest: Forest
    leaves: Tensor
    inner: Tensor

    def copied(self) -> "CellInputs":
        """With inputs of its own, through which gradients flow back."""
        return CellInputs(self.forest, self.leaves.clone(), self.inner.clone())

    def tree(self, start: int, stop: int) -> "CellInputs":
        """One tree, whose nodes are those from `start` to before `stop`, by itself."""
        here, leaf = slice(start, stop), self.forest.leaves
        parents = np.where(self.forest.parents[here] < 0, -1, self.forest.parents[here] - start)
        forest = Forest(
            parents, self.forest.slots[here], self.forest.kinds[here], np.array([stop - start])
        )
        leaves, inner = (slice(int(of[:start].sum()), int(of[:stop].sum())) for of in (leaf, ~leaf))
        return CellInputs(forest, self.leaves[leaves].clone(), self.inner[inner].clone())


def random_forest(sizes: Sequence[int], *, arity: int, kinds: int, seed: int) -> Forest:
    """Random trees of so many nodes each, their nodes in random order; of fixed arity with gaps
    where children are missing."""
    generator = np.random.default_rng(seed)

    def tree(size: int) -> Forest:
        parents, slots = np.full(size, -1), np.zeros(size, np.int64)
        place = generator.permutation(size)
        free = {0: generator.permutation(arity or size).tolist()}
        for node in range(1, size):
            above = int(generator.choice([i for i in free if free[i]]))
            parents[place[node]], slots[place[node]] = place[above], free[above].pop()
            free[node] = generator.permutation(arity or size).tolist()
        types = np.where(parents < 0, 1, generator.integers(1, kinds + 1, size))
        return Forest(parents, slots, types, np.array([size]))

    return join([tree(size) for size in sizes])


def batch_of(cell: Cell, forest: Forest, seed: int = 1) -> CellInputs:
    """A forest with random inputs, float64."""
    generator = torch.Generator().manual_seed(seed)
    leaves = int(forest.leaves.sum())
    sizes = (leaves, cell.input_size), (len(forest.parents) - leaves, cell.inner_size)
    return CellInputs(
        forest, *(torch.randn(size, generator=generator, dtype=torch.float64) for size in sizes)
    )


def schedule_of(forest: Forest, arity: int) -> Schedule:
    """The forest's schedule."""
    parents, slots, kinds = map(torch.from_numpy, (forest.parents, forest.slots, forest.kinds))
    return schedule_parents(parents, slots, kinds, arity)


def by_depth(run: Any, cell: Cell, batch: CellInputs) -> list[Tensor]:
    """Outputs (N, H), root outputs (B, H) and head words (N, W) that the depth-ordered executor
    `run` gives, in node order."""
    schedule = schedule_of(batch.forest, cell.arity)
    ranks = torch.argsort(torch.argsort(schedule.inner))
    stacked, roots, words = run(batch.leaves[schedule.leaf_words], batch.inner[ranks], schedule)
    return [in_node_order(stacked, schedule), roots, in_node_order(words, schedule)]


def by_recursion(cell: Cell, batch: CellInputs) -> list[Tensor]:
    """The same by the recursion, one node at a time."""
    none = batch.leaves.new_zeros
    states = recursion.encode(cell, batch.forest, batch.leaves, batch.inner)
    outputs = torch.cat([none([0, cell.hidden_size]), *(cell.output(state) for state in states)])
    words = none([len(states), 0])
    if cell.word_part >= 0:
        width = cell.state_sizes[cell.word_part]
        words = torch.cat([none([0, width]), *(state[cell.word_part] for state in states)])
    return [outputs, outputs[torch.from_numpy(batch.forest.parents < 0)], words]
