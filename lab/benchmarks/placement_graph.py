"""Where onnxruntime runs the nodes of an ONNX file beside a GPU, without one: from a list of the
provider's kernels, by the rules of onnxruntime.

A node runs on the GPU if the provider has a kernel for its operator and types. What only computes
shapes stays on the host: from a value that a kernel leaves there (a `Shape`), a node whose other
inputs are of the host or small constants follows it. A value that both sides use is copied once in
its graph. The rules are those of onnxruntime's `GetCpuPreferredNodes` and `TransformerMemcpy`. It
optimises a file at level 1 before it places nodes, and so must who asks; what it fuses later is
not followed.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import onnx
from onnx import defs, helper
from placement_kernels import OPSET, Kernel, Kernels, variables

SMALL: Final = 100  # numbers of a constant that does not keep a node on the GPU
HOST: Final = ".host"
"""The end of the names of nodes that a file keeps on the host."""


@dataclass(frozen=True)
class Placed:
    """A node, whether it runs on the GPU, and its bodies if it is a loop or condition."""

    node: onnx.NodeProto
    gpu: bool
    bodies: tuple["Level", ...]


@dataclass
class Level:
    """A graph whose nodes are placed: the main one, or a body of a control-flow node.

    Attributes:
        loops: how many loops it lies in.
        to_gpu, to_host: values that onnxruntime copies by a node of its own.
        gpu_reads, host_reads, gpu_writes: values, by who reads and writes them.
    """

    graph: onnx.GraphProto
    loops: int
    nodes: list[Placed] = field(default_factory=list)
    to_gpu: list[str] = field(default_factory=list)
    to_host: list[str] = field(default_factory=list)
    gpu_reads: set[str] = field(default_factory=set)
    host_reads: set[str] = field(default_factory=set)
    gpu_writes: set[str] = field(default_factory=set)

    def levels(self) -> Iterator["Level"]:
        """This graph and all below it."""
        yield self
        for placed in self.nodes:
            for body in placed.bodies:
                yield from body.levels()

    def reads(self, name: str) -> bool:
        """Whether a node of this graph itself reads a value."""
        return name in self.gpu_reads or name in self.host_reads

    def wants_on_gpu(self, name: str) -> bool:
        """Whether a value from outside is wanted on the GPU, and nowhere else."""
        return name in self.gpu_reads and name not in self.host_reads


@dataclass(frozen=True)
class Crossing:
    """A value that crosses between host and GPU whenever a body begins or ends, or with the batch.
    onnxruntime has no node for it, so that a profile does not show it."""

    value: str
    to_gpu: bool
    level: Level


class Scope:
    """What is known of the values of a graph and of those around it: types, and constants."""

    def __init__(self, graph: onnx.GraphProto, outer: "Scope | None" = None):
        self.types: dict[str, str] = dict(outer.types) if outer else {}
        self.constants: dict[str, int] = dict(outer.constants) if outer else {}
        for each in (*graph.input, *graph.value_info, *graph.output):
            self.types[each.name] = _type(each.type.tensor_type.elem_type)
        for tensor in graph.initializer:
            self.types[tensor.name] = _type(tensor.data_type)
            self.constants[tensor.name] = math.prod(tensor.dims)
        for node in graph.node:
            self.types.update(zip(node.output, self._outputs(node), strict=False))

    def _outputs(self, node: onnx.NodeProto) -> list[str]:
        """The types of what a node gives: those of its graphs, of an attribute, of its inputs."""
        attributes = {each.name: each for each in node.attribute}
        if bodies := bodies_of(node):
            given = bodies[0].output[node.op_type == "Loop" :]
            return [_type(each.type.tensor_type.elem_type) for each in given]
        if node.op_type == "Cast":
            return [_type(attributes["to"].i)]
        if node.op_type == "ConstantOfShape":
            value = attributes.get("value")
            return [_type(value.t.data_type) if value else "float"]
        schema = defs.get_schema(node.op_type, OPSET, node.domain)
        known = {  # an operator may fix the type of what it gives
            each.type_param_str: each.allowed_type_strs[0][len("tensor(") : -1]
            for each in schema.type_constraints
            if len(each.allowed_type_strs) == 1
        }
        known |= variables(schema.inputs, self.of(node.input))
        formal = [*schema.outputs, *[schema.outputs[-1]] * len(node.output)]  # the last may be many
        return [known.get(each.type_str, each.type_str[len("tensor(") : -1]) for each in formal]

    def of(self, names: Sequence[str]) -> list[str]:
        return [self.types[name] if name else "" for name in names]


def _type(number: int) -> str:
    return helper.tensor_dtype_to_string(number)[len("TensorProto.") :].lower()


def place(model: onnx.ModelProto, kernels: Kernels) -> Level:
    """The main graph with all of its nodes placed."""
    return _level(model.graph, kernels, Scope(model.graph), 0, ())


def _level(
    graph: onnx.GraphProto, kernels: Kernels, scope: Scope, loops: int, around: tuple[str, ...]
) -> Level:
    """Place the nodes of a graph, bodies first. `around` are the values that it reads of others."""
    level = Level(graph, loops)
    found = {
        place: kernel
        for place, node in enumerate(graph.node)
        if not (kernels.takes_names and node.name.endswith(HOST))
        and (kernel := kernels.of(node.op_type, scope.of(node.input), scope.of(node.output)))
    }
    host = _of_the_host(graph, found, scope, kernels.follows_host)
    for place, node in enumerate(graph.node):
        kernel = found.get(place) if place not in host else None
        deeper = loops + (node.op_type == "Loop")
        bodies = tuple(
            _level(body, kernels, Scope(body, scope), deeper, free_names(body))
            for body in bodies_of(node)
        )
        level.nodes.append(Placed(node, kernel is not None, bodies))
        _sort_values(level, node, kernel, scope)
    _copies(level, around)
    return level


def bodies_of(node: onnx.NodeProto) -> list[onnx.GraphProto]:
    return [each.g for each in node.attribute if each.type == onnx.AttributeProto.GRAPH]


def free_names(graph: onnx.GraphProto) -> tuple[str, ...]:
    """The values of outer graphs that a graph reads, its own graphs with it."""
    own = {each.name for each in (*graph.input, *graph.initializer)}
    names: dict[str, None] = {}
    for node in graph.node:
        inner = [name for body in bodies_of(node) for name in free_names(body)]
        names.update(dict.fromkeys(n for n in (*node.input, *inner) if n and n not in own))
        own.update(node.output)
    names.update(dict.fromkeys(each.name for each in graph.output if each.name not in own))
    return tuple(names)


def _of_the_host(
    graph: onnx.GraphProto, found: Mapping[int, Kernel], scope: Scope, follows_host: bool
) -> set[int]:
    """The places of the nodes that stay on the host though there is a kernel."""
    readers: dict[str, list[int]] = {}
    for place, node in enumerate(graph.node):
        inner = [name for body in bodies_of(node) for name in free_names(body)]
        for name in {*node.input, *inner}:
            readers.setdefault(name, []).append(place)
    inputs = {each.name for each in graph.input}
    on_host = {
        graph.node[place].output[each]
        for place, kernel in found.items()
        for each in kernel.host_outputs
    }
    waiting = {place for name in on_host for place in readers.get(name, ())}
    stay: set[int] = set()
    for place, node in enumerate(graph.node):  # in an order that computes
        if place not in waiting:
            continue
        kernel = found.get(place)
        if kernel is None and not follows_host:
            continue
        if kernel is not None:
            reads = ((name, at in kernel.host_inputs) for at, name in enumerate(node.input) if name)
            if not all(_may_stay(*each, on_host, inputs, scope) for each in reads):
                continue
            stay.add(place)
        on_host.update(node.output)
        waiting.update(reader for name in node.output for reader in readers.get(name, ()))
    return stay


def _may_stay(
    name: str, reads_host: bool, on_host: set[str], inputs: set[str], scope: Scope
) -> bool:
    if scope.types[name] == "float16":
        return False
    if scope.constants.get(name, SMALL + 1) <= SMALL or name in inputs:
        return True
    return name in on_host and not reads_host


def _sort_values(level: Level, node: onnx.NodeProto, kernel: Kernel | None, scope: Scope) -> None:
    """Note who reads and writes the values of a node. Constants lie on both sides; what its bodies
    read, they see to."""
    for position, name in enumerate(node.input):
        if name and name not in scope.constants:
            on_gpu = kernel is not None and position not in kernel.host_inputs
            (level.gpu_reads if on_gpu else level.host_reads).add(name)
    if kernel is None:
        return
    level.gpu_writes.update(
        name
        for position, name in enumerate(node.output)
        if name and position not in kernel.host_outputs
    )


def _copies(level: Level, around: tuple[str, ...]) -> None:
    """Note the copies that get nodes of their own."""
    inputs = [*(each.name for each in level.graph.input), *around]
    both = [name for name in inputs if name in level.gpu_reads and name in level.host_reads]
    written = [name for placed in level.nodes for name in placed.node.output if name]
    level.to_gpu = both + [
        name for name in written if name in level.gpu_reads and name not in level.gpu_writes
    ]
    level.to_host = [
        name for name in written if name in level.host_reads and name in level.gpu_writes
    ]


def crossings(main: Level) -> Iterator[Crossing]:
    """What crosses at the edges of graphs: a batch's inputs and outputs, and what the bodies of
    loops and conditions take and give each time."""
    for each in main.graph.input:
        if main.wants_on_gpu(each.name):
            yield Crossing(each.name, True, main)
    for each in main.graph.output:
        if each.name in main.gpu_writes:
            yield Crossing(each.name, False, main)
    yield from _below(
        main, {each.name for each in main.graph.input if main.wants_on_gpu(each.name)}
    )


def _below(level: Level, outside: set[str]) -> Iterator[Crossing]:
    """What crosses below a graph; `outside` are values of other graphs that lie on the GPU."""
    there = outside | level.gpu_writes
    for placed in level.nodes:
        for body in placed.bodies:
            takes = _takes(placed, body, there)
            for name, on_gpu in takes.items():
                if body.reads(name) and on_gpu != body.wants_on_gpu(name):
                    yield Crossing(name, not on_gpu, body)
            for position, each in enumerate(body.graph.output):
                on_gpu = placed.gpu and (position > 0 or placed.node.op_type != "Loop")
                if on_gpu != (each.name in body.gpu_writes):
                    yield Crossing(each.name, on_gpu, body)
            inside = {
                name
                for name, on_gpu in takes.items()
                if (body.wants_on_gpu(name) if body.reads(name) else on_gpu)
            }
            yield from _below(body, inside)


def _takes(placed: Placed, body: Level, there: set[str]) -> dict[str, bool]:
    """What a body is given, and whether that lies on the GPU: what it reads of other graphs is
    where it was made; a loop's own values are where the loop runs, but its count and condition on
    the host."""
    own = {each.name: placed.gpu and at > 1 for at, each in enumerate(body.graph.input)}
    return own | {name: name in there for name in free_names(body.graph)}
