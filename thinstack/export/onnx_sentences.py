"""When each transition of a batch of sentences is taken, computed inside an ONNX graph from their
lengths.

`thinstack.core.stack_schedule` has sentences drop out of the steps once they are done; here they
WAIT, for what a loop carries keeps its shape.
"""

from typing import NamedTuple

import onnx

from thinstack.export.onnx_graph import Graph
from thinstack.export.onnx_schedule import forest_of_transitions, nonzero

__all__ = ["FREE", "REDUCE", "SHIFT", "WAIT", "Sentences", "sentence_lengths", "sentences"]

INT64 = onnx.TensorProto.INT64

SHIFT, REDUCE, WAIT, FREE = range(4)
"""What is told to a sentence at a step; FREE is nothing."""


class Sentences(NamedTuple):
    """Names of the values that describe B sentences of n words each; N is the sum of 2n - 1, T the
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

    lengths: str
    ends: str
    steps: str
    actions: str
    taken: str
    roots: str


def sentences(g: Graph, lengths: str, transitions: str, words: str) -> Sentences:
    """Sentences of these lengths (B,), and the transitions (N,) that they are told; (0,) tells them
    nothing.

    There are as many words as `words` (L, ...) has rows: lengths that add up to more are an error
    once the graph runs, and not as much memory as they say.
    """
    most = g.op("Mul", g.op("Shape", words, start=0, end=1), g.scalar(2))
    lengths, given = g.op("Cast", lengths, to=INT64), g.op("Cast", transitions, to=INT64)
    sizes = g.op("Sub", g.op("Mul", lengths, g.scalar(2)), g.scalar(1))
    ends = g.op("CumSum", sizes, g.scalar(0))
    # An empty batch takes one step too: the reference evaluator cannot collect anything from none.
    longest = g.op("ReduceMax", g.op("Concat", g.vector(1), sizes, axis=0), keepdims=0)
    steps = g.op("Min", longest, g.op("Squeeze", g.op("Max", most, g.vector(1))))
    times = g.op("Unsqueeze", g.op("Range", g.scalar(0), steps, g.scalar(1)), g.vector(1))
    total = g.op("Min", g.op("ReduceSum", sizes, keepdims=1), most)
    rest = g.op("Expand", g.vector(FREE), g.op("Sub", total, g.op("Shape", given)))
    told = g.op("Concat", given, rest, g.vector(WAIT), axis=0)
    going = g.op("Less", times, sizes)
    node = g.op("Where", going, g.op("Add", times, g.op("Sub", ends, sizes)), total)
    return Sentences(
        lengths=lengths,
        ends=g.op("CumSum", lengths, g.scalar(0)),
        steps=steps,
        actions=g.op("Unsqueeze", g.op("Gather", told, node), g.vector(2)),
        taken=g.op("Reshape", g.op("Transpose", going, perm=[1, 0]), g.vector(-1)),
        roots=g.op("Sub", ends, g.scalar(1)),
    )


def sentence_lengths(g: Graph, transitions: str) -> str:
    """The words (B,) of each sentence, from the transitions (N,) of whole binary trees."""
    parents = forest_of_transitions(g, transitions).parents
    roots = nonzero(g, g.op("Less", parents, g.scalar(0)))
    before = g.op(
        "Slice", g.op("Concat", g.vector(-1), roots, axis=0), g.vector(0), g.vector(-1), g.vector(0)
    )
    return g.op("Div", g.op("Add", g.op("Sub", roots, before), g.scalar(1)), g.scalar(2))
