"""Placement of the nodes of a graph on a GPU or the host, and transfers between them. The GPU
computes numbers, and the host integers, because it builds the trees. Each transfer costs a fixed
time, and each one to the host a wait. Therefore all integers that the GPU will need cross at once,
as one flat vector of int32, and host nodes run as early as possible, so that a transfer includes as
much as possible."""

from collections.abc import Iterator, Sequence
from itertools import accumulate, chain
from typing import Final

import numpy as np
import onnx
from onnx import TensorProto

from thinstack.export.onnx.crossing import BOOL, INT32, INT64, Places, cross
from thinstack.export.onnx.graph import graphs_in, set_nodes, subgraphs, walk
from thinstack.export.onnx.passes import STEP

FLOATS: Final = {TensorProto.FLOAT, TensorProto.FLOAT16}

ON_HOST: Final = {
    **{kind: {1} for kind in ("Reshape", "Expand", "Unsqueeze", "Squeeze", "Split", "Tile")},
    **{kind: {1} for kind in ("ReduceSum", "ReduceMax", "ReduceMean")},
    "Slice": {1, 2, 3, 4},
    "Pad": {1, 3},
    "Clip": {1, 2},
    "Range": {0, 1, 2},
    **{kind: {0} for kind in ("ConstantOfShape", "If")},
    "Loop": {0, 1},
}
"""Inputs that the kernels of a GPU read from host memory, by operator."""
SIZES: Final = {"Shape", "Size"}
"""Operators whose result for a value on the GPU is known without a copy."""
WHOLE: Final = {
    *("Split", "Reshape", "Unsqueeze", "Squeeze", "Expand", "Concat", "Gather", "Range"),
    *("Add", "Sub", "Mul", "Div", "Min", "Max", "Clip", "Cast", "Equal", "Greater", "Less"),
}
"""Operators of int32 in onnxruntime's WebGPU provider, for steps to use on transferred values."""
MOST_NAMES: Final = 8192
"""Maximum characters of an onnxruntime setting, such as the names of host nodes, one per line."""
ONLY_INT64: Final = {"ScatterND": 1, "GatherND": 1}
"""The input that must be int64 in ONNX, and that the kernel reads on the GPU."""


def place(model: onnx.ModelProto) -> list[str]:
    """Order the nodes of a model for a GPU, in place, with as few copies to the GPU as possible.
    Returns the names of the nodes to run on the host."""
    placement = _Placement(model)
    placement.widen(model)
    placement.use_crossed(model)
    placement.order(model.graph)
    # Short, because onnxruntime accepts only so many characters; outer graphs first.
    short = {name: f"h{number:x}" for number, name in enumerate(reversed(placement.host))}
    for node in walk(model.graph.node):
        node.name = short.get(node.name, node.name)
    ends = accumulate(len(name) + 1 for name in short.values())
    return [name for name, end in zip(short.values(), ends, strict=True) if end <= MOST_NAMES]


class _Placement:
    def __init__(self, model: onnx.ModelProto):
        self.places = Places(model)
        self.host: list[str] = []
        self._keep_branches(model.graph)

    def is_hosts(self, name: str) -> bool:
        """Return whether a value is in host memory."""
        if name in self.places.on_gpu or name in self.places.constants:
            return False
        return name in self.places.on_host or self.places.types[name] not in FLOATS

    def runs_on_host(self, node: onnx.NodeProto) -> bool:
        return node.op_type == "Loop" or any(self.is_hosts(name) for name in node.output if name)

    def reads(self, node: onnx.NodeProto) -> Iterator[tuple[onnx.NodeProto, int, str]]:
        """Iterate over the host values that a node, or a node in its graphs, reads on the GPU: the
        reading node, the index of its input, and the value."""
        for inner in walk([node]):
            if inner.op_type in SIZES or self.runs_on_host(inner):
                continue
            left = ON_HOST.get(inner.op_type, ())
            for place, name in enumerate(inner.input):
                if name and place not in left and self.is_hosts(name):
                    yield inner, place, name

    def _keep_branches(self, graph: onnx.GraphProto) -> None:
        """Keep everything in branches with integer results on the host."""
        for node in graph.node:
            for inner in subgraphs(node):
                if node.op_type == "If" and self.runs_on_host(node):
                    outputs = (name for child in walk(inner.node) for name in child.output)
                    self.places.on_host |= {*outputs}
                else:
                    self._keep_branches(inner)

    def widen(self, model: onnx.ModelProto) -> None:
        """Let the GPU convert transferred int32 to int64 if a node requires it."""
        for graph in graphs_in(model.graph):
            nodes = list[onnx.NodeProto]()
            for node in graph.node:
                place = ONLY_INT64.get(node.op_type, -1)
                reads = place >= 0 and self.is_hosts(node.input[place])
                if reads and not self.runs_on_host(node):
                    node.input[place] = self.places.add(nodes, "Cast", node.input[place], to=INT64)
                    self.places.on_gpu.add(node.input[place])
                nodes.append(node)
            set_nodes(graph, nodes)

    def use_crossed(self, model: onnx.ModelProto) -> None:
        """Let steps compute on the GPU with transferred values, without copies in a step."""
        steps = [graph for graph in graphs_in(model.graph) if graph.name.startswith(STEP)]
        movable = self._whole_on_gpu(model.graph, steps)
        for graph in reversed(steps):  # those inside first, as nodes are copied
            nodes = [self._on_gpu(n) if n.name in movable else [n] for n in graph.node]
            set_nodes(graph, chain.from_iterable(nodes))

    def _whole_on_gpu(self, graph: onnx.GraphProto, steps: list[onnx.GraphProto]) -> set[str]:
        """Return the nodes of steps that compute integers for the GPU only, from values outside."""
        nodes = {node.name: node for step in steps for node in step.node}
        of_steps = {name for node in nodes.values() for name in node.output}
        readers: dict[str, list[tuple[onnx.NodeProto, int]]] = {}
        for node in walk(graph.node):
            for place, name in enumerate(node.input):
                readers.setdefault(name, []).append((node, place))
        candidates = {
            name: node
            for name, node in nodes.items()
            if node.op_type in WHOLE and self.places.types[node.output[0]] in (INT64, BOOL)
            if node.output[0] not in self.places.on_gpu
        }
        while True:
            results = {name for node in candidates.values() for name in node.output}
            remaining = {
                name: node
                for name, node in candidates.items()
                if self._has(node, of_steps, results)
                and all(self._is_for_gpu(readers.get(out, ()), results) for out in node.output)
            }
            if len(remaining) == len(candidates):
                return {*candidates}
            candidates = remaining

    def _has(self, node: onnx.NodeProto, of_steps: set[str], results: set[str]) -> bool:
        """Return whether all data that a node reads is on the GPU, or can be transferred."""
        left = ON_HOST.get(node.op_type, ())
        data = (name for place, name in enumerate(node.input) if place not in left and name)
        return all(
            name in results
            or name in self.places.constants
            or (name not in of_steps and self.is_hosts(name))
            for name in data
        )

    def _is_for_gpu(self, readers: Sequence[tuple[onnx.NodeProto, int]], results: set[str]) -> bool:
        """Return whether all readers of a value are on the GPU."""
        return all(
            node.op_type in SIZES
            or (
                place not in ON_HOST.get(node.op_type, ())
                and (not self.runs_on_host(node) or node.output[0] in results)
            )
            for node, place in readers
        )

    def _on_gpu(self, node: onnx.NodeProto) -> list[onnx.NodeProto]:
        """Return nodes that compute the same on the GPU, with int32 instead of int64."""
        places, before = self.places, list[onnx.NodeProto]()
        places.on_gpu |= {*node.output}
        for name in node.output:
            places.types[name] = INT32 if places.types[name] == INT64 else BOOL
        left = () if node.op_type in ("Clip", "Range") else ON_HOST.get(node.op_type, ())
        for place, name in enumerate(node.input):
            if place in left:
                continue
            if name in places.constants and places.constants[name].dtype == np.int64:
                value = places.constants[name].astype(np.int32)
                node.input[place] = places.add_constant(before, value)
            elif node.op_type == "Range":
                node.input[place] = places.add(before, "Cast", name, to=INT32)
        for attribute in node.attribute:
            if node.op_type == "Cast" and attribute.name == "to" and attribute.i == INT64:
                attribute.i = INT32
        return [*before[::-1], node]

    def order(self, graph: onnx.GraphProto) -> None:
        """Order the nodes of a graph and its subgraphs, and insert transfers."""
        produced = {name for node in graph.node for name in node.output}
        here, ready = produced | {value.name for value in graph.input}, set[str]()
        waiting, ordered = list(graph.node), list[onnx.NodeProto]()
        while waiting:
            missing = produced - ready
            can = [n for n in waiting if not any(missing & {*one.input} for one in walk([n]))]
            wanted = {id(n): {v for *_, v in self.reads(n) if v in here} for n in can}
            free = [node for node in can if not wanted[id(node)]]
            first = [node for node in free if self.runs_on_host(node)] or free[:1]
            if not first:
                readers = [reading for node in waiting for reading in self.reads(node)]
                crossing = {v for *_, v in readers if v in here and v not in produced - ready}
                first, names = cross(self.places, sorted(crossing))
                for reader, place, value in readers:
                    reader.input[place] = names.get(value, value)
            ordered += first
            ready |= {name for node in first for name in node.output}
            taken = {id(node) for node in first}
            waiting = [node for node in waiting if id(node) not in taken]
        for node in ordered:
            for inner in subgraphs(node):
                self.order(inner)
        self.host += [node.name for node in ordered if self._is_forced(node)]
        set_nodes(graph, ordered)

    def _is_forced(self, node: onnx.NodeProto) -> bool:
        if node.output[0] in self.places.on_host:
            return True
        sized = node.op_type in SIZES and not self.is_hosts(node.input[0])
        return self.runs_on_host(node) and not sized and node.op_type != "Constant"
