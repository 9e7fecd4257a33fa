"""Checks that the parts of a node of an ONNX file fit together.

onnxruntime takes that for granted. A Split that says another number of parts than it has outputs
ends its process. So does a Loop that reads an empty tensor where it needs one number.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from thinstack.bundle.gate.onnx_values import Value
from thinstack.bundle.gate.protobuf import DamagedError, Message

MOST_STEPS: Final = 1 << 24
"""The most steps that a loop may have, where their number is a constant."""


class Inner(NamedTuple):
    """A graph in a node: the number of its inputs, and what is known of its outputs."""

    inputs: int
    outputs: Sequence[Value]


class Node(NamedTuple):
    """The parts of a node.

    Attributes:
        operator: its operator.
        read, written: the names of its inputs and outputs, "" for one that is left out.
        values: what is known of each input.
        graphs, attributes: by name.
        for_gpu: whether the file is for a GPU.
    """

    operator: str
    read: Sequence[str]
    values: Sequence[Value | None]
    written: Sequence[str]
    graphs: Mapping[str, Inner]
    attributes: Mapping[str, Message]
    for_gpu: bool = False


def check_structure(node: Node) -> None:
    """Raise DamagedError unless the parts of a node fit together."""
    if node.operator in _CHECKS:
        _CHECKS[node.operator](node)


def _split(node: Node) -> None:
    parts, outputs = len(node.written), node.attributes.get("num_outputs")
    sizes = node.values[1] if len(node.values) > 1 else None
    # An onnxruntime that knows WebGPU checks sizes when it runs.
    if node.for_gpu and outputs is None and sizes is not None and sizes.size is None:
        return
    if (outputs is None) == (sizes is None or sizes.numbers is None):
        raise DamagedError("node 'Split' needs either num_outputs or the sizes as a constant")
    count = outputs.integer(3) if outputs is not None else sizes.size if sizes is not None else 0
    if count != parts:
        raise DamagedError(f"node 'Split' has {parts} outputs, but is told to make {count} parts")
    if sizes is not None and min(sizes.numbers or (0,)) < 0:
        raise DamagedError("node 'Split' is told to make a part of less than nothing")


def _loop(node: Node) -> None:
    if not all(node.read[2:]) or not node.read[0]:
        raise DamagedError("node 'Loop' has no number of steps at most, or leaves a value out")
    steps = node.values[0]
    if steps is None or steps.rank != 0:
        raise DamagedError("node 'Loop' needs one number of steps; this may be none, or several")
    constant = steps.size is not None
    if constant and (steps.numbers is None or max(steps.numbers) > MOST_STEPS):
        raise DamagedError(f"node 'Loop' takes more than {MOST_STEPS:,} steps")
    carried = len(node.read) - 2
    _check_graph(node, "body", inputs=carried + 2, least=carried + 1, outputs=len(node.written) + 1)
    going, *others = node.graphs["body"].outputs
    if going.rank != 0:
        raise DamagedError("the body of a 'Loop' must say by one truth value whether to go on")
    for start, after in zip(node.values[2:], others, strict=False):
        if start is not None and start.rank == 0 and after.rank != 0:
            raise DamagedError("a 'Loop' starts from one number, which may become none or several")


def body_inputs(values: Sequence[Value | None]) -> list[Value]:
    """What is known of the inputs of a Loop's body. The step and whether to go on are one number
    each, and so is what starts as one."""
    carried = (value is not None and value.rank == 0 for value in values[2:])
    number = Value(rank=0, one=True)
    return [number if one else Value() for one in (True, True, *carried)]


def _if(node: Node) -> None:
    for name in ("then_branch", "else_branch"):
        _check_graph(node, name, inputs=0, least=1, outputs=len(node.written))


def _check_graph(node: Node, name: str, *, inputs: int, least: int, outputs: int) -> None:
    graph = node.graphs.get(name)
    if graph is None:
        raise DamagedError(f"a node has no {name}")
    actual = graph.inputs, len(graph.outputs)
    if actual != (inputs, outputs) or outputs < least:
        has = f"has {actual[0]} inputs and {actual[1]} outputs; expected {inputs} and {outputs}"
        raise DamagedError(f"the graph {name} of a node {has}")


def _constant_shape(place: int) -> Callable[[Node], None]:
    """The check of an operator that reads a shape from this input. A shape has no size below -1,
    and -1 only once."""

    def check(node: Node) -> None:
        value = node.values[place] if place < len(node.values) else None
        numbers = () if value is None or value.numbers is None else value.numbers
        if any(number < -1 for number in numbers) or sum(number == -1 for number in numbers) > 1:
            raise DamagedError(f"a node is told the shape {numbers}"[:200])

    return check


_CHECKS: Final[Mapping[str, Callable[[Node], None]]] = {
    "Split": _split,
    "Loop": _loop,
    "If": _if,
    "Reshape": _constant_shape(1),
    "Expand": _constant_shape(1),
    "ConstantOfShape": _constant_shape(0),
}
