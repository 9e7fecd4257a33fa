"""N-ary Tree-LSTM (Tai, Socher & Manning 2015, section 3.2)."""

from typing import Annotated, Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from thinstack.core.cell import Cell, Links, fan_in_uniform_
from thinstack.core.fast import affine, lstm_gates

__all__ = ["NaryLSTM"]


class NaryLSTM(Cell):
    """The N-ary Tree-LSTM, equations (9)-(14) of Tai et al. 2015, for node j with children 1..N:

        i_j  = sigmoid(W_i x_j + sum_l U_i,l h_jl + b_i)          (9)
        f_jk = sigmoid(W_f x_j + sum_l U_f,kl h_jl + b_f)         (10)
        o_j  = sigmoid(W_o x_j + sum_l U_o,l h_jl + b_o)          (11)
        u_j  = tanh(W_u x_j + sum_l U_u,l h_jl + b_u)             (12)
        c_j  = i_j * u_j + sum_l f_jl * c_jl                      (13)
        h_j  = o_j * tanh(c_j)                                    (14)

    All k share W_f and b_f, as printed. A missing child counts as zeros, and a leaf has no
    children. With `inner_size` 0 only leaves have an x (a constituency tree). State: h and c,
    (n, H) each.

    Args:
        arity: N.
    """

    name = "nary_lstm.v1"
    summary = "N-ary Tree-LSTM, Tai et al. 2015 (9)-(14)"
    inner_like_leaf = True

    columns: Tensor

    def __init__(
        self,
        *,
        input_size: int,
        hidden_size: int,
        inner_size: int = 0,
        arity: Annotated[int, Field(ge=1)] = 2,
    ):
        super().__init__(
            input_size=input_size,
            inner_size=inner_size,
            hidden_size=hidden_size,
            state_sizes=[hidden_size] * 2,
            arity=arity,
        )
        x, h, n = input_size, hidden_size, arity
        # To i, o, u and, if read, f.
        self.w = nn.Parameter(torch.empty(x, (4 if inner_size else 3) * h))
        self.u = nn.Parameter(torch.empty(n * h, (3 + n) * h))  # i, o, f_1 .. f_N, u
        self.b = nn.Parameter(torch.zeros(4 * h))  # i, o, u, f
        # Columns of w and b in the order of u: one f serves all children.
        i, o, u, f = torch.arange(4 * h).view(4, h).unbind()
        self.register_buffer("columns", torch.cat([i, o, *[f] * n, u]), persistent=False)
        fan_in_uniform_(self.w, self.u)

    def blocks(self) -> dict[str, list[list[int]]]:
        x, h, n = self.input_size, self.hidden_size, self.arity
        gates = [h] * (4 if self.inner_size else 3)
        return {"w": [[x], gates], "u": [[h] * n, [h] * (3 + n)], "b": [[h] * 4]}

    @classmethod
    def build(
        cls,
        *,
        forget: Literal["full", "tied", "diagonal"] = "full",
        leaf: Literal["shared", "own"] = "shared",
        bias: Literal["single", "double"] = "single",
        output_gate: bool = True,
        **arguments: int,
    ) -> Cell:
        """The cell of the equations as printed or, with any of these options, the cell of the
        authors' own runs."""
        if (forget, leaf, bias, output_gate) == ("full", "shared", "single", True):
            return cls(**arguments)
        from thinstack.plugins.cells._nary_lstm_of_table_1 import NaryLSTMOfTable1

        return NaryLSTMOfTable1(
            forget=forget, leaf=leaf, bias=bias, output_gate=output_gate, **arguments
        )

    def leaf(self, inputs: Tensor) -> list[Tensor]:
        width = 3 * self.hidden_size
        gates = affine(self.b[:width], inputs, self.w[:, :width])
        h, c = lstm_gates(gates, inputs.new_zeros([inputs.shape[0], 0, self.hidden_size]))
        return [h, c]

    def compose(self, inputs: Tensor, children: list[Tensor], links: Links) -> list[Tensor]:
        h_children, c_children = children
        # (9)-(12) side by side, in the order of u, before they are squashed.
        gates = affine(self.b.index_select(0, self.columns), h_children.flatten(1), self.u)
        if self.inner_size > 0:
            gates = gates + (inputs @ self.w).index_select(1, self.columns)
        h, c = lstm_gates(gates, c_children)  # (13), (14)
        return [h, c]
