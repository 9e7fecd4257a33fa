"""Contract checks of a cell over trees: the executors against the recursion, a tree against its
neighbours, and what parameters and inputs do."""

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from thinstack.core import Forest
from thinstack.core.cell import Cell
from thinstack.core.depth_ordered import DepthOrdered, TopDown, in_node_order
from thinstack.testing import recursion
from thinstack.testing.forests import (
    apart,
    batch_of,
    by_depth,
    by_recursion,
    chain,
    gradients,
    random_forest,
    require_alike,
    schedule_of,
    star,
)
from thinstack.testing.method_checks import has_shapes
from thinstack.testing.subject import CellSubject

LONG, WIDE = 300, 200
MIXED = [(1, 12, 2), (25, 1, 9, 4), (3, 3, 40)]
"""Sizes of the trees of some forests."""
OF_MANY_SHAPES = (15, 1, 30, 6)


def one_word_trees(subject: CellSubject) -> None:
    """The executor agrees with the recursion on trees of one word, one of them and several."""
    cell = subject.random()
    for trees in (1, 3):
        forest = random_forest([1] * trees, arity=cell.arity, kinds=1, seed=0)
        _agree(cell, forest, f"{trees} trees of one word")


def chains(subject: CellSubject) -> None:
    """The executor agrees with the recursion on a tree of depth 300."""
    cell = subject.random()
    forest = chain(LONG, arity=cell.arity, kinds=subject.edge_types(cell))
    _agree(cell, forest, f"a chain of {LONG} nodes")


def stars(subject: CellSubject) -> None:
    """The executor agrees with the recursion on a node with 200 children, or as many as the cell
    takes."""
    cell = subject.random()
    children = cell.arity or WIDE
    _agree(cell, star(children, kinds=subject.edge_types(cell)), f"a node with {children} children")


def mixed_forests(subject: CellSubject) -> None:
    """The executor agrees with the recursion on random trees of many sizes together, with children
    missing."""
    cell = subject.random()
    for seed, sizes in enumerate(MIXED):
        forest = subject.forest(cell, sizes, seed)
        _agree(cell, forest, f"trees of {', '.join(map(str, sizes))} nodes")


def no_rows(subject: CellSubject) -> None:
    """No rows (n = 0) work, and so do nodes without a child, in every method and in the executor.
    Take widths from attributes and not from a -1 in view or reshape. Use no maximum or mean over
    rows."""
    cell = subject.random()
    methods = subject.methods(cell, 6)
    for method in methods.values():
        has_shapes(method, method.only(None), 0)
    compose = methods["compose"]
    below = compose.values if cell.arity > 0 else compose.only(None)
    childless = {
        name: [torch.zeros_like(part) for part in below[name]]
        for name in compose.values.keys() - {"inputs"}
    }
    if not all(bool(part.isfinite().all()) for part in compose(compose.values | childless)):
        raise AssertionError(
            "compose of nodes without children is not finite; clamp a number of children to at "
            "least 1 before dividing by it, add a small number to a norm or spread, and take no "
            "maximum or softmax over no child"
        )
    batch = batch_of(cell, subject.forest(cell, [], 0))
    if any(len(part) for part in by_depth(DepthOrdered(cell), cell, batch)):
        raise AssertionError(
            "an empty forest has outputs; make as many rows in leaf, compose and output as "
            "`inputs` has"
        )


def _agree(cell: Cell, forest: Forest, what: str) -> None:
    batch = batch_of(cell, forest)
    expected = by_recursion(cell, batch.copied())
    for how in ("", " without gradients"):
        with torch.set_grad_enabled(how == ""):
            found = by_depth(DepthOrdered(cell), cell, batch.copied())
        require_alike(found, expected, f"{what}, depth by depth{how} and one by one", IN_PLACE)


IN_PLACE = (
    "let compose treat every row by itself, take each child from its place (`links.owner`, or "
    "dimension 1), and keep nothing between two calls"
)
BY_ITSELF = "let leaf, compose and output treat every row by itself"


def top_down(subject: CellSubject) -> None:
    """A cell of one child or any number, which reads an input at every node, can also run from the
    roots down. There the executor agrees with the recursion. A node's one child is then its parent,
    the kind of the link tells which child it is, and the root is a leaf."""
    cell = subject.random()
    if cell.arity > 1 or cell.inner_size != cell.input_size:
        return
    kinds = subject.edge_types(cell)
    for seed, sizes in enumerate([(1,), (12, 1, 7)]):
        forest = random_forest(sizes, arity=max(2, kinds), kinds=1, seed=seed)
        if kinds == 1:
            forest.slots[:] = 0
        generator = torch.Generator().manual_seed(seed)
        inputs = torch.randn(sum(sizes), cell.input_size, generator=generator, dtype=torch.float64)
        schedule = schedule_of(forest, 0)
        rows = torch.cat([schedule.leaves, schedule.inner])
        found = in_node_order(TopDown(cell)(inputs[rows], schedule), schedule)
        states = recursion.encode_top_down(cell, forest, inputs)
        expected = torch.cat([cell.output(state) for state in states])
        require_alike([found], [expected], "from the root down, by level and one by one", BY_ITSELF)


def inputs_are_read(subject: CellSubject) -> None:
    """Every column of a leaf's input changes the leaf's state. The states of children change the
    parent's state, in each place of a fixed arity."""
    cell, n = subject.random(), 50
    methods, others = subject.methods(cell, n), subject.methods(cell, n, seed=1)
    leaf, compose = methods["leaf"], methods["compose"]
    with torch.no_grad():
        before, after = leaf(), compose()
        for column in range(cell.input_size):
            (inputs,) = (part.clone() for part in leaf.values["inputs"])
            inputs[:, column] += 1
            if apart(leaf({"inputs": [inputs]}), before) == 0:
                raise AssertionError(
                    f"column {column} of a leaf's inputs changes nothing; let leaf read all of them"
                )
        for slot in range(max(cell.arity, 1)):
            parts = [part.clone() for part in compose.values["children"]]
            for part, other in zip(parts, others["compose"].values["children"], strict=True):
                here = part[:, slot] if cell.arity else part
                here.copy_(torch.where(here != 0, other[:, slot] if cell.arity else other, 0.0))
            if apart(compose(compose.values | {"children": parts}), after) == 0:
                raise AssertionError(
                    f"the states of children in place {slot} change nothing; let compose read "
                    f"all {cell.arity or 'of them'}"
                )


def inner_inputs_are_read(subject: CellSubject) -> None:
    """A cell that says that it reads an input at inner nodes does."""
    cell = subject.random()
    if cell.inner_size == 0:
        return
    batch, run = batch_of(cell, subject.forest(cell, [6], 0)), DepthOrdered(cell)
    for column in range(cell.inner_size):
        other = batch.copied()
        other.inner[:, column] += 1
        if apart(by_depth(run, cell, other)[1:2], by_depth(run, cell, batch.copied())[1:2]) == 0:
            raise AssertionError(
                f"column {column} of the inputs of inner nodes changes nothing, though inner_size "
                f"is {cell.inner_size}; let compose read `inputs`, or leave inner_size at 0 and "
                "`inner_size` out of the arguments of __init__"
            )


def neighbours(subject: CellSubject) -> None:
    """A tree has the same outputs alone and in any batch. `examples` says how many random batches
    are drawn."""
    cell = subject.random()
    run, generator = DepthOrdered(cell), np.random.default_rng(0)
    for seed in range(subject.examples):
        sizes = generator.integers(1, 8, generator.integers(2, 6)).tolist()
        own = int(generator.integers(len(sizes)))
        batch = batch_of(cell, subject.forest(cell, sizes, seed), seed)
        start, stop = sum(sizes[:own]), sum(sizes[: own + 1])
        with torch.no_grad():
            together = by_depth(run, cell, batch.copied())
            alone = by_depth(run, cell, batch.tree(start, stop))
        what = f"a tree of {sizes[own]} nodes, alone and in a batch of trees of {sizes} nodes"
        require_alike(alone[:1], [together[0][start:stop]], what, BY_ITSELF)


def gradients_of_forests(subject: CellSubject) -> None:
    """A forest's gradients by the executor are those by the recursion, for inputs and
    parameters."""
    cell = subject.random()
    batch = batch_of(cell, subject.forest(cell, OF_MANY_SHAPES, 0))
    wanted = {
        "the inputs of leaves": batch.leaves.requires_grad_(),
        "the inputs of inner nodes": batch.inner.requires_grad_(),
        **dict(cell.named_parameters()),
    }
    found = _gradients(by_depth(DepthOrdered(cell), cell, batch.copied()), wanted)
    expected = _gradients(by_recursion(cell, batch.copied()), wanted)
    for name, gradient in found.items():
        what = f"the gradient of {name}, depth by depth and one by one"
        require_alike([gradient], [expected[name]], what, BY_ITSELF, tolerance=1e-8)


def parameters_are_used(subject: CellSubject) -> None:
    """Every parameter has a gradient that is not zero on a forest of mixed trees."""
    cell = subject.random()
    batch = batch_of(cell, subject.forest(cell, OF_MANY_SHAPES, 0))
    outputs = by_depth(DepthOrdered(cell), cell, batch)
    found = _gradients(outputs, dict(cell.named_parameters()))
    dead = [name for name, gradient in found.items() if not bool(gradient.any())]
    if dead:
        raise AssertionError(
            f"parameters {dead} are dead: no output depends on them. Read them in leaf, compose "
            "or output, or do not register them under these options and sizes (with inner_size 0 "
            "only leaves have an input)"
        )


def _gradients(outputs: Sequence[Tensor], wanted: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Gradients of a sum that weighs each output and root output differently; zero for what has no
    part in it."""
    weights = [torch.linspace(-1, 2, part.numel(), dtype=part.dtype) for part in outputs[:2]]
    loss = torch.stack(
        [part.flatten() @ of for part, of in zip(outputs, weights, strict=False)]
    ).sum()
    return dict(zip(wanted, gradients(loss, list(wanted.values())), strict=True))
