"""The contract of a cell, and the equations of this one."""

import pytest
import torch
from thinstack_mgu import TreeMGU

from thinstack.plugins import Links
from thinstack.testing import CELL_CHECKS


@pytest.mark.parametrize("check", CELL_CHECKS.values(), ids=CELL_CHECKS)
def test_contract(check):
    check("mgu.v1", {"forget_bias": 0.5}, input_size=5, hidden_size=4)


def test_a_node_with_two_children():
    cell = TreeMGU(input_size=3, hidden_size=2, inner_size=3)
    x, a, b = torch.randn(1, 3), torch.randn(1, 2), torch.randn(1, 2)
    links = Links(torch.tensor([0, 0]), torch.tensor([1, 1]))
    (state,) = cell.compose(x, [torch.cat([a, b])], links)
    s = (a + b) / 2
    f = torch.sigmoid(x @ cell.w[:, :2] + s @ cell.u_f)
    n = torch.tanh(x @ cell.w[:, 2:] + (f * s) @ cell.u_n)
    torch.testing.assert_close(state, (1 - f) * s + f * n)
