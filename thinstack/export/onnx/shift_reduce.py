"""The shift-reduce executor in an ONNX graph: one Loop, transition by transition, as
`thinstack.core.shift_reduce` has them.

All that a step makes is carried to the next, and a runtime copies it: so the states of words stay
outside the loop, and those of other nodes, written once as they are made, are all that grows. In
`core` sentences drop out of the steps once they are done; here they WAIT, for what a loop carries
keeps its shape.
"""

from typing import Any, NamedTuple

import numpy as np
import onnx

from thinstack.core.cell import Cell
from thinstack.core.head import TaskHead
from thinstack.core.stack_schedule import sentence_lengths
from thinstack.export.onnx.encoder import Encoding, Words
from thinstack.export.onnx.graph import Graph
from thinstack.export.onnx.parts import Parts, export_cell, inline
from thinstack.export.onnx.tracker import FREE, REDUCE, SHIFT, WAIT, Buffer, choose, read_buffer
from thinstack.export.onnx.tracker import step as track
from thinstack.export.onnx.value import Value
from thinstack.spinn.stack_encoder import StackEncoder

__all__ = ["Timetable", "encode", "timetable"]

FLOAT, INT64 = onnx.TensorProto.FLOAT, onnx.TensorProto.INT64


class Timetable(NamedTuple):
    """When the transitions of B sentences of n words each are taken; N is the sum of 2n - 1, T the
    greatest, or 1.

    Attributes:
        lengths: (B,) n.
        ends: (B,) the word after each sentence's last.
        steps: scalar, T.
        actions: (T, B, 1) what each sentence is told at each step.
        taken: (B * T,) whether a sentence takes a transition at a step, sentence by sentence: these
            are the N nodes in order.
        roots: (B,) the last node of each sentence.
    """

    lengths: Value
    ends: Value
    steps: Value
    actions: Value
    taken: Value
    roots: Value


class _Before(NamedTuple):
    """What is known before the loop.

    Attributes:
        states: (L + 2, W) of the words, all parts side by side, between two rows of nothing.
        buffer: what the words add to the tracking LSTM's gates from the buffers.
        after: (B, 1) the number, from 1, of the word after each sentence's last.
        queues: (B, Q) of zeros, with room for all words of a sentence over two of nothing.
        places: (B, 2) where each sentence's queue starts among all of them: one less, and as it is.
    """

    states: Value
    buffer: Buffer
    after: Value
    queues: Value
    places: Value


def timetable(lengths: Value, transitions: Value, words: Value) -> Timetable:
    """The timetable of sentences of these lengths (B,), int64, and the transitions (N,) that they
    are told; (0,) tells them nothing.

    There are as many words as `words` (L, ...) has rows: lengths that add up to more are an error
    once the graph runs, and not as much memory as they say.
    """
    g, given, most = lengths.graph, transitions.long(), words.size(0) * 2
    sizes = 2 * lengths - 1
    ends = sizes.cumsum(0)
    # An empty batch takes one step too: the reference evaluator cannot collect anything from none.
    longest = _largest(sizes, 1)
    steps = longest.minimum(most.maximum([1])).squeeze(0)
    times = Value.arange(steps.unsqueeze(0)).unsqueeze(1)
    total = sizes.op("ReduceSum", keepdims=1).minimum(most)
    rest = g.constant([FREE]).op("Expand", total - given.size(0))
    told = Value.cat([given, rest, g.constant([WAIT])])
    going = times < sizes
    node = going.where(times + (ends - sizes), total)
    return Timetable(
        lengths=lengths,
        ends=lengths.cumsum(0),
        steps=steps,
        actions=told.index_select(0, node).unsqueeze(2),
        taken=going.transpose(0, 1).flatten(),
        roots=ends - 1,
    )


def encode(
    g: Graph,
    encoder: StackEncoder,
    words: Words,
    inputs: dict[str, Value],
    *,
    head: TaskHead | None = None,
    roots_only: bool = False,
) -> Encoding:
    """As `thinstack.export.onnx.encoder.encode` has it; all nodes are kept in any case.

    Words go by the numbers -1 .. -L, other nodes by 1 and up, in the order in which they are made,
    and 0 is no node.
    """
    transitions: Any = inputs["transitions"]
    told: Any = inputs["lengths"].long() if encoder.parses else sentence_lengths(transitions)
    table = timetable(told, transitions, words.vectors)
    cell, parts = encoder.cell, export_cell(encoder.cell)
    leaves = inline(g, parts.leaf, [words.vectors])
    outputs = inline(g, parts.read, leaves)[0]
    none = g.constant(np.zeros((1, sum(cell.state_sizes)), np.float32))
    places, queues = _queues(table)
    before = _Before(
        states=Value.cat([none, Value.cat(leaves, 1), none]),
        buffer=read_buffer(g, encoder.tracker, outputs, table.ends),
        after=(table.ends + 1).unsqueeze(1),
        queues=queues,
        places=places,
    )
    body = _step(g.body("take_one_transition"), encoder, parts, before, table)
    left = table.lengths.unsqueeze(1)
    hidden = g.zeros(table.lengths.size(0), encoder.tracker.size)
    start = [Value.cat([left, left.ones_like()], 1), before.queues, hidden, hidden, none]
    *_, store, by_step = g.loop(body, table.steps, start)
    # The shape is told, for the reference evaluator joins what a loop collects where the standard
    # stacks it.
    numbers = by_step.op("Reshape", table.actions.op("Shape"), allowzero=1)
    # Made flat beforehand: OpenVINO does not know the rank of what Compress flattens.
    number = numbers.op("Transpose", perm=[1, 0, 2]).flatten().masked_select(table.taken)
    reduces = number > 0
    # Outputs of the words, a row of nothing, those of the others as they were made.
    stacked = Value.cat([outputs, inline(g, parts.read, _split(cell, store))[0]])
    places = reduces.where(outputs.size(0) + number, -1 - number)
    return Encoding(
        root_nodes=table.roots,
        places=places,
        stacked=stacked,
        roots=stacked.index_select(0, places.index_select(0, table.roots)),
        transitions=reduces.long(),
    )


def _queues(table: Timetable) -> tuple[Value, Value]:
    """`places` and `queues` of `_Before`."""
    lengths, sentences = table.lengths, table.lengths.size(0)
    width = _largest(lengths, 0) + 2
    starts = Value.arange(sentences) * width
    return starts.unsqueeze(1) + np.array([-1, 0]), lengths.new_zeros([sentences, width])


def _largest(values: Value, least: int) -> Value:
    """The greatest of a vector's numbers and of `least`, as a vector of one."""
    return Value.cat([values.graph.constant([least]), values]).op("ReduceMax", keepdims=1)


def _step(
    body: Graph, encoder: StackEncoder, parts: Parts, before: _Before, table: Timetable
) -> Graph:
    """The body of the loop: the stacks before a transition -> after it, and the number of the node
    it made."""
    cell, tracker = encoder.cell, encoder.tracker
    width = sum(cell.state_sizes)
    # Words left in the buffer, and where the top of the stack stands in the queue.
    state = body.input("state", INT64, ["B", 2])
    queue = body.input("queue", INT64, ["B", "Q"])  # the numbers on the stack, over two of nothing
    hidden, memory = (body.input(name, FLOAT, ["B", tracker.size]) for name in ("hidden", "memory"))
    store = body.input("store", FLOAT, ["made", width])  # row m is the state of node m

    left, top = body.ops("Split", state, outputs=2, axis=1, num_outputs=2)
    # Not GatherElements, for that of the reference evaluator knows no more than 64 columns.
    pairs = queue.flatten().take(top + before.places)
    made = pairs.maximum(0)
    children = store.index_select(0, made) + before.states.index_select(0, made - pairs)
    read = _outputs(body, cell, parts, children, pairs)
    front = before.buffer.gates.op("GatherND", before.buffer.empty - left)
    hidden, memory = track(tracker, read, front, hidden, memory)
    action = table.actions.index_select(0, body.step)
    if tracker.parses:
        action = choose(tracker, hidden, state, action)

    reduces = action.eq(REDUCE)
    rows = reduces.flatten()
    composed = _reduce(body, cell, parts, children.op("Compress", rows, axis=0), hidden, rows)
    earlier = reduces.long().op("CumSum", 0, exclusive=1)
    number = reduces.where(earlier + store.size(0), left - before.after)
    state = state + body.constant(_moves()).op("GatherND", action)
    queue = queue.scatter(1, state.narrow(1, 1, 1), number)

    body.output(state, "state_next", INT64, ["B", 2])
    body.output(queue, "queue_next", INT64, ["B", "Q"])
    body.output(hidden, "hidden_next", FLOAT, ["B", tracker.size])
    body.output(memory, "memory_next", FLOAT, ["B", tracker.size])
    body.output(Value.cat([store, composed]), "store_next", FLOAT, ["made_next", width])
    body.output(number, "number", INT64, ["B", 1])
    return body


def _moves() -> np.ndarray:
    """What SHIFT, REDUCE and WAIT add to the words left and to the height of the stack, (3, 2)."""
    moves = np.zeros((3, 2), np.int64)
    moves[SHIFT], moves[REDUCE] = (-1, 1), (0, -1)
    return moves


def _outputs(body: Graph, cell: Cell, parts: Parts, states: Value, numbers: Value) -> Value:
    """Outputs (n, 2H) of pairs of nodes (n, 2) whose states are (n, 2, W); zeros for no node, of
    whose state a cell may make anything."""
    rows = _split(cell, states.view(-1, sum(cell.state_sizes)))
    pairs = inline(body, parts.read, rows)[0].view(-1, 2, cell.hidden_size)
    there = numbers.op("Cast", to=onnx.TensorProto.BOOL).unsqueeze(2)
    return there.where(pairs, np.zeros(1, np.float32)).view(-1, 2 * cell.hidden_size)


def _split(cell: Cell, states: Value, dim: int = 1) -> list[Value]:
    """The parts of states that stand side by side. One by one, so that what is not read of them
    costs nothing."""
    ends = np.cumsum(cell.state_sizes).tolist()
    return [
        states.narrow(dim, end - width, width)
        for end, width in zip(ends, cell.state_sizes, strict=True)
    ]


def _reduce(
    body: Graph, cell: Cell, parts: Parts, pairs: Value, hidden: Value, rows: Value
) -> Value:
    """States (r, W) of nodes from those of their children (r, 2, W); `rows` are those of h (B, T)
    that go with them."""
    context = (
        hidden.op("Compress", rows, axis=0) if cell.inner_size else body.zeros(pairs.size(0), 0)
    )
    if cell.arity > 0:
        children = _split(cell, pairs, dim=2)
        links = [body.constant([]), body.constant([1]).op("Expand", pairs.op("Shape", end=2))]
    else:
        flat = pairs.view(-1, sum(cell.state_sizes))
        children, kinds = _split(cell, flat), body.constant([1]).op("Expand", flat.size(0))
        links = [kinds.op("CumSum", 0, exclusive=1) // 2, kinds]
    return Value.cat(inline(body, parts.compose, [context, *links, *children]), 1)
