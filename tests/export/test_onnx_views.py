"""In-place writes to slices, undone in exported graphs."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from thinstack.export.onnx.views import POINTWISE, SLICE, read_through_writes

SCATTER = torch.ops.aten.slice_scatter.default


class Run(nn.Module):
    def __init__(self, function: Callable[[Tensor], Tensor]):
        super().__init__()
        self.function = function

    def forward(self, x: Tensor) -> Tensor:
        return self.function(x.clone())


def two_halves(x: Tensor) -> Tensor:
    left, right = x[:, :4].sigmoid_(), x[:, 4:].tanh_()
    return left[:, 1:3] * right[:, :2] + left[:, -2:]


def written_then_read_across(x: Tensor) -> Tensor:
    x[:, 2:5].mul_(3)
    return x[:, 1:4] + x[:, 5:8]


def written_twice(x: Tensor) -> Tensor:
    x[:, :6].add_(1)
    x[:, 2:4].mul_(5)
    return x[:, 2:4] + x[:, 4:6] + x[:, 6:8]


def whole(x: Tensor) -> Tensor:
    x[:, :].exp_()
    return x[:, 0:8:2] + x[:, -4:]


def with_gaps(x: Tensor) -> Tensor:
    x[:, ::2].neg_()
    return x[:, :2] * x[:, 6:]


def returned(x: Tensor) -> Tensor:
    x[:, :3].neg_()
    return x[:, :]


def squashed_then_cut(x: Tensor) -> Tensor:
    squashed, rest = x[:, 1:7].sigmoid(), x[:, 7:].tanh()
    return squashed[:, 4:] * squashed[:, :2] + squashed[:, 1:3] * rest


def squashed_and_read_whole(x: Tensor) -> Tensor:
    squashed = x.sigmoid()
    return squashed[:, 1:3] + squashed.sum(1, keepdim=True)


def cut_both_ways(x: Tensor) -> Tensor:
    return x.view(-1, 2, 4)[:, 1:][:, :, 1:3]


LEAF_SPEC = "ignore:`isinstance\\(treespec, LeafSpec\\)`:FutureWarning"  # torch on itself


@pytest.mark.filterwarnings(LEAF_SPEC)
@pytest.mark.parametrize(
    ("function", "scatters"),
    [
        (two_halves, 0),
        (written_then_read_across, 1),
        (written_twice, 1),
        (whole, 0),
        (with_gaps, 1),
        (returned, 1),
        (squashed_then_cut, 0),
        (squashed_and_read_whole, 0),
        (cut_both_ways, 0),
    ],
)
def test_same_values_with_fewer_copies(function: Callable[[Tensor], Tensor], scatters: int) -> None:
    program = rewritten(function)
    found = [node for node in program.graph.nodes if node.target is SCATTER]
    assert len(found) <= scatters
    x = torch.randn(3, 8)
    expected = function(x.clone())
    torch.testing.assert_close(program.module()(x), expected, rtol=0, atol=0)


@pytest.mark.filterwarnings(LEAF_SPEC)
@pytest.mark.parametrize(
    ("function", "squashed"), [(squashed_then_cut, 4), (squashed_and_read_whole, 1)]
)
def test_what_is_cut_up_is_cut_once_and_before_it_is_squashed(
    function: Callable[[Tensor], Tensor], squashed: int
) -> None:
    nodes = list(rewritten(function).graph.nodes)
    found = [node for node in nodes if node.target in POINTWISE]
    assert len(found) == squashed
    assert not any(node.target is SLICE and node.args[0].target is SLICE for node in nodes)
    assert all(node.args[0].target is SLICE for node in found) == (squashed > 1)


def rewritten(function: Callable[[Tensor], Tensor]) -> torch.export.ExportedProgram:
    rows_of_any_number = torch.export.Dim("n", min=0)
    with torch.no_grad():
        exported = torch.export.export(
            Run(function), (torch.rand(5, 8),), dynamic_shapes=({0: rows_of_any_number},)
        )
    program = exported.run_decompositions({})
    read_through_writes(program.graph)
    program.graph_module.recompile()
    return program
