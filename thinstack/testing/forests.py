"""Forests with random inputs, and the outputs that an executor or the recursion gives for them: one
node at a time, from the equations of a cell. Contract checks of a cell over trees compare the two,
and a tree alone and in a batch."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from thinstack.core.cell import Cell, Links
from thinstack.core.depth_ordered import DepthOrdered, TopDown
from thinstack.core.forest import Forest, join
from thinstack.core.schedule import Schedule, schedule_parents
from thinstack.testing.method import Draw, gradients_of, require_alike, weighted_sum

if TYPE_CHECKING:
    from thinstack.testing.subject import CellSubject

# Numbers of nodes of trees.
MIXED = [(), (1,), (1, 1, 1), (1, 12, 2), (25, 1, 9, 4), (3, 3, 40)]


def encode(
    cell: Cell, forest: Forest, leaf_inputs: Tensor, inner_inputs: Tensor | None = None
) -> list[list[Tensor]]:
    """State of each node of the forest, a list of parts (1, width) a node, computed from the
    equations of `cell.compose`.

    Args:
        leaf_inputs: (L, X), leaves in node order.
        inner_inputs: (I, inner_size), inner nodes in node order; not needed when `inner_size` is 0.
    """
    if inner_inputs is None:
        inner_inputs = leaf_inputs.new_zeros([len(forest.parents), 0])
    below, is_leaf = _children(forest), forest.leaves
    states: dict[int, list[Tensor]] = {}

    def visit(node: int) -> list[Tensor]:
        row = int((is_leaf[:node] == is_leaf[node]).sum())
        if is_leaf[node]:
            states[node] = cell.leaf(leaf_inputs[row : row + 1])
        else:
            children = [visit(child) for child in below[node]]
            slots, kinds = forest.slots[below[node]].tolist(), forest.kinds[below[node]].tolist()
            states[node] = compose_node(cell, inner_inputs[row : row + 1], children, slots, kinds)
        return states[node]

    for root in np.flatnonzero(forest.parents < 0):
        visit(int(root))
    return [states[node] for node in range(len(forest.parents))]


def encode_top_down(cell: Cell, forest: Forest, inputs: Tensor) -> list[list[Tensor]]:
    """State of each node of the forest from the roots down: a root is a leaf of the cell, any other
    node composes its parent.

    The kind of that one link says which child of its parent a node is, counted from 1. States are
    as `encode` gives them.

    Args:
        cell: of arity 1 or 0.
        inputs: (N, X) of all nodes, in node order.
    """
    below = _children(forest)
    states: dict[int, list[Tensor]] = {}

    def visit(node: int, state: list[Tensor]) -> None:
        states[node] = state
        for child in below[node]:
            x, kind = inputs[child : child + 1], 1 + int(forest.slots[child])
            visit(child, compose_node(cell, x, [state], [0], [kind]))

    for root in np.flatnonzero(forest.parents < 0):
        visit(int(root), cell.leaf(inputs[root : root + 1]))
    return [states[node] for node in range(len(forest.parents))]


def _children(forest: Forest) -> list[list[int]]:
    return [np.flatnonzero(forest.parents == node).tolist() for node in range(len(forest.parents))]


def compose_node(
    cell: Cell, inputs: Tensor, children: list[list[Tensor]], slots: list[int], kinds: list[int]
) -> list[Tensor]:
    """The state of one node: its inputs (1, inner_size), and of each child the state, slot and
    kind."""
    parts = range(len(cell.state_sizes))
    if cell.arity == 0:
        owner = torch.zeros(len(children), dtype=torch.long)
        joined = [torch.cat([child[k] for child in children]) for k in parts]
        return cell.compose(inputs, joined, Links(owner, torch.tensor(kinds)))
    kind = torch.zeros(1, cell.arity, dtype=torch.long)
    placed = [inputs.new_zeros(1, cell.arity, width) for width in cell.state_sizes]
    for child, slot, kind_of in zip(children, slots, kinds, strict=True):
        kind[0, slot] = kind_of
        for k in parts:
            placed[k][0, slot] = child[k][0]
    return cell.compose(inputs, placed, Links(kind[0, :0], kind))


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
    return [stacked[schedule.stacked], roots, words[schedule.stacked]]


def by_recursion(cell: Cell, batch: CellInputs) -> list[Tensor]:
    """The same by the recursion, one node at a time."""
    none = batch.leaves.new_zeros
    states = encode(cell, batch.forest, batch.leaves, batch.inner)
    outputs = torch.cat([none([0, cell.hidden_size]), *(cell.output(state) for state in states)])
    words = none([len(states), 0])
    if cell.word_part >= 0:
        width = cell.state_sizes[cell.word_part]
        words = torch.cat([none([0, width]), *(state[cell.word_part] for state in states)])
    return [outputs, outputs[torch.from_numpy(batch.forest.parents < 0)], words]


def mixed_forests(subject: "CellSubject") -> None:
    """The executor, depth by depth, agrees with the recursion, node by node, in outputs and in
    gradients, on forests of random trees, of single words, and of no trees."""
    cell = subject.random()
    run = DepthOrdered(cell)
    for sizes in MIXED:
        forest = subject.forest(cell, sizes, len(sizes))
        batch = batch_of(cell, forest)
        sources = [batch.leaves.requires_grad_(), batch.inner.requires_grad_(), *cell.parameters()]
        expected = by_recursion(cell, batch.copied())
        with torch.no_grad():
            results = by_depth(run, cell, batch.copied())
        require_alike(results, expected, f"outputs for trees of {sizes} nodes")
        results = by_depth(run, cell, batch.copied())
        of_results = gradients_of(weighted_sum(results[:2]), sources)
        of_expected = gradients_of(weighted_sum(expected[:2]), sources)
        require_alike(of_results, of_expected, f"gradients for trees of {sizes} nodes", 1e-8)


def top_down(subject: "CellSubject") -> None:
    """A cell of one child or any number that reads an input at every node also runs from the root
    down, where the executor agrees with the recursion. A node's one child is then its parent, the
    link's kind is its slot counted from 1, and the root is a leaf."""
    cell = subject.random()
    if cell.arity > 1 or cell.inner_size != cell.input_size:
        return
    for seed, sizes in enumerate([(1,), (12, 1, 7)]):
        forest = random_forest(sizes, arity=2, kinds=1, seed=seed)
        forest = forest._replace(slots=forest.slots % subject.sizes["kinds"])
        inputs = Draw(seed)(sum(sizes), cell.input_size)
        schedule = schedule_of(forest, 0)
        rows = torch.cat([schedule.leaves, schedule.inner])
        results = TopDown(cell)(inputs[rows], schedule)[schedule.stacked]
        states = encode_top_down(cell, forest, inputs)
        expected = torch.cat([cell.output(state) for state in states])
        require_alike([results], [expected], f"trees of {sizes} nodes from the root down")


def neighbours(subject: "CellSubject") -> None:
    """A tree has the same outputs alone and in any batch. `examples` sets the number of random
    batches."""
    cell = subject.random()
    run, generator = DepthOrdered(cell), np.random.default_rng(0)
    for seed in range(subject.examples):
        sizes = generator.integers(1, 8, generator.integers(2, 6)).tolist()
        batch = batch_of(cell, subject.forest(cell, sizes, seed), seed)
        stop = sum(sizes[: seed % len(sizes) + 1])
        tree = slice(stop - sizes[seed % len(sizes)], stop)
        with torch.no_grad():
            together = by_depth(run, cell, batch.copied())[0][tree]
            alone = by_depth(run, cell, batch.tree(tree.start, tree.stop))[0]
        require_alike([alone], [together], f"outputs of nodes {tree} of trees of {sizes} nodes")


def inputs_are_read(subject: "CellSubject") -> None:
    """Each column of the inputs of leaves and inner nodes changes the state, and so does a child in
    each slot. A cell without inputs at inner nodes has no `inner_size` in __init__."""
    methods = subject.methods(subject.random(), 50)
    for name in ("leaf", "compose"):
        values, leaves = methods[name].with_gradients()
        inputs, *children = gradients_of(weighted_sum(methods[name](values)), leaves)
        slots = [torch.cat(children, -1).any(0).any(-1)] if children else []
        if not all(bool(places.all()) for places in (inputs.any(0), *slots)):
            raise AssertionError(f"{name} must read all columns of its inputs and all children.")


def bfloat16(subject: "CellSubject") -> None:
    """A cell works under autocast in bfloat16. If a cell does not, set `bf16 = False`."""
    cell = subject.random(torch.float32)
    if not cell.bf16:
        return
    for name, method in subject.methods(cell, 6, Draw(dtype=torch.float32)).items():
        with torch.autocast("cpu", torch.bfloat16):
            results = [part.float() for part in method()]
        require_alike(results, method(), f"{name} with and without autocast", 0.1)
