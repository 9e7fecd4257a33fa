"""A cell and a task head whose ONNX parts are written by hand; torch takes a second for each."""

from functools import cache
from typing import Any

import onnx
import pytest
import torch
from export_models import C, H, V, X, randomised
from torch import Tensor, nn

from thinstack.core.cell import Cell, Links, sum_by_owner
from thinstack.core.config import ModelConfig
from thinstack.core.encoder import Structure
from thinstack.core.head import Reads, TaskHead
from thinstack.core.model.model import Model
from thinstack.core.model.tree_encoder import SubtreeMean, TreeEncoder
from thinstack.export.onnx import model as onnx_model
from thinstack.export.onnx import tree_encoder as onnx_tree_encoder
from thinstack.export.onnx.graph import Graph
from thinstack.export.onnx.model import export_onnx
from thinstack.export.onnx.parts import Parts, export_cell
from thinstack.export.onnx.value import Value
from thinstack.plugins.embeddings.wordpieces import WordpieceEmbedding
from thinstack.plugins.embeddings.words import WordEmbedding
from thinstack.plugins.encoders.spinn import StackEncoder
from thinstack.plugins.encoders.spinn import onnx as onnx_stack_encoder
from thinstack.plugins.encoders.spinn.tracking_lstm import TrackingLSTM

FLOAT, INT64 = onnx.TensorProto.FLOAT, onnx.TensorProto.INT64
S, W = 4, 2


class PlainCell(Cell):
    """p = sum_k (h_k U_k + e[kind_k]) + x I (leaf: p = x A); state tanh(p) and tanh(p V), output
    tanh(p) O + c / 8.

    A missing child has a kind too, 0, and e[0] counts; by c the output of a state of zeros is none
    of zeros. `words` makes the second part of the state a head-word vector.
    """

    def __init__(
        self, arity: int, *, size: int = X, inner: bool = False, kinds: int = 0, words: bool = False
    ):
        word_part = 1 if words else -1
        super().__init__(
            input_size=size,
            inner_size=size if inner else 0,
            hidden_size=H,
            state_sizes=[S, W],
            arity=arity,
            kinds=kinds,
            word_part=word_part,
        )
        sizes = {"a": [size, S], "i": [self.inner_size, S], "u": [max(arity, 1) * S, S]}
        sizes |= {"e": [max(kinds, 1) + 1, S], "v": [S, W], "o": [S, H], "c": [H]}
        for name, shape in sizes.items():
            self.register_parameter(name, nn.Parameter(torch.empty(shape)))

    def leaf(self, inputs: Tensor) -> list[Tensor]:
        p = inputs @ self.a
        return [torch.tanh(p), torch.tanh(p @ self.v)]

    def compose(self, inputs: Tensor, children: list[Tensor], links: Links) -> list[Tensor]:
        if self.arity > 0:
            p = children[0].flatten(1) @ self.u + self.e[links.kind].sum(1)
        else:
            p = sum_by_owner(
                children[0] @ self.u + self.e[links.kind], links.owner, inputs.shape[0]
            )
        if self.inner_size > 0:
            p = p + inputs @ self.i
        return [torch.tanh(p), torch.tanh(p @ self.v)]

    def output(self, state: list[Tensor]) -> Tensor:
        return state[0] @ self.o + self.c / 8


class PlainHead(TaskHead):
    """Scores rows W + b."""

    def __init__(self, reads: Reads, width: int):
        super().__init__(hidden_size=width, classes=C, reads=reads)
        self.w, self.b = nn.Parameter(torch.empty(width, C)), nn.Parameter(torch.empty(C))

    def forward(self, rows: Tensor) -> Tensor:
        return rows @ self.w + self.b

    def scores(self, rows: Tensor) -> Tensor:
        return rows @ self.w + self.b


def plain_model(encoder: TreeEncoder, structure: Structure, reads: Reads) -> Model:
    """A word model of float32 in evaluation mode, its weights drawn at random."""
    torch.manual_seed(0)
    width = {
        "pairs": 2 * encoder.hidden_size,
        "candidates": 2 * encoder.hidden_size + encoder.word_size,
    }
    head = PlainHead(reads, width.get(reads, encoder.hidden_size))
    encoder = TreeEncoder(
        encoder.stack(),
        structure=structure,
        words_at_leaves=encoder.words_at_leaves,
        separate=encoder.separate,
        readout=encoder.readout,
    )
    model = Model(embedding=WordEmbedding(entries=V, size=X), encoder=encoder, head=head)
    return randomised(model, std=0.5).eval()


def plain_spinn(
    cell: PlainCell,
    reads: Reads = "nodes",
    *,
    lookahead: int = 1,
    parses: bool = True,
    pieces: bool = False,
    seed: int = 0,
) -> Model:
    """A model of sentences, over words or `pieces`, of float32 in evaluation mode, its weights
    drawn at random. The tracking LSTM is as wide as the words, so that it can feed the cell."""
    torch.manual_seed(seed)
    tracker = TrackingLSTM(input_size=H, size=X, lookahead=lookahead, parses=parses)
    head = PlainHead(reads, 2 * H if reads == "pairs" else H)
    embedding = (WordpieceEmbedding if pieces else WordEmbedding)(entries=V, size=X)
    return randomised(
        Model(embedding=embedding, encoder=StackEncoder(cell, tracker), head=head), std=0.6
    ).eval()


def plain_export(model: Model, config: ModelConfig, **options: Any) -> bytes:
    """`export_onnx` of a model of plain parts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(onnx_tree_encoder, "export_cell", _cell_parts)
        patch.setattr(onnx_stack_encoder, "export_cell", _cell_parts)
        patch.setattr(onnx_model, "export_head", _head_part)
        return export_onnx(model, config, vocabulary_digest="", **options)


def _weight(g: Graph, value: Tensor, name: str) -> Value:
    return g.weight(value.detach().numpy(), name)


@cache
def _mean_parts(size: int) -> Parts:
    return export_cell(SubtreeMean(input_size=size))


def _cell_parts(cell: PlainCell | SubtreeMean, head: PlainHead | None = None) -> Parts:
    if isinstance(cell, SubtreeMean):
        return _mean_parts(cell.input_size)
    leaf = Graph("leaf")
    x = leaf.input("x", FLOAT, ["n", cell.input_size])
    _state(leaf, cell, _product(x, cell.a, "a"))
    output = Graph("output")
    h, _ = (output.input(f"s{k}", FLOAT, ["n", width]) for k, width in enumerate(cell.state_sizes))
    output.output(_product(h, cell.o, "o") + _weight(output, cell.c / 8, "c"), "y", FLOAT, ["n", H])
    words = [W] if head is None and cell.word_part >= 0 else []
    widths = [head.classes if head else cell.hidden_size, *words]
    scores = _head_part(head, H) if head else None
    return Parts(leaf.build(), _compose(cell), output.build(), scores, cell.word_part, widths)


def _compose(cell: PlainCell) -> onnx.GraphProto:
    g = Graph("compose")
    x = g.input("x", FLOAT, ["n", "X"])
    owner, kind = g.input("owner", INT64, ["e"]), g.input("kind", INT64, ["k"])
    h, _ = g.input("h", FLOAT, ["rows"]), g.input("w", FLOAT, ["rows"])
    edge = _weight(g, cell.e, "e").index_select(0, kind)
    if cell.arity:
        p = _product(h.op("Reshape", [0, cell.arity * S]), cell.u, "u")
        p = p + edge.op("ReduceSum", [1], keepdims=0)
    else:
        messages = _product(h, cell.u, "u") + edge
        index = owner.unsqueeze(1).op("Expand", messages.op("Shape"))
        p = g.zeros(x.size(0), S).scatter_add(0, index, messages)
    _state(g, cell, p + _product(x, cell.i, "i") if cell.inner_size else p)
    return g.build()


def _product(rows: Value, weight: Tensor, name: str) -> Value:
    return rows.op("MatMul", _weight(rows.graph, weight, name))


def _state(g: Graph, cell: PlainCell, p: Value) -> None:
    g.output(p.tanh(), "h_out", FLOAT, ["n", S])
    g.output(_product(p, cell.v, "v").tanh(), "w_out", FLOAT, ["n", W])


def _head_part(head: PlainHead, width: int) -> onnx.GraphProto:
    g = Graph("head")
    assert head.w.shape == (width, head.classes)
    rows = g.input("rows", FLOAT, ["n", width])
    scores = _product(rows, head.w, "w") + head.b.detach().numpy()
    g.output(scores, "y", FLOAT, ["n", head.classes])
    return g.build()
