"""Which nodes of a graph run on a GPU and which on the host, and what crosses between the two.

Numbers are the GPU's, and whole numbers are the host's: trees are made there. Each copy between the
two costs a fixed time, and each copy to the host a wait. So all whole numbers that the GPU is known
to need cross at once, as one flat vector of int32, which the GPU cuts. Nodes of the host come as
early as they can, so that a crossing takes as much as possible.
"""

from collections.abc import Iterator
from typing import Final

import numpy as np
import onnx
from onnx import TensorProto

from thinstack.export.onnx.crossing import INT32, INT64, Places, cross
from thinstack.export.onnx.graph import set_nodes, subgraphs, walk

__all__ = ["place"]

FLOATS: Final = {TensorProto.FLOAT, TensorProto.FLOAT16}

ON_HOST: Final = {
    "Reshape": {1},
    "Expand": {1},
    "Unsqueeze": {1},
    "Squeeze": {1},
    "ReduceSum": {1},
    "ReduceMax": {1},
    "ReduceMean": {1},
    "Slice": {1, 2, 3, 4},
    "Split": {1},
    "Tile": {1},
    "Pad": {1, 3},
    "ConstantOfShape": {0},
    "Clip": {1, 2},
    "If": {0},
    "Loop": {0, 1},
}
"""Inputs that a GPU's kernels read in the memory of the host, by operator."""
SIZES: Final = {"Shape", "Size"}
"""What they give of a value on the GPU is known without a copy."""
CUTS: Final = {"Split", "Reshape", "Unsqueeze", "Squeeze", "Expand", "Add", "Sub", "Cast"}
"""What a step does on the GPU with whole numbers that crossed before it."""


def place(model: onnx.ModelProto) -> list[str]:
    """Order the nodes of a model for a GPU, in place, and let what the GPU reads cross in as few
    copies as possible. Returns the names of the nodes that are the host's."""
    placement = _Placement(model)
    placement.cut_on_gpu(model.graph, in_step=False)
    placement.order(model.graph)
    return placement.host


class _Placement:
    """Places the nodes of a model."""

    def __init__(self, model: onnx.ModelProto):
        self.places = Places(model)
        self.host: list[str] = []
        self._keep_branches(model.graph)

    def is_hosts(self, name: str) -> bool:
        """Whether a value is made in the host's memory."""
        if name in self.places.on_gpu or name in self.places.constants:
            return False
        return name in self.places.on_host or self.places.types[name] not in FLOATS

    def runs_on_host(self, node: onnx.NodeProto) -> bool:
        return node.op_type == "Loop" or any(self.is_hosts(name) for name in node.output if name)

    def reads(self, node: onnx.NodeProto) -> Iterator[tuple[onnx.NodeProto, int, str]]:
        """The host's values that a node, or a node of a graph in it, reads on the GPU: the node
        that reads, its input, and the value."""
        for inner in walk([node]):
            if inner.op_type in SIZES or self.runs_on_host(inner):
                continue
            left = ON_HOST.get(inner.op_type, ())
            for place, name in enumerate(inner.input):
                if name and place not in left and self.is_hosts(name):
                    yield inner, place, name

    def _keep_branches(self, graph: onnx.GraphProto) -> None:
        """Keep all that stands in branches with whole numbers as results on the host."""
        for node in graph.node:
            for inner in subgraphs(node):
                if node.op_type == "If" and self.runs_on_host(node):
                    made = (name for each in walk(inner.node) for name in each.output)
                    self.places.on_host |= {*made}
                else:
                    self._keep_branches(inner)

    def cut_on_gpu(self, graph: onnx.GraphProto, *, in_step: bool) -> None:
        """Let the steps of a pass cut what has crossed before them, so that nothing crosses in a
        step."""
        if in_step:
            found, nodes = self._cuts(graph), list[onnx.NodeProto]()
            for node in graph.node:
                nodes += self._on_gpu(node) if node.output[0] in found else [node]
            set_nodes(graph, [_copy(node) for node in nodes])
        for node in graph.node:
            steps = node.op_type == "Loop" or (node.op_type == "If" and not self.runs_on_host(node))
            for inner in subgraphs(node):
                self.cut_on_gpu(inner, in_step=steps)

    def _cuts(self, graph: onnx.GraphProto) -> set[str]:
        """What is cut from values of the graphs around this one, and read by the GPU only."""
        own = {name for node in graph.node for name in node.output}
        own |= {value.name for value in graph.input}
        found: set[str] = set()
        for node in graph.node:
            left = ON_HOST.get(node.op_type, ())
            data = (name for place, name in enumerate(node.input) if place not in left)
            given = [name for name in data if name not in self.places.constants]
            fit = all(name in found or (name not in own and self._is_whole(name)) for name in given)
            whole = self.places.types[node.output[0]] == INT64
            if node.op_type in CUTS and given and fit and whole:
                found |= {*node.output}
        while True:
            kept = {name for name in found if all(self._fits(n, name, found) for n in graph.node)}
            if kept == found:
                return found
            found = kept

    def _is_whole(self, name: str) -> bool:
        """Whether a value is whole numbers, wherever they are."""
        return name in self.places.on_gpu or self.is_hosts(name)

    def _fits(self, reader: onnx.NodeProto, name: str, found: set[str]) -> bool:
        """Whether a node, and all in it, reads a value on the GPU, or not at all."""
        for inner in walk([reader]):
            for place, read in enumerate(inner.input):
                if read != name or inner.op_type in SIZES:
                    continue
                on_gpu = not self.runs_on_host(inner) or inner.output[0] in found
                if not on_gpu or place in ON_HOST.get(inner.op_type, ()):
                    return False
        return True

    def _on_gpu(self, node: onnx.NodeProto) -> list[onnx.NodeProto]:
        """Nodes that give the same on the GPU, as int32."""
        places = self.places
        places.types |= dict.fromkeys(node.output, INT32)
        places.on_gpu |= {*node.output}
        nodes, left = [node], ON_HOST.get(node.op_type, ())
        for place, name in enumerate(node.input):
            if place not in left and name in places.constants:
                nodes.insert(0, places.constant(places.constants[name].astype(np.int32)))
                node.input[place] = nodes[0].name
        for attribute in node.attribute:
            if node.op_type == "Cast" and attribute.name == "to":
                attribute.i = INT32
        return nodes

    def order(self, graph: onnx.GraphProto) -> None:
        """Order the nodes of a graph and of those in it, and let values cross."""
        made = {name for node in graph.node for name in node.output}
        here, ready = made | {value.name for value in graph.input}, set[str]()
        waiting, ordered = list(graph.node), list[onnx.NodeProto]()
        while waiting:
            can = [node for node in waiting if self._may_run(node, made - ready)]
            wanted = {id(n): {v for *_, v in self.reads(n) if v in here} for n in can}
            free = [node for node in can if not wanted[id(node)]]
            first = [node for node in free if self.runs_on_host(node)] or free[:1]
            if not first:
                readers = [found for node in waiting for found in self.reads(node)]
                known = {v for *_, v in readers if v in here and v not in made - ready}
                first, names = cross(self.places, sorted(known))
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
        set_nodes(graph, [_copy(node) for node in ordered])

    def _may_run(self, node: onnx.NodeProto, missing: set[str]) -> bool:
        return not any(name in missing for inner in walk([node]) for name in inner.input)

    def _is_forced(self, node: onnx.NodeProto) -> bool:
        if node.output[0] in self.places.on_host:
            return True
        told = node.op_type in SIZES and not self.is_hosts(node.input[0])
        return self.runs_on_host(node) and not told and node.op_type != "Constant"


def _copy(node: onnx.NodeProto) -> onnx.NodeProto:
    copied = onnx.NodeProto()
    copied.CopyFrom(node)
    return copied
