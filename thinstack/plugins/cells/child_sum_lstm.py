"""Child-Sum Tree-LSTM (Tai, Socher & Manning 2015, section 3.1)."""

from typing import Literal

import torch
from torch import Tensor

from thinstack.core.cell import Cell, Links, matrix, sum_by_owner, vector
from thinstack.core.fast import affine
from thinstack.core.lstm_gates import repeat_forget


class ChildSumLSTM(Cell):
    """The Child-Sum Tree-LSTM, equations (2)-(8) of Tai et al. 2015, for node j with any number of
    children k in C(j):

        h~_j = sum_k h_k                                 (2)
        i_j  = sigmoid(W_i x_j + U_i h~_j + b_i)         (3)
        f_jk = sigmoid(W_f x_j + U_f h_k + b_f)          (4)
        o_j  = sigmoid(W_o x_j + U_o h~_j + b_o)         (5)
        u_j  = tanh(W_u x_j + U_u h~_j + b_u)            (6)
        c_j  = i_j * u_j + sum_k f_jk * c_k              (7)
        h_j  = o_j * tanh(c_j)                           (8)

    A leaf is a node without children. With `inner_size` 0, only leaves have an x. State: h and c,
    (n, H) each. The options reproduce the parameter counts of the paper's Table 1, which do not
    follow from the equations.

    Args:
        bias: `single`, as printed, or `double`: each gate has a bias for W and another for U.
        output_gate: False omits it: h = tanh(c).
    """

    name = "child_sum_lstm.v1"
    summary = "Child-Sum Tree-LSTM, Tai et al. 2015 (2)-(8)"
    inner_like_leaf = True

    b_u: Tensor

    def __init__(
        self,
        *,
        input_size: int,
        hidden_size: int,
        inner_size: int = 0,
        bias: Literal["single", "double"] = "single",
        output_gate: bool = True,
    ):
        super().__init__(input_size, hidden_size, [hidden_size] * 2, arity=0, inner_size=inner_size)
        self.double_bias, self.output_gate = bias == "double", output_gate
        gates = (4 if output_gate else 3) * hidden_size
        # To i, f if inner nodes read x, o, u.
        self.w = matrix(input_size, gates if inner_size else gates - hidden_size)
        self.u = matrix(hidden_size, gates)  # to i, f, o, u
        self.b = vector(gates)  # i, f, o, u
        self.b_u = vector(gates) if self.double_bias else torch.empty(0)

    def leaf(self, inputs: Tensor) -> list[Tensor]:
        width = self.hidden_size
        w = repeat_forget(self.w, width, 0) if self.inner_size > 0 else self.w
        gates = affine(repeat_forget(self._bias(), width, 0), inputs, w)
        return self._state(gates[:, :width], gates[:, width:], torch.zeros_like(gates[:, :width]))

    def compose(self, inputs: Tensor, children: list[Tensor], links: Links) -> list[Tensor]:
        h_k, c_k = children
        owner, n = links.owner, inputs.shape[0]
        width, b = self.hidden_size, self._bias()
        h_sum = sum_by_owner(h_k, owner, n)  # (2)
        gates = affine(b, h_sum, self.u)  # (3), (5), (6); its f is not read
        f = affine(b[width : 2 * width], h_k, self.u[:, width : 2 * width])  # (4)
        if self.inner_size > 0:
            from_x = inputs @ self.w
            gates = gates + from_x
            f = f + from_x[:, width : 2 * width].index_select(0, owner)
        remembered = sum_by_owner(f.sigmoid() * c_k, owner, n)
        return self._state(gates[:, :width], gates[:, 2 * width :], remembered)

    def _bias(self) -> Tensor:
        return self.b + self.b_u if self.double_bias else self.b

    def _state(self, i: Tensor, ou: Tensor, remembered: Tensor) -> list[Tensor]:
        """Return h and c from the gates i, o and u before activation, and the sum in (7)."""
        width = self.hidden_size
        c = i.sigmoid() * ou[:, -width:].tanh() + remembered  # (7)
        if not self.output_gate:
            return [c.tanh(), c]
        return [ou[:, :width].sigmoid() * c.tanh(), c]  # (8)
