"""The shift-reduce executor in an ONNX graph: one Loop, transition by transition, as
`thinstack.core.shift_reduce` has them.

All that a step makes is carried to the next, and a runtime copies it: so the states of words stay
outside the loop, and those of other nodes, written once as they are made, are all that grows.
"""

from typing import NamedTuple

import numpy as np
import onnx

from thinstack.core.cell import Cell
from thinstack.export.onnx_graph import Graph
from thinstack.export.onnx_parts import Parts, export_cell, inline
from thinstack.export.onnx_schedule import positions
from thinstack.export.onnx_sentences import REDUCE, SHIFT, Sentences
from thinstack.export.onnx_tracker import Buffer, choose, read_buffer, track
from thinstack.spinn.stack_encoder import StackEncoder

__all__ = ["StackEncoding", "shift_reduce"]

BOOL, FLOAT, INT64 = onnx.TensorProto.BOOL, onnx.TensorProto.FLOAT, onnx.TensorProto.INT64


class StackEncoding(NamedTuple):
    """Names of the values that N nodes of B sentences came to.

    Attributes:
        outputs: (1 + N, H) of all nodes: of the words, a row of nothing, of the others as they were
            made.
        places: (N,) the row of each node in `outputs`.
        transitions: (N,) int64 that were taken.
    """

    outputs: str
    places: str
    transitions: str


class _Before(NamedTuple):
    """What is known before the loop.

    Attributes:
        states: (L + 2, W) of the words, all parts side by side, between two rows of nothing.
        buffer: what the words add to the tracking LSTM's gates from the buffers.
        after: (B, 1) the number, from 1, of the word after each sentence's last.
        queues: (B, Q) of zeros, with room for all words of a sentence over two of nothing.
        places: (B, 2) where each sentence's queue starts among all of them: one less, and as it is.
    """

    states: str
    buffer: Buffer
    after: str
    queues: str
    places: str


def shift_reduce(g: Graph, encoder: StackEncoder, words: str, batch: Sentences) -> StackEncoding:
    """Encode sentences from the vectors (L, X) of their words.

    Words go by the numbers -1 .. -L, other nodes by 1 and up, in the order in which they are made,
    and 0 is no node.
    """
    cell, parts = encoder.cell, export_cell(encoder.cell)
    leaves = inline(g, parts.leaf, [words])
    leaf_outputs = inline(g, parts.read, leaves)[0]
    none = g.constant(np.zeros((1, sum(cell.state_sizes)), np.float32))
    places, queues = _queues(g, batch)
    before = _Before(
        states=g.op("Concat", none, g.op("Concat", *leaves, axis=1), none, axis=0),
        buffer=read_buffer(g, encoder.tracker, leaf_outputs, batch),
        after=g.op("Unsqueeze", g.op("Add", batch.ends, g.scalar(1)), g.vector(1)),
        queues=queues,
        places=places,
    )
    store, by_step = _loop(g, encoder, parts, before, batch, none)
    # The shape is told, for the reference evaluator joins what a loop collects where the standard
    # stacks it.
    numbers = g.op(
        "Transpose",
        g.op("Reshape", by_step, g.op("Shape", batch.actions), allowzero=1),
        perm=[1, 0, 2],
    )
    # Made flat beforehand: OpenVINO does not know the rank of what Compress flattens.
    number = g.op("Compress", g.op("Reshape", numbers, g.vector(-1)), batch.taken, axis=0)
    reduces = g.op("Greater", number, g.scalar(0))
    made = g.op("Add", g.op("Shape", leaf_outputs, start=0, end=1), number)
    return StackEncoding(
        outputs=g.op(
            "Concat", leaf_outputs, inline(g, parts.read, _split(g, cell, store))[0], axis=0
        ),
        places=g.op("Where", reduces, made, g.op("Sub", g.scalar(-1), number)),
        transitions=g.op("Cast", reduces, to=INT64),
    )


def _queues(g: Graph, batch: Sentences) -> tuple[str, str]:
    """`places` and `queues` of `_Before`."""
    longest = g.op("ReduceMax", g.op("Concat", g.vector(0), batch.lengths, axis=0), keepdims=1)
    width = g.op("Add", longest, g.vector(2))
    starts = g.op("Mul", positions(g, batch.lengths), width)
    queues = g.op(
        "Expand", g.vector(0), g.op("Concat", g.op("Shape", batch.lengths), width, axis=0)
    )
    return g.op("Add", g.op("Unsqueeze", starts, g.vector(1)), g.vector(-1, 0)), queues


def _loop(
    g: Graph, encoder: StackEncoder, parts: Parts, before: _Before, batch: Sentences, none: str
) -> tuple[str, str]:
    """The states (1 + M, W) of the M nodes made, after that of `none`, and the numbers (T, B, 1) of
    the nodes of each step."""
    left = g.op("Unsqueeze", batch.lengths, g.vector(1))
    state = g.op("Concat", left, g.op("Expand", g.vector(1), g.op("Shape", left)), axis=1)
    hidden = g.op(
        "ConstantOfShape",
        g.op("Concat", g.op("Shape", batch.lengths), g.vector(encoder.tracker.size), axis=0),
    )
    body = _step(g.subgraph("take_one_transition"), encoder, parts, before, batch).build()
    start = [state, before.queues, hidden, hidden, none]
    *_, store, by_step = g.ops(
        "Loop", batch.steps, g.constant(np.array(True)), *start, outputs=6, body=body
    )
    return store, by_step


def _step(
    g: Graph, encoder: StackEncoder, parts: Parts, before: _Before, batch: Sentences
) -> Graph:
    """The body of the loop: the stacks before a transition -> after it, and the number of the node
    it made."""
    cell, tracker = encoder.cell, encoder.tracker
    step, go_on = g.input("step", INT64, []), g.input("go_on", BOOL, [])
    state = g.input(
        "state", INT64, ["B", 2]
    )  # words left in the buffer, and where the top of the stack stands in the queue
    queue = g.input("queue", INT64, ["B", "Q"])  # the numbers on the stack, over two of nothing
    hidden, memory = (g.input(name, FLOAT, ["B", tracker.size]) for name in ("hidden", "memory"))
    store = g.input("store", FLOAT, ["made", sum(cell.state_sizes)])  # row m is the state of node m

    left, top = g.ops("Split", state, outputs=2, axis=1, num_outputs=2)
    # Not GatherElements, for that of the reference evaluator knows no more than 64 columns.
    pairs = g.op("Gather", g.op("Reshape", queue, g.vector(-1)), g.op("Add", top, before.places))
    made = g.op("Max", pairs, g.scalar(0))
    children = g.op(
        "Add", g.op("Gather", store, made), g.op("Gather", before.states, g.op("Sub", made, pairs))
    )
    read = _outputs(g, cell, parts, children, pairs)
    buffer = g.op("GatherND", before.buffer.gates, g.op("Sub", before.buffer.empty, left))
    hidden, memory = track(g, tracker, read, buffer, hidden, memory)
    action = g.op("Gather", batch.actions, step)
    if tracker.parses:
        action = choose(g, tracker, hidden, state, action)

    reduces = g.op("Equal", action, g.scalar(REDUCE))
    rows = g.op("Reshape", reduces, g.vector(-1))
    composed = _compose(g, cell, parts, g.op("Compress", children, rows, axis=0), hidden, rows)
    earlier = g.op("CumSum", g.op("Cast", reduces, to=INT64), g.scalar(0), exclusive=1)
    number = g.op(
        "Where",
        reduces,
        g.op("Add", earlier, g.op("Shape", store, start=0, end=1)),
        g.op("Sub", left, before.after),
    )
    state = g.op("Add", state, g.op("GatherND", g.constant(_moves()), action))
    queue = g.op(
        "ScatterElements",
        queue,
        g.op("Slice", state, g.vector(1), g.vector(2), g.vector(1)),
        number,
        axis=1,
    )
    store = g.op("Concat", store, composed, axis=0)

    g.output(go_on, "go_on_next", BOOL, [])
    g.output(state, "state_next", INT64, ["B", 2])
    g.output(queue, "queue_next", INT64, ["B", "Q"])
    g.output(hidden, "hidden_next", FLOAT, ["B", tracker.size])
    g.output(memory, "memory_next", FLOAT, ["B", tracker.size])
    g.output(store, "store_next", FLOAT, ["made_next", sum(cell.state_sizes)])
    g.output(number, "number", INT64, ["B", 1])
    return g


def _moves() -> np.ndarray:
    """What SHIFT, REDUCE and WAIT add to the words left and to the height of the stack, (3, 2)."""
    moves = np.zeros((3, 2), np.int64)
    moves[SHIFT], moves[REDUCE] = (-1, 1), (0, -1)
    return moves


def _outputs(g: Graph, cell: Cell, parts: Parts, states: str, numbers: str) -> str:
    """Outputs (n, 2H) of pairs of nodes (n, 2) whose states are (n, 2, W); zeros for no node, of
    whose state a cell may make anything."""
    rows = _split(g, cell, g.op("Reshape", states, g.vector(-1, sum(cell.state_sizes))))
    pairs = g.op("Reshape", inline(g, parts.read, rows)[0], g.vector(-1, 2, cell.hidden_size))
    there = g.op("Unsqueeze", g.op("Cast", numbers, to=BOOL), g.vector(2))
    known = g.op("Where", there, pairs, g.constant(np.zeros(1, np.float32)))
    return g.op("Reshape", known, g.vector(-1, 2 * cell.hidden_size))


def _split(g: Graph, cell: Cell, states: str, axis: int = 1) -> list[str]:
    """The parts of states that stand side by side. One by one, so that what is not read of them
    costs nothing."""
    ends = np.cumsum(cell.state_sizes).tolist()
    starts = [0, *ends]
    return [
        g.op("Slice", states, g.vector(start), g.vector(end), g.vector(axis))
        for start, end in zip(starts, ends, strict=False)
    ]


def _compose(g: Graph, cell: Cell, parts: Parts, pairs: str, hidden: str, rows: str) -> str:
    """States (r, W) of nodes from those of their children (r, 2, W); `rows` are those of h (B, T)
    that go with them."""
    count = g.op("Shape", pairs, start=0, end=1)
    if cell.inner_size:
        context = g.op("Compress", hidden, rows, axis=0)
    else:
        context = g.op("ConstantOfShape", g.op("Concat", count, g.vector(0), axis=0))
    if cell.arity:
        children = _split(g, cell, pairs, axis=2)
        owner = g.constant(np.zeros(0, np.int64))
        kind = g.op("Expand", g.vector(1), g.op("Shape", pairs, start=0, end=2))
    else:
        flat = g.op("Reshape", pairs, g.vector(-1, sum(cell.state_sizes)))
        children = _split(g, cell, flat)
        kind = g.op("Expand", g.vector(1), g.op("Shape", flat, start=0, end=1))
        owner = g.op("Div", g.op("CumSum", kind, g.scalar(0), exclusive=1), g.scalar(2))
    return g.op("Concat", *inline(g, parts.compose, [context, owner, kind, *children]), axis=1)
