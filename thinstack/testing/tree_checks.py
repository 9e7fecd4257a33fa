"""Contract checks of a cell over trees: executors against the recursion, a tree against its
neighbours, and what inputs and parameters do."""

import numpy as np
import torch

from thinstack.core.depth_ordered import DepthOrdered, TopDown
from thinstack.testing import forests
from thinstack.testing.forests import batch_of, by_depth, by_recursion, random_forest, schedule_of
from thinstack.testing.method import Draw, gradients_of, require_alike, weighted_sum
from thinstack.testing.subject import CellSubject

# Numbers of nodes of trees.
MIXED = [(), (1,), (1, 1, 1), (1, 12, 2), (25, 1, 9, 4), (3, 3, 40)]


def mixed_forests(subject: CellSubject) -> None:
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


def top_down(subject: CellSubject) -> None:
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
        states = forests.encode_top_down(cell, forest, inputs)
        expected = torch.cat([cell.output(state) for state in states])
        require_alike([results], [expected], f"trees of {sizes} nodes from the root down")


def neighbours(subject: CellSubject) -> None:
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


def inputs_are_read(subject: CellSubject) -> None:
    """Each column of the inputs of leaves and inner nodes changes the state, and so does a child in
    each slot. A cell without inputs at inner nodes has no `inner_size` in __init__."""
    methods = subject.methods(subject.random(), 50)
    for name in ("leaf", "compose"):
        values, leaves = methods[name].with_gradients()
        inputs, *children = gradients_of(weighted_sum(methods[name](values)), leaves)
        slots = [torch.cat(children, -1).any(0).any(-1)] if children else []
        if not all(bool(places.all()) for places in (inputs.any(0), *slots)):
            raise AssertionError(f"{name} must read all columns of its inputs and all children.")


def bfloat16(subject: CellSubject) -> None:
    """A cell works under autocast in bfloat16. If a cell does not, set `bf16 = False`."""
    cell = subject.random(torch.float32)
    if not cell.bf16:
        return
    for name, method in subject.methods(cell, 6, Draw(dtype=torch.float32)).items():
        with torch.autocast("cpu", torch.bfloat16):
            results = [part.float() for part in method()]
        require_alike(results, method(), f"{name} with and without autocast", 0.1)
