"""What a plugin wrote is exported for any number of rows, or refused with the reason."""

import logging

import numpy as np
import onnx
import onnx.parser
import pytest
import torch
from export_models import H, X
from onnx import helper
from onnx.reference import ReferenceEvaluator
from torch import Tensor, nn

from thinstack.core.cell import Cell, Links
from thinstack.errors import ExportError
from thinstack.export.onnx.graph import OPSET, Graph, graph_of, walk
from thinstack.export.onnx.parts import export_cell, inline

FLOAT = onnx.TensorProto.FLOAT


class Base(Cell):
    def __init__(self) -> None:
        super().__init__(input_size=X, inner_size=0, hidden_size=H, state_sizes=[H], arity=2)
        self.w = nn.Parameter(torch.randn(X, H))

    def leaf(self, inputs: Tensor) -> list[Tensor]:
        return [torch.tanh(inputs @ self.w)]

    def compose(self, inputs: Tensor, children: list[Tensor], links: Links) -> list[Tensor]:
        return [children[0].sum(1)]


class Faulty(Base):
    """Of the leaf function of that name."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def leaf(self, inputs: Tensor) -> list[Tensor]:
        return [LEAVES[self.name][0](inputs, self.w)]


def branch_on_values(x, w):
    return x @ w if x.sum() > 0 else torch.tanh(x @ w)


LEAVES = {
    "a branch on the number of rows": (
        lambda x, w: x @ w if x.shape[0] > 4 else torch.tanh(x @ w),
        "the number of rows.* the generated guard 5 <= ",
    ),
    "a branch on the number of elements": (
        lambda x, w: x @ w if x.numel() < 4096 else torch.tanh(x @ w),
        "the number of rows",
    ),
    "a loop over rows": (
        lambda x, w: torch.stack([torch.tanh(row @ w) for row in x]),
        r"the number of rows.* specialized it to be a constant \(5\)",
    ),
    "a branch on values": (
        branch_on_values,
        r"values of a tensor at .*test_onnx_parts.py:\d+; use torch.where",
    ),
    "no operator": (
        lambda x, w: torch.linalg.eigvals(x[:, :1, None]).real.repeat(1, H) + x @ w,
        r"operator aten.linalg_eig.default: ",
    ),
    "broken": (lambda x, w: x @ w.T, "RuntimeError: .*5.*6"),
}


@pytest.mark.parametrize("name", LEAVES)
def test_a_cell_that_cannot_be_exported_is_refused_with_the_reason(name):
    disabled = logging.root.manager.disable
    message = f"^Faulty.leaf cannot be exported to ONNX: (?s:.*){LEAVES[name][1]}"
    with pytest.raises(ExportError, match=message) as raised:
        export_cell(Faulty(name))
    assert len(str(raised.value)) < 700
    assert "\x1b" not in str(raised.value)
    assert logging.root.manager.disable == disabled


def part_with_a_branch():
    """y = x + w if x's sum is positive, else x - w, with names that clash and what exporters leave
    in a file."""
    branches = {
        branch: f"""b () => (float[n] {branch}) {{
            k = Constant <value: tensor = float[1] {{1}}> ()
            out = {kind} (x, w)
            {branch} = Mul (out, k)
        }}"""
        for branch, kind in (("then", "Add"), ("else", "Sub"))
    }
    part = onnx.parser.parse_graph(f"""
        part (float[n] x) => (float[n] y) <float[1] w = {{3}}, float zero = {{0}}> {{
            s = ReduceSum <keepdims = 0> (x)
            positive = Greater (s, zero)
            y = If (positive) <
                then_branch: graph = {branches["then"]}, else_branch: graph = {branches["else"]}
            >
        }}
    """)
    for node in walk(part.node):
        node.name, node.doc_string = "Add_0", "File /home/someone/cell.py, line 3"
    return part


def test_a_part_can_be_put_in_twice_with_its_inner_graphs_and_without_its_traces():
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


def test_writes_into_slices_are_exported_right():
    cell = InPlace()
    part = export_cell(cell).leaf
    opset = helper.make_opsetid("", 18)
    runtime = ReferenceEvaluator(helper.make_model(part, opset_imports=[opset]))
    for rows in (0, 1, 6):
        x = torch.randn(rows, X)
        (found,) = runtime.run(None, {part.input[0].name: x.numpy()})[:1]
        np.testing.assert_allclose(found, cell.leaf(x)[0].detach(), rtol=0, atol=1e-5)


BRANCHES = """both (float[n] x, bool c) => (float[n] y, float[n] z) <float[1] w = {2.0}> {
    doubled = Mul(x, w)
    z = Neg(x)
    y = If(c) <
        then_branch = tripled () => (float[n] a) { a = Add(doubled, x) },
        else_branch = same () => (float[n] b) { b = Identity(x) }
    >
}"""


def test_a_part_of_a_graph_keeps_what_its_branches_read():
    whole = onnx.parser.parse_graph(BRANCHES)
    part = graph_of(whole.node, "part", whole.input, whole.output[:1], whole.initializer)
    assert [node.op_type for node in part.node] == ["Mul", "If"]
    model = helper.make_model(part, opset_imports=[helper.make_opsetid("", OPSET)])
    x = np.array([1, -2], np.float32)
    for c, expected in (True, 3 * x), (False, x):
        (found,) = ReferenceEvaluator(model).run(None, {"x": x, "c": np.array(c)})
        np.testing.assert_array_equal(found, expected)
    other = graph_of(whole.node, "part", whole.input, whole.output[1:], whole.initializer)
    assert ([node.op_type for node in other.node], list(other.initializer)) == (["Neg"], [])
