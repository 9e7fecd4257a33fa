"""The encoder of SPINN in an ONNX graph, as one Loop over the transitions. A runtime copies
everything that a step passes to the next, so the states of words stay outside the loop, and only
the states of other nodes grow. Finished sentences WAIT, because the values in a loop have fixed
shapes."""

from itertools import accumulate
from typing import Any, NamedTuple, cast

import numpy as np
import onnx

from thinstack.core.head import TaskHead
from thinstack.core.stack_schedule import sentence_lengths
from thinstack.export.onnx.encoder import Encoding, Words
from thinstack.export.onnx.graph import Graph
from thinstack.export.onnx.parser import is_unparsed
from thinstack.export.onnx.parts import Parts, export_cell, inline
from thinstack.export.onnx.tree_encoder import in_one_pass
from thinstack.export.onnx.value import Value
from thinstack.plugins.encoders.spinn import StackEncoder
from thinstack.plugins.encoders.spinn.onnx_tracker import FREE, REDUCE, WAIT, choose, read_buffer
from thinstack.plugins.encoders.spinn.onnx_tracker import step as track

FLOAT, INT64 = onnx.TensorProto.FLOAT, onnx.TensorProto.INT64
MOVES = np.array([(-1, 1), (0, -1), (0, 0)])
"""What SHIFT, REDUCE and WAIT add to the number of words in the buffer and to the stack height."""


def encode(
    g: Graph,
    encoder: StackEncoder,
    words: Words,
    inputs: dict[str, Value],
    *,
    head: TaskHead | None = None,
    roots_only: bool = False,
) -> Encoding:
    """Write the encoding of sentences, as `thinstack.export.onnx.encoder.encode`: by transition, or
    by depth, in a branch, for input trees whose composition the tracking LSTM does not feed."""
    cell = encoder.cell
    if encoder.feeds:
        return shift_reduce(g, encoder, export_cell(cell), words, inputs)
    parts = export_cell(cell, head)
    if not encoder.parses:
        encoding = in_one_pass(g, encoder, cell, parts, words, inputs, roots_only=roots_only)
        return _with_scores(encoding, head)

    make, take = Graph("own_trees", outer=g), Graph("given_trees", outer=g)
    parsed = shift_reduce(make, encoder, parts, *_within(make, words, inputs))
    inside = _within(take, words, inputs)
    built = in_one_pass(take, encoder, cell, parts, *inside, roots_only=roots_only)
    built = built._replace(transitions=inside[1]["transitions"].long())
    wanted = ["roots"] if roots_only else ["stacked", "places"]
    wanted += ["root_nodes", "transitions"]
    rows = FLOAT, ["n", parts.widths[0]]
    for branch, encoding in ((make, parsed), (take, built)):
        for name in wanted:
            kind = rows if name in ("roots", "stacked") else (INT64, ["n"])
            branch.output(getattr(encoding, name), name, *kind)
    unparsed = is_unparsed(inputs["transitions"], words.vectors)
    chosen = dict(zip(wanted, g.choose(unparsed, make, take), strict=True))
    return _with_scores(Encoding(**chosen), head)


def _within(g: Graph, words: Words, inputs: dict[str, Value]) -> tuple[Words, dict[str, Value]]:
    vectors, distinct, rows = words
    inside = Words(vectors.within(g), distinct.within(g), rows.within(g) if rows else None)
    return inside, {name: value.within(g) for name, value in inputs.items()}


def _with_scores(encoding: Encoding, head: TaskHead | None) -> Encoding:
    """Return the encoding; rows that `head` has scored are moved to `scores`."""
    return encoding._replace(stacked=None, scores=encoding.stacked) if head else encoding


class Timetable(NamedTuple):
    """The steps of the transitions of B sentences of n words each. N is the sum of 2n - 1, and T
    the greatest 2n - 1, or 1 for an empty batch."""

    lengths: Value  # (B,) n
    ends: Value  # (B,) the word after each sentence's last
    steps: Value  # scalar, T
    actions: Value  # (T, B, 1) the action of each sentence at each step
    taken: Value  # (B * T,) whether a sentence takes a transition at a step, which makes a node
    roots: Value  # (B,) the last node of each sentence


def timetable(lengths: Value, transitions: Value, words: Value) -> Timetable:
    """Return the timetable of sentences of these lengths (B,) and input trees (N,), or (0,) for
    none. If the lengths add up to more than the words, the graph fails when it runs, instead of
    taking as much memory."""
    g, steps_in, most = lengths.graph, transitions.long(), words.size(0) * 2
    sizes = 2 * lengths - 1
    ends = sizes.cumsum(0)
    # An empty batch takes one step, because the reference evaluator cannot collect from none.
    longest = sizes.largest(1)
    steps = longest.minimum(most.maximum([1])).squeeze(0)
    times = Value.arange(steps.unsqueeze(0)).unsqueeze(1)
    total = sizes.op("ReduceSum", keepdims=1).minimum(most)
    rest = g.constant([FREE]).op("Expand", total - steps_in.size(0))
    actions = Value.cat([steps_in, rest, g.constant([WAIT])])
    going = times < sizes
    node = going.where(times + (ends - sizes), total)
    return Timetable(
        lengths=lengths,
        ends=lengths.cumsum(0),
        steps=steps,
        actions=actions.index_select(0, node).unsqueeze(2),
        taken=going.transpose(0, 1).flatten(),
        roots=ends - 1,
    )


def shift_reduce(
    g: Graph, encoder: StackEncoder, parts: Parts, words: Words, inputs: dict[str, Value]
) -> Encoding:
    """Write the encoding of sentences over input trees or the tracker's own. Words have the numbers
    -1 .. -L, other nodes the numbers from 1 in the order of their creation, and 0 is no node."""
    transitions = inputs["transitions"]
    stated = inputs["lengths"].long() if encoder.parses else None
    lengths: Value = stated or cast(Any, sentence_lengths)(transitions)
    table = timetable(lengths, transitions, words.vectors)
    loop = _Loop(g, encoder, parts, words, table)
    number, store = loop.run(g)
    reduces = number > 0
    # Rows of the words, an unused row, then rows of the others in the order of their creation.
    states = loop.leaves, loop.split(store)
    stacked = Value.cat([parts.read(g, state)[0] for state in states])
    places = reduces.where(words.vectors.size(0) + number, -1 - number)
    return Encoding(
        root_nodes=table.roots,
        places=places,
        stacked=stacked,
        roots=stacked.index_select(0, places.index_select(0, table.roots)),
        transitions=reduces.long(),
    )


class _Loop:
    """The loop over transitions, and the values computed before it."""

    def __init__(
        self, g: Graph, encoder: StackEncoder, parts: Parts, words: Words, table: Timetable
    ):
        self.cell, self.tracker, self.table = encoder.cell, encoder.tracker, table
        self.parts, self.leaves = parts, inline(g, parts.leaf, [words.vectors])
        outputs = parts.outputs(g, self.leaves)
        self.width = sum(self.cell.state_sizes)
        self.none = g.zeros(1, self.width)
        self.places, self.queues = _queues(table)
        # States (L + 2, W) of the words, with all parts side by side, between two rows of zeros.
        self.states = Value.cat([self.none, Value.cat(self.leaves, 1), self.none])
        self.fronts, self.empty = read_buffer(g, self.tracker, outputs, table.ends)
        # The number, from 1, of the word after each sentence's last (B, 1).
        self.after = (table.ends + 1).unsqueeze(1)

    def run(self, g: Graph) -> tuple[Value, Value]:
        """Return the numbers (N,) of all nodes, and a row of zeros followed by the states of the
        nodes that are not words, in the order of their creation."""
        table = self.table
        body = self._step(g.body("take_one_transition"))
        left = table.lengths.unsqueeze(1)
        hidden = g.zeros(table.lengths.size(0), self.tracker.size)
        start = [Value.cat([left, left.ones_like()], 1), self.queues, hidden, hidden, self.none]
        *_, store, by_step = g.loop(body, table.steps, start)
        # Reshaped because the reference evaluator concatenates collected values, where the standard
        # stacks them, and flattened because OpenVINO does not know the rank that Compress flattens.
        numbers = by_step.op("Reshape", table.actions.op("Shape"), allowzero=1)
        return numbers.op("Transpose", perm=[1, 0, 2]).flatten().masked_select(table.taken), store

    def _step(self, body: Graph) -> Graph:
        """Write the body of the loop: one transition, which also returns the new node's number."""
        width, size = self.width, self.tracker.size
        # Words left in the buffer, and the place of the top of the stack in the queue.
        state = body.input("state", INT64, ["B", 2])
        queue = body.input("queue", INT64, ["B", "Q"])  # numbers on the stack, over two zeros
        hidden, memory = (body.input(name, FLOAT, ["B", size]) for name in ("hidden", "memory"))
        store = body.input("store", FLOAT, ["made", width])  # row m is the state of node m

        left, top = body.ops("Split", state, outputs=2, axis=1, num_outputs=2)
        # Not GatherElements, which supports only 64 columns in the reference evaluator.
        pairs = queue.flatten().take(top + self.places)
        places = pairs.maximum(0)
        children = store.index_select(0, places) + self.states.index_select(0, places - pairs)
        read = self._outputs(body, children, pairs)
        front = self.fronts.op("GatherND", self.empty - left)
        hidden, memory = track(self.tracker, read, front, hidden, memory)
        action = self.table.actions.index_select(0, body.step)
        if self.tracker.parses:
            action = choose(self.tracker, hidden, state, action)

        reduces = action.eq(REDUCE)
        rows = reduces.flatten()
        composed = self._reduce(body, children.op("Compress", rows, axis=0), hidden, rows)
        earlier = reduces.long().op("CumSum", 0, exclusive=1)
        number = reduces.where(earlier + store.size(0), left - self.after)
        state = state + body.constant(MOVES).op("GatherND", action)
        queue = queue.scatter(1, state.narrow(1, 1, 1), number)

        body.output(state, "state_next", INT64, ["B", 2])
        body.output(queue, "queue_next", INT64, ["B", "Q"])
        body.output(hidden, "hidden_next", FLOAT, ["B", size])
        body.output(memory, "memory_next", FLOAT, ["B", size])
        body.output(Value.cat([store, composed]), "store_next", FLOAT, ["made_next", width])
        body.output(number, "number", INT64, ["B", 1])
        return body

    def _outputs(self, body: Graph, states: Value, numbers: Value) -> Value:
        """Return the outputs (n, 2H) of pairs of nodes (n, 2) with states (n, 2, W); zeros for no
        node, whose output could be anything."""
        size = self.cell.hidden_size
        outputs = self.parts.outputs(body, self.split(states.view(-1, self.width)))
        there = numbers.op("Cast", to=onnx.TensorProto.BOOL).unsqueeze(2)
        outputs = there.where(outputs.view(-1, 2, size), np.zeros(1, np.float32))
        return outputs.view(-1, 2 * size)

    def _reduce(self, body: Graph, pairs: Value, hidden: Value, rows: Value) -> Value:
        """Return the states (r, W) of nodes from their children's (r, 2, W) and `rows` of h."""
        context = (
            hidden.op("Compress", rows, axis=0)
            if self.cell.inner_size
            else body.zeros(pairs.size(0), 0)
        )
        if self.cell.arity > 0:
            children = self.split(pairs, dim=2)
            links = [body.constant([]), body.constant([1]).op("Expand", pairs.op("Shape", end=2))]
        else:
            flat = pairs.view(-1, self.width)
            children, kinds = self.split(flat), body.constant([1]).op("Expand", flat.size(0))
            links = [kinds.op("CumSum", 0, exclusive=1) // 2, kinds]
        return Value.cat(inline(body, self.parts.compose, [context, *links, *children]), 1)

    def split(self, states: Value, dim: int = 1) -> list[Value]:
        """Split states into their parts, one by one, so that an unread part costs nothing."""
        ends = accumulate(self.cell.state_sizes)
        return [
            states.narrow(dim, end - width, width)
            for end, width in zip(ends, self.cell.state_sizes, strict=True)
        ]


def _queues(table: Timetable) -> tuple[Value, Value]:
    """Return the places before and at the start of each stack in the flat array (B, 2), and empty
    stacks (B, Q), with room for all words of a sentence over two zeros."""
    lengths, sentences = table.lengths, table.lengths.size(0)
    width = lengths.largest(0) + 2
    starts = Value.arange(sentences) * width
    return starts.unsqueeze(1) + np.array([-1, 0]), lengths.new_zeros([sentences, width])
