"""Export of the methods of plugins by torch: cells, task heads, embeddings and parsers. Raises
ExportError with the module, the method and the reason if one cannot be exported."""

import copy
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import onnx
import torch
from onnx import numpy_helper
from torch import Tensor, nn

from thinstack.core.cell import Cell, Links
from thinstack.core.embedding import Embedding
from thinstack.core.head import TaskHead
from thinstack.export.onnx.graph import Graph, set_nodes, subgraphs
from thinstack.export.onnx.torch_export import Part, export_part, export_together
from thinstack.export.onnx.value import Value

ROWS, EDGES = 5, 7  # of the examples: sizes that do not occur in cells
MOST_ROWS = 2**31 - 1  # torch 2.6 rejects unlimited sizes, which could be its infinity


class Parts(NamedTuple):
    """The exported methods of a cell, and of a head that reads its outputs. A state is a value
    (n, width) for each of its parts."""

    leaf: onnx.GraphProto  # inputs (n, X) -> state
    compose: onnx.GraphProto  # inputs (n, inner_size), owner, kind, children's state -> state
    output: onnx.GraphProto | None  # state -> outputs (n, H); None for the first part
    scores: onnx.GraphProto | None  # outputs (n, H) -> scores (n, C); None without a head
    word_part: int  # as in a `Cell`
    widths: list[int]  # of the values that `read` returns

    def outputs(self, g: Graph, state: list[Value]) -> Value:
        """Write the outputs (n, H) of nodes, from each part of their states."""
        return state[0] if self.output is None else inline(g, self.output, state)[0]

    def read(self, g: Graph, state: list[Value]) -> list[Value]:
        """Write the head's scores (n, C) of nodes, or without a head their outputs (n, H) and, if
        the cell has them, head-word vectors (n, W)."""
        outputs = self.outputs(g, state)
        if self.scores is not None:
            return inline(g, self.scores, [outputs])
        return [outputs] if self.word_part < 0 else [outputs, state[self.word_part]]


def export_cell(cell: Cell, head: TaskHead | None = None) -> Parts:
    """Export a cell, and a head over its outputs, from copies in evaluation mode."""
    cell, name, n = copy.deepcopy(cell).eval(), type(cell).__name__, _any("n")
    if cell.arity > 0:
        owner, kind = torch.arange(0), torch.ones(ROWS, cell.arity, dtype=torch.long)
        children = [torch.rand(ROWS, cell.arity, width) for width in cell.state_sizes]
        links = [None, n, *[n] * len(children)]
    else:
        owner, kind = torch.arange(EDGES) % ROWS, torch.ones(EDGES, dtype=torch.long)
        children = [torch.rand(EDGES, width) for width in cell.state_sizes]
        links = [_any("edges")] * (2 + len(children))

    def compose(inputs: Tensor, owner: Tensor, kind: Tensor, *below: Tensor) -> Any:
        return tuple(cell.compose(inputs, list(below), Links(owner, kind)))

    def leaf(inputs: Tensor) -> Any:
        return tuple(cell.leaf(inputs))

    def output(*state: Tensor) -> Any:
        return (cell.output(list(state)),)

    words = [torch.rand(ROWS, cell.input_size)]
    composed = [torch.rand(ROWS, cell.inner_size), owner, kind, *children]
    parts = [
        Part(f"{name}.leaf", leaf, words, [_any("words")], cell=cell),
        Part(f"{name}.compose", compose, composed, [n, *links], cell=cell),
    ]
    if has_output := type(cell).output is not Cell.output:
        state = [torch.rand(ROWS, width) for width in cell.state_sizes]
        parts.append(Part(f"{name}.output", output, state, [_any("nodes")] * len(state), cell=cell))
    if head is not None:
        parts.append(_scoring(head, cell.hidden_size))
    graphs = export_together(parts)
    word_sizes = [] if cell.word_part < 0 else [cell.state_sizes[cell.word_part]]
    return Parts(
        leaf=graphs[0],
        compose=graphs[1],
        output=graphs[2] if has_output else None,
        scores=None if head is None else graphs[-1],
        word_part=cell.word_part,
        widths=[cell.hidden_size, *word_sizes] if head is None else [head.classes],
    )


def _any(name: str) -> dict[int, Any]:
    """Any number of rows, including 0."""
    return {0: _size(name)}


def _size(name: str) -> Any:
    return torch.export.Dim(name, min=0, max=MOST_ROWS)


class SideBySide(TaskHead):
    """The scores (n, C) of a head of nodes, followed by the vectors (n, D) of another."""

    def __init__(self, head: TaskHead, vectors: TaskHead):
        classes = head.classes + vectors.classes
        super().__init__(hidden_size=head.hidden_size, classes=classes, reads="nodes")
        self.head, self.vectors = head, vectors

    def scores(self, rows: Tensor) -> Tensor:
        return torch.cat([self.head.scores(rows), self.vectors.scores(rows)], 1)


def export_head(head: TaskHead, width: int) -> onnx.GraphProto:
    """Export the scores (n, C) of a task head, from rows (n, width)."""
    return export_part(_scoring(head, width))


def _scoring(head: TaskHead, width: int) -> Part:
    head, name = copy.deepcopy(head).eval(), f"{type(head).__name__}.scores"
    rows = [torch.rand(ROWS, width)]
    return Part(name, lambda rows: (head.scores(rows),), rows, [_any("rows")], head=head)


def export_embedding(embedding: Embedding) -> onnx.GraphProto:
    """Export the vectors (L, X) of words, from the embedding's index inputs, int64, in order."""
    embedding, names = copy.deepcopy(embedding).eval(), embedding.index_names
    spare = (torch.arange(ROWS) < EDGES - ROWS).long()
    examples = {
        "token_ids": torch.zeros(ROWS, dtype=torch.long),
        "piece_ids": torch.zeros(EDGES, dtype=torch.long),
        "pieces_per_word": 1 + spare,
    }
    words, pieces = _any("words"), _any("pieces")
    sizes = {"token_ids": words, "piece_ids": pieces, "pieces_per_word": words}

    def vectors(*indices: Tensor) -> Any:
        return embedding(dict(zip(names, indices, strict=True)))

    name, example = f"{type(embedding).__name__}.forward", [examples[one] for one in names]
    free = [sizes[one] for one in names]
    return export_part(Part(name, vectors, example, free, embedding=embedding))


def export_module(
    module: nn.Module, prefix: str, examples: Sequence[Tensor], sizes: Sequence[Mapping[int, str]]
) -> onnx.GraphProto:
    """Export `forward` of a module in evaluation mode, from `examples` of sizes that do not occur
    in it. `sizes`: for each argument, the names of the sizes that may be any number, by dimension;
    equal names mean equal sizes. `prefix`: of the names of its weights."""
    module, name = copy.deepcopy(module).eval(), f"{type(module).__name__}.forward"
    size_of = {size: _size(size) for named in sizes for size in named.values()}
    free = [{place: size_of[size] for place, size in named.items()} for named in sizes]
    return export_part(Part(name, module.__call__, examples, free, **{prefix: module}))


def inline(g: Graph, part: onnx.GraphProto, inputs: list[Value]) -> list[Value]:
    """Copy the operators and attributes of an exported part into `g`, without stack traces and
    paths, and return its outputs. Weights go to the root."""
    names = {value.name: value_in.name for value, value_in in zip(part.input, inputs, strict=True)}
    for tensor in part.initializer:
        value = numpy_helper.to_array(tensor)
        is_weight = value.ndim > 0 and value.dtype.kind == "f"
        names[tensor.name] = (g.weight(value, tensor.name) if is_weight else g.constant(value)).name
    for node in part.node:
        if node.op_type == "Identity":
            names[node.output[0]] = names[node.input[0]]
        else:
            g.nodes.append(_renamed(node, names, g))
    return [Value(g, names[value.name]) for value in part.output]


def _renamed(node: onnx.NodeProto, names: dict[str, str], g: Graph) -> onnx.NodeProto:
    """Return a copy of `node` with unique names, which `names` maps from the old ones."""
    copied = onnx.NodeProto(op_type=node.op_type, name=g.unique(node.op_type))
    copied.input.extend(names[name] if name else "" for name in node.input)
    copied.attribute.extend(node.attribute)
    for attribute in copied.attribute:
        attribute.ClearField("doc_string")
    for graph in subgraphs(copied):
        inside = dict(names)
        for value in (*graph.input, *graph.initializer):
            inside[value.name] = g.unique("inner")
            value.name = inside[value.name]
        set_nodes(graph, [_renamed(inner, inside, g) for inner in graph.node])
        del graph.value_info[:]
        for value in graph.output:
            value.name = inside[value.name]
    for name in node.output:
        if name:
            names[name] = g.unique(f"{node.op_type}_{len(names)}")
    copied.output.extend(names[name] if name else "" for name in node.output)
    return copied
