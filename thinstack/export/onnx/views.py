"""Undo what in-place writes to slices become in an exported graph, so that they cost there what
they cost in torch: nothing.

`x[:, a:b].sigmoid_()` is exported as: take the slice, squash it, scatter it into a copy of x, read
all later slices from the copy. Most such slices read only what was written, or only what was not,
and need no copy. And slices of what was squashed are squashed after they were taken instead, since
a slice is a copy in a runtime: one copy instead of two.
"""

from typing import Any

import torch
from torch.fx import Graph, Node

__all__ = ["read_through_writes"]

SLICE, SCATTER = torch.ops.aten.slice.Tensor, torch.ops.aten.slice_scatter.default

POINTWISE = {torch.ops.aten.sigmoid.default, torch.ops.aten.tanh.default}

LAST = 2**63 - 1

Window = tuple[int, int, int]  # dimension, start, end


def read_through_writes(graph: Graph) -> None:
    """Let slices read the source of a `slice_scatter` instead of its result, wherever sizes are
    known; drop what is unread."""
    for node in list(graph.nodes):
        if node.target not in (SLICE, SCATTER):
            continue
        if node.target is SLICE and (window := _window(node)) is not None:
            source, window = _holder(node.args[0], window)
            node.args = (source, *window)
        if _is_whole(node):
            # The output's own names are part of the program's signature.
            node.replace_all_uses_with(
                _view(node)[0], delete_user_cb=lambda user: user.op != "output"
            )
    graph.eliminate_dead_code()
    for node in list(graph.nodes):
        if node.target is SLICE and _window(node) is not None:
            _slice_first(graph, node)
    graph.eliminate_dead_code()


def _slice_first(graph: Graph, node: Node) -> None:
    """Take a slice of squashed values before they are squashed, and a slice of a slice at once."""
    source = node.all_input_nodes[0]
    if source.target in POINTWISE and all(user.target is SLICE for user in source.users):
        with graph.inserting_before(node):
            taken = graph.call_function(SLICE, (source.args[0], *node.args[1:]), node.kwargs)
            squashed = graph.call_function(source.target, (taken,))
        taken.meta, squashed.meta = dict(node.meta), dict(node.meta)
        node.replace_all_uses_with(squashed)
        _slice_first(graph, taken)
        return
    inner, outer = _window(source) if source.target is SLICE else None, _window(node)
    if inner is not None and outer is not None and inner[0] == outer[0]:
        node.args, node.kwargs = (
            (source.args[0], outer[0], outer[1] + inner[1], outer[2] + inner[1]),
            {},
        )


def _holder(source: Any, window: Window) -> tuple[Any, Window]:
    """What really holds the window of `source`, and the window's place there."""
    dimension, start, end = window
    while source.target is SCATTER:
        written = _window(source)
        if written is None or written[0] != dimension:
            break
        if written[1] <= start and end <= written[2]:
            source, start, end = source.args[1], start - written[1], end - written[1]
        elif end <= written[1] or written[2] <= start:
            source = source.args[0]
        else:
            break
    return source, (dimension, start, end)


def _view(node: Node) -> tuple[Any, Any, Any, Any, Any]:
    """The tensor that a slice reads or a scatter writes, then dimension, start, end and step of the
    window."""
    first = 1 if node.target is SLICE else 2
    arguments = [*node.args[first:], *[None] * 4]
    dimension, start, end, step = (
        node.kwargs.get(name, arguments[i])
        for i, name in enumerate(("dim", "start", "end", "step"))
    )
    return (
        node.args[first - 1],
        dimension or 0,
        start or 0,
        LAST if end is None else end,
        1 if step is None else step,
    )


def _window(node: Node) -> Window | None:
    """The window of a slice or scatter, None where its size or place is known only at run time, or
    it has gaps."""
    _, dimension, start, end, step = _view(node)
    shape = node.args[0].meta["val"].shape  # type: ignore[union-attr]
    dimension %= len(shape)
    size = shape[dimension]
    if step != 1 or not all(isinstance(number, int) for number in (size, start, end)):
        return None
    start, end = (min(max(place + size if place < 0 else place, 0), size) for place in (start, end))
    return dimension, start, end


def _is_whole(node: Node) -> bool:
    _, _, start, end, step = _view(node)
    if (start, step) == (0, 1) and isinstance(end, int) and end >= LAST:
        return True
    window = _window(node)
    return window is not None and window[1:] == (0, node.args[0].meta["val"].shape[window[0]])  # type: ignore[union-attr]
