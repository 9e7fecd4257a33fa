"""N-ary Tree-LSTM (Tai, Socher & Manning 2015, section 3.2)."""

from collections.abc import Iterable

import torch
from pydantic import BaseModel, ConfigDict, Field
from torch import Tensor, nn

from thinstack.core.cell import Cell, Links
from thinstack.core.gates import lstm_gates
from thinstack.core.kernels import affine
from thinstack.plugins import CellSpec, hookimpl

__all__ = ["NaryLSTM", "NaryLSTMOptions"]


class NaryLSTM(Cell):
    """The N-ary Tree-LSTM, equations (9)-(14) of Tai et al. 2015, for node j with children 1..N:

        i_j  = sigmoid(W_i x_j + sum_l U_i,l h_jl + b_i)          (9)
        f_jk = sigmoid(W_f x_j + sum_l U_f,kl h_jl + b_f)         (10)
        o_j  = sigmoid(W_o x_j + sum_l U_o,l h_jl + b_o)          (11)
        u_j  = tanh(W_u x_j + sum_l U_u,l h_jl + b_u)             (12)
        c_j  = i_j * u_j + sum_l f_jl * c_jl                      (13)
        h_j  = o_j * tanh(c_j)                                    (14)

    W_f and b_f are one for all k, as printed; every U_f,kl is there, the off-diagonal ones too. A missing child counts as
    zeros, and a leaf is a node without children: the same equations with the sums left out. With `inner_size` 0 only leaves
    have an x (a constituency tree). State: h, c.
    """

    columns: Tensor

    def __init__(self, *, input_size: int, hidden_size: int, inner_size: int = 0, arity: int = 2):
        if inner_size not in (0, input_size):
            raise ValueError(f"inner_size must be 0 or input_size = {input_size}, got {inner_size}")
        super().__init__(
            input_size=input_size,
            inner_size=inner_size,
            hidden_size=hidden_size,
            state_sizes=[hidden_size, hidden_size],
            arity=arity,
        )
        self.w = nn.Parameter(torch.empty(input_size, (4 if inner_size else 3) * hidden_size))  # i, o, u and, if read, f
        self.u = nn.Parameter(torch.empty(arity * hidden_size, (3 + arity) * hidden_size))  # i, o, f_1 .. f_N, u
        self.b = nn.Parameter(torch.empty(4 * hidden_size))  # i, o, u, f
        i, o, u, f = torch.arange(4 * hidden_size).view(4, -1).unbind()
        self.register_buffer("columns", torch.cat([i, o, *[f] * arity, u]), persistent=False)  # of w and b, laid out as u's
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the matrices uniformly within 1 / sqrt(fan in), as torch's layers do; biases start at 0."""
        for matrix in (self.w, self.u):
            bound = matrix.shape[0] ** -0.5
            nn.init.uniform_(matrix, -bound, bound)
        nn.init.zeros_(self.b)

    def leaf(self, inputs: Tensor) -> list[Tensor]:
        width = self.hidden_size
        gates = affine(self.b[: 3 * width], inputs, self.w[:, : 3 * width])
        hidden, cell = lstm_gates(gates, inputs.new_zeros([inputs.shape[0], 0, width]))
        return [hidden, cell]

    def compose(self, inputs: Tensor, children: list[Tensor], links: Links) -> list[Tensor]:
        gates = affine(self.b.index_select(0, self.columns), children[0].flatten(1), self.u)
        if self.inner_size > 0:
            gates = gates + (inputs @ self.w).index_select(1, self.columns)
        hidden, cell = lstm_gates(gates, children[1])
        return [hidden, cell]


class NaryLSTMOptions(BaseModel):
    """Options of `nary_lstm.v1`: `arity`, the greatest number of children."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    arity: int = Field(default=2, ge=1)


def _build(*, input_size: int, hidden_size: int, options: NaryLSTMOptions) -> Cell:
    return NaryLSTM(input_size=input_size, hidden_size=hidden_size, arity=options.arity)


@hookimpl
def thinstack_cells() -> Iterable[CellSpec]:
    """Register `nary_lstm.v1`."""
    summary = "N-ary Tree-LSTM, Tai et al. 2015 (9)-(14)"
    return [CellSpec(name="nary_lstm.v1", build=_build, config=NaryLSTMOptions, summary=summary)]
