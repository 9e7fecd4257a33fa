"""What plugins write, exported to ONNX by torch: parts of cells, scores of task heads, words of
embeddings, distances of parsers. What cannot be exported raises ExportError, which names the module
and the method, and says why."""

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
from thinstack.export.onnx.torch_export import Asked, Part, export_part, export_together
from thinstack.export.onnx.value import Value

ROWS, EDGES = 5, 7  # of the examples: sizes that no cell has a reason to have built in
MOST_ROWS = 2**31 - 1  # torch 2.6 refuses sizes without an end, which could be its infinity


class Parts(NamedTuple):
    """The exported parts of a cell, and of a head that reads its outputs.

    Attributes:
        leaf: inputs (n, X) -> each part of the state (n, width).
        compose: inputs (n, inner_size), owner, kind, each part of the children's states -> each
            part of the state.
        output: each part of the state -> outputs (n, H); None for a cell that leaves them as they
            are, because torch takes a second for each export.
        scores: outputs (n, H) -> scores (n, C); None without a head.
        word_part: as in a `Cell`.
        widths: of what `read` gives.
    """

    leaf: onnx.GraphProto
    compose: onnx.GraphProto
    output: onnx.GraphProto | None
    scores: onnx.GraphProto | None
    word_part: int
    widths: list[int]

    def outputs(self, g: Graph, state: list[Value]) -> Value:
        """The outputs (n, H) of nodes, from each part of their states."""
        return state[0] if self.output is None else inline(g, self.output, state)[0]

    def read(self, g: Graph, state: list[Value]) -> list[Value]:
        """The head's scores (n, C) of nodes. Without a head their outputs (n, H) and, if the cell
        has one, their head-word vector (n, W)."""
        outputs = self.outputs(g, state)
        if self.scores is not None:
            return inline(g, self.scores, [outputs])
        return [outputs] if self.word_part < 0 else [outputs, state[self.word_part]]


def export_cell(cell: Cell, head: TaskHead | None = None) -> Parts:
    """The parts of a cell, and of a head over its outputs, exported from copies in evaluation mode.
    The modules themselves are left as they are."""
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

    leaf = Part(lambda inputs: tuple(cell.leaf(inputs)), cell=cell)
    composed = [torch.rand(ROWS, cell.inner_size), owner, kind, *children]
    asked = [
        Asked(f"{name}.leaf", leaf, [torch.rand(ROWS, cell.input_size)], [_any("words")]),
        Asked(f"{name}.compose", Part(compose, cell=cell), composed, [n, *links]),
    ]
    if type(cell).output is not Cell.output:
        state, nodes = [torch.rand(ROWS, width) for width in cell.state_sizes], _any("nodes")
        output = Part(lambda *state: (cell.output(list(state)),), cell=cell)
        asked.append(Asked(f"{name}.output", output, state, [nodes] * len(state)))
    if head is not None:
        asked.append(_scoring(head, cell.hidden_size))
    graphs = export_together(asked)
    words = [] if cell.word_part < 0 else [cell.state_sizes[cell.word_part]]
    return Parts(
        leaf=graphs[0],
        compose=graphs[1],
        output=None if type(cell).output is Cell.output else graphs[2],
        scores=None if head is None else graphs[-1],
        word_part=cell.word_part,
        widths=[cell.hidden_size, *words] if head is None else [head.classes],
    )


def _any(name: str) -> dict[int, Any]:
    """Any number of rows, none too."""
    return {0: _size(name)}


def _size(name: str) -> Any:
    return torch.export.Dim(name, min=0, max=MOST_ROWS)


class SideBySide(TaskHead):
    """What two heads of nodes give, side by side: the scores (n, C) of one and the vectors (n, D)
    of the other."""

    def __init__(self, head: TaskHead, vectors: TaskHead):
        classes = head.classes + vectors.classes
        super().__init__(hidden_size=head.hidden_size, classes=classes, reads="nodes")
        self.head, self.vectors = head, vectors

    def scores(self, rows: Tensor) -> Tensor:
        return torch.cat([self.head.scores(rows), self.vectors.scores(rows)], 1)


def export_head(head: TaskHead, width: int) -> onnx.GraphProto:
    """The scores (n, C) of a task head, exported from rows (n, width)."""
    return export_part(*_scoring(head, width))


def _scoring(head: TaskHead, width: int) -> Asked:
    head = copy.deepcopy(head).eval()
    part = Part(lambda rows: (head.scores(rows),), head=head)
    return Asked(f"{type(head).__name__}.scores", part, [torch.rand(ROWS, width)], [_any("rows")])


def export_embedding(embedding: Embedding) -> onnx.GraphProto:
    """The vectors (L, X) of words, exported from the embedding's index inputs, int64, in order."""
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

    part, name = Part(vectors, embedding=embedding), f"{type(embedding).__name__}.forward"
    return export_part(name, part, [examples[one] for one in names], [sizes[one] for one in names])


def export_module(
    module: nn.Module, prefix: str, examples: Sequence[Tensor], sizes: Sequence[Mapping[int, str]]
) -> onnx.GraphProto:
    """What a module gives, exported in evaluation mode from the arguments of its `forward`.

    Args:
        module: the module.
        prefix: what the names of its weights begin with.
        examples: arguments, of sizes that the module has no reason to have built in.
        sizes: for each argument, the names of the sizes that may be any number, by dimension. Sizes
            of one name are equal.
    """
    module = copy.deepcopy(module).eval()
    size_of = {size: _size(size) for named in sizes for size in named.values()}
    free = [{place: size_of[size] for place, size in named.items()} for named in sizes]
    part = Part(module, **{prefix: module})
    return export_part(f"{type(module).__name__}.forward", part, examples, free)


def inline(g: Graph, part: onnx.GraphProto, inputs: list[Value]) -> list[Value]:
    """Copy the nodes of an exported part into `g`, with `inputs` as its inputs, and return its
    outputs.

    Only operators, names and attributes are copied. The exporter's stack traces and paths are left
    out. Weights go to the root.
    """
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
    """A copy of `node` whose names are unique in the model of `g`; `names` maps the old ones and
    learns the node's outputs."""
    copied = onnx.NodeProto(op_type=node.op_type, name=g.unique(node.op_type))
    copied.input.extend(names[name] if name else "" for name in node.input)
    copied.attribute.extend(node.attribute)
    for attribute in copied.attribute:
        attribute.ClearField("doc_string")
    for graph in subgraphs(copied):
        _rename_graph(graph, dict(names), g)
    for name in node.output:
        if name:
            names[name] = g.unique(f"{node.op_type}_{len(names)}")
    copied.output.extend(names[name] if name else "" for name in node.output)
    return copied


def _rename_graph(graph: onnx.GraphProto, names: dict[str, str], g: Graph) -> None:
    """Make the names of a subgraph unique in the model of `g`. `names` maps the names of the graphs
    around it."""
    for value in (*graph.input, *graph.initializer):
        names[value.name] = g.unique("inner")
        value.name = names[value.name]
    set_nodes(graph, [_renamed(node, names, g) for node in graph.node])
    del graph.value_info[:]
    for value in graph.output:
        value.name = names[value.name]
