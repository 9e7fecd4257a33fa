"""In-place writes to slices, undone in exported graphs."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from thinstack.export.onnx_views import read_through_writes

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


LEAF_SPEC = "ignore:`isinstance\\(treespec, LeafSpec\\)`:FutureWarning"  # torch on itself


@pytest.mark.filterwarnings(LEAF_SPEC)
@pytest.mark.parametrize(
    ("function", "scatters"),
    [(two_halves, 0), (written_then_read_across, 1), (written_twice, 1), (whole, 0), (with_gaps, 1), (returned, 1)],
)
def test_same_values_with_fewer_copies(function: Callable[[Tensor], Tensor], scatters: int) -> None:
    rows_of_any_number = torch.export.Dim("n", min=0)
    with torch.no_grad():
        exported = torch.export.export(Run(function), (torch.rand(5, 8),), dynamic_shapes=({0: rows_of_any_number},))
    program = exported.run_decompositions({})
    read_through_writes(program.graph)
    program.graph_module.recompile()
    found = [node for node in program.graph.nodes if node.target is SCATTER]
    assert len(found) <= scatters
    x = torch.randn(3, 8)
    expected = function(x.clone())
    torch.testing.assert_close(program.module()(x), expected, rtol=0, atol=0)
