"""N-ary Tree-LSTM (Tai, Socher & Manning 2015, section 3.2)."""

from typing import Annotated, Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from thinstack.core.cell import Cell, Links, fan_in_uniform_
from thinstack.core.fast import affine, lstm_gates
from thinstack.plugins.cells._gates import repeat_forget

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
        # To i, f if inner nodes read x, o, u.
        self.w = nn.Parameter(torch.empty(x, (4 if inner_size else 3) * h))
        self.u = nn.Parameter(torch.empty(n * h, (3 + n) * h))  # to i, f_1 .. f_N, o, u
        self.b = nn.Parameter(torch.zeros(4 * h))  # i, f, o, u
        fan_in_uniform_(self.w, self.u)

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
        width = self.hidden_size
        w = repeat_forget(self.w, width, 0) if self.inner_size > 0 else self.w
        gates = affine(repeat_forget(self.b, width, 0), inputs, w)
        h, c = lstm_gates(gates, inputs.new_zeros([inputs.shape[0], 0, width]))
        return [h, c]

    def compose(self, inputs: Tensor, children: list[Tensor], links: Links) -> list[Tensor]:
        h_children, c_children = children
        # (9)-(12) side by side, before they are squashed.
        b = repeat_forget(self.b, self.hidden_size, self.arity)
        gates = affine(b, h_children.flatten(1), self.u)
        if self.inner_size > 0:
            gates = gates + repeat_forget(inputs @ self.w, self.hidden_size, self.arity)
        h, c = lstm_gates(gates, c_children)  # (13), (14)
        return [h, c]
