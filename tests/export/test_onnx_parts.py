"""What a plugin wrote is exported for any number of rows, or refused with the reason."""

import logging

import numpy as np
import onnx
import pytest
import torch
from export_models import C, H, X
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from torch import Tensor, nn

from thinstack.core.cell import Cell, Links
from thinstack.errors import ExportError
from thinstack.export.onnx.graph import Graph
from thinstack.export.onnx.parts import export_cell, inline
from thinstack.plugins.heads.node_classifier import NodeClassifier

FLOAT = onnx.TensorProto.FLOAT


class Base(Cell):
    def __init__(self) -> None:
        super().__init__(input_size=X, inner_size=0, hidden_size=H, state_sizes=[H], arity=2)
        self.w = nn.Parameter(torch.randn(X, H))

    def leaf(self, inputs: Tensor) -> list[Tensor]:
        return [torch.tanh(inputs @ self.w)]

    def compose(self, inputs: Tensor, children: list[Tensor], links: Links) -> list[Tensor]:
        return [children[0].sum(1)]


class FrozenBranch(Base):
    def leaf(self, inputs: Tensor) -> list[Tensor]:
        return [inputs @ self.w if inputs.shape[0] > 4 else torch.tanh(inputs @ self.w)]


class FrozenProduct(Base):
    def leaf(self, inputs: Tensor) -> list[Tensor]:
        return [inputs @ self.w if inputs.numel() < 4096 else torch.tanh(inputs @ self.w)]


class LoopOverRows(Base):
    def leaf(self, inputs: Tensor) -> list[Tensor]:
        return [torch.stack([torch.tanh(row @ self.w) for row in inputs])]


class DataDependent(Base):
    def leaf(self, inputs: Tensor) -> list[Tensor]:
        return [inputs @ self.w if inputs.sum() > 0 else torch.tanh(inputs @ self.w)]


class NoOperator(Base):
    def leaf(self, inputs: Tensor) -> list[Tensor]:
        return [torch.linalg.eigvals(inputs[:, :1, None]).real.repeat(1, H) + inputs @ self.w]


class Broken(Base):
    def leaf(self, inputs: Tensor) -> list[Tensor]:
        return [inputs @ self.w.T]


@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        (FrozenBranch, "does otherwise for other numbers of rows.* the generated guard 5 <= "),
        (FrozenProduct, "does otherwise for other numbers of rows"),
        (
            LoopOverRows,
            r"does otherwise for other numbers of rows.* specialized it to be a constant \(5\)",
        ),
        (
            DataDependent,
            r"branches on the values of a tensor at .*test_onnx_parts.py:\d+; use torch.where",
        ),
        (NoOperator, r"operator aten.linalg_eig.default: "),
        (Broken, "RuntimeError: .*5.*6"),
    ],
)
def test_a_cell_that_cannot_be_exported_is_refused_with_the_reason(
    cell: type[Cell], reason: str
) -> None:
    disabled = logging.root.manager.disable
    with pytest.raises(
        ExportError, match=f"^{cell.__name__}.leaf cannot be exported to ONNX: (?s:.*){reason}"
    ) as raised:
        export_cell(cell(), NodeClassifier(hidden_size=H, classes=C))
    assert len(str(raised.value)) < 700
    assert "\x1b" not in str(raised.value)
    assert logging.root.manager.disable == disabled


def part_with_a_branch() -> onnx.GraphProto:
    """y = x + w if x's sum is positive, else x - w, with names that clash and what exporters leave
    in a file."""

    def branch(kind: str, extra: str) -> onnx.GraphProto:
        constant = helper.make_node(
            "Constant",
            [],
            ["k"],
            value=numpy_helper.from_array(np.array([1], np.float32)),
            name="Add_0",
        )
        node = helper.make_node(kind, ["x", "w"], ["out"], name="Add_0")
        node.doc_string = "File /home/someone/cell.py, line 3"
        last = helper.make_node("Mul", ["out", "k"], [extra])
        return helper.make_graph(
            [constant, node, last], "b", [], [helper.make_tensor_value_info(extra, FLOAT, ["n"])]
        )

    nodes = [
        helper.make_node("ReduceSum", ["x"], ["s"], keepdims=0, doc_string="/home/someone"),
        helper.make_node("Greater", ["s", "zero"], ["positive"]),
        helper.make_node(
            "If",
            ["positive"],
            ["y"],
            then_branch=branch("Add", "then"),
            else_branch=branch("Sub", "else"),
        ),
    ]
    weights = [
        numpy_helper.from_array(np.array([3.0], np.float32), "w"),
        numpy_helper.from_array(np.float32(0), "zero"),
    ]
    x, y = (helper.make_tensor_value_info(name, FLOAT, ["n"]) for name in "xy")
    return helper.make_graph(nodes, "part", [x], [y], weights)


def test_a_part_can_be_put_in_twice_with_its_inner_graphs_and_without_its_traces() -> None:
    g = Graph("g")
    x = g.input("x", FLOAT, ["n"])
    (once,) = inline(g, part_with_a_branch(), [x])
    (twice,) = inline(g, part_with_a_branch(), [g.op("Neg", once)])
    g.output(twice, "y", FLOAT, ["n"])
    file = g.model({})
    assert b"/home" not in file
    model = onnx.load_from_string(file)
    assert len(model.graph.initializer) == 1
    found = ReferenceEvaluator(model).run(None, {"x": np.array([1, 2], np.float32)})[0]
    np.testing.assert_array_equal(found, [-4 - 3, -5 - 3])


class InPlace(Base):
    """Writes into slices, with and without gaps, and reads across them."""

    def leaf(self, inputs: Tensor) -> list[Tensor]:
        x = inputs @ self.w
        x[:, :3].sigmoid_()
        x[:, 2:5].mul_(3)
        x[:, ::2] = x[:, 1:].sum(1, keepdim=True)
        return [x[:, 1:].neg_() + x[:, : H - 1] @ x.new_ones(H - 1, H - 1)]


def test_writes_into_slices_are_exported_right() -> None:
    cell = InPlace()
    part = export_cell(cell, NodeClassifier(hidden_size=H, classes=C)).leaf
    opset = helper.make_opsetid("", 18)
    runtime = ReferenceEvaluator(helper.make_model(part, opset_imports=[opset]))
    for rows in (0, 1, 6):
        x = torch.randn(rows, X)
        (found,) = runtime.run(None, {part.input[0].name: x.numpy()})[:1]
        np.testing.assert_allclose(found, cell.leaf(x)[0].detach(), rtol=0, atol=1e-5)
