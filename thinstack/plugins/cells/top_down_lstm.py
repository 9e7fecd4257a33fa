"""Top-down Tree-LSTM (Teng & Zhang 2017, section 4.3)."""

from typing import Literal

import torch
from torch import Tensor

from thinstack.core.cell import Cell, Links, matrix, vector
from thinstack.core.fast import affine, matmul

SideInputs = Literal["shared", "per_side"]
"""Whether all sides share the W_x and the biases."""


class TopDownLSTM(Cell):
    """The top-down LSTM, equations (13)-(14) of Teng & Zhang 2017, for the node t on a path that
    starts at the root:

        i_t = sigmoid(W_xi,N x_t + W_hi,N h_t-1 + W_ci,N c_t-1 + b_i,N)        (14)
        f_t = sigmoid(W_xf,N x_t + W_hf,N h_t-1 + W_cf,N c_t-1 + b_f,N)        (14)
        g_t = tanh(W_xg,N x_t + W_hg,N h_t-1 + b_g,N)                          (13)
        c_t = f_t * c_t-1 + i_t * g_t                                          (13)
        o_t = sigmoid(W_xo,N x_t + W_ho,N h_t-1 + W_co,N c_t + b_o,N)          (14)
        h_t = o_t * tanh(c_t)                                                  (13)

    t-1 is the parent, passed as the only child. N = L, R is the side of t among its parent's
    children: `links.kind` 1, 2, up to `kinds` sides. Every W is a full matrix. The paper prints
    tanh(c_t-1) and W_xg x_t-1 in (13), which are misprints. The root is a leaf: its predecessor is
    zero and its side the left. Every node has an x, so inner inputs are as wide as leaf inputs.
    State: h and c, (n, H) each.

    With `inputs = per_side`, each side has every parameter, as printed. With `shared`, all sides
    share the four W_x and the biases, which matches the parameter counts in the paper's Table 4.
    The authors' published code differs in W_co: the root has no peephole (its o omits W_co c), and
    elsewhere both sides use the W_co of the left; that of the right is counted but never read.

    Raises ValueError for `kinds` below 1.
    """

    name = "top_down_lstm.v1"
    summary = "from the root down, by sides, Teng & Zhang 2017 (13)-(14)"

    def __init__(
        self, *, input_size: int, hidden_size: int, kinds: int = 2, inputs: SideInputs = "shared"
    ):
        if kinds < 1:
            raise ValueError(f"kinds must be at least 1, one per side, found {kinds}")
        sizes = input_size, hidden_size, [hidden_size] * 2
        super().__init__(*sizes, arity=1, inner_size=input_size, kinds=kinds)
        self.per_side = inputs == "per_side"
        sets = kinds if self.per_side else 1
        # The columns of one side are adjacent.
        self.w_x = matrix(input_size, sets * 4 * hidden_size)  # to i, f, o, g
        self.b = vector(sets * 4 * hidden_size)
        self.w_if = matrix(2 * hidden_size, kinds * 2 * hidden_size)  # from h_t-1, c_t-1 to i, f
        self.w_g = matrix(hidden_size, kinds * hidden_size)  # from h_t-1
        self.w_o = matrix(2 * hidden_size, kinds * hidden_size)  # from h_t-1, c_t

    def compose(self, inputs: Tensor, children: list[Tensor], links: Links) -> list[Tensor]:
        width = self.hidden_size
        side = (links.kind[:, 0] - 1).clamp(min=0)  # the root has no kind
        h, before = children[0].flatten(1), children[1].flatten(1)  # h_t-1, c_t-1
        x = affine(self.b, inputs, self.w_x)
        if self.per_side:
            x = self._of_side(x, side)
        x_if, x_o, x_g = torch.split(x, [2 * width, width, width], 1)
        gates = x_if + self._product(torch.cat([h, before], 1), self.w_if, side)
        i, f = gates.sigmoid().chunk(2, 1)  # (14)
        g = (x_g + self._product(h, self.w_g, side)).tanh()  # (13)
        c = f * before + i * g  # (13)
        o = (x_o + self._product(torch.cat([h, c], 1), self.w_o, side)).sigmoid()  # (14)
        return [o * c.tanh(), c]  # (13)

    def _product(self, rows: Tensor, weight: Tensor, side: Tensor) -> Tensor:
        """Multiply each row by the matrix of its side, in one product for all sides."""
        return self._of_side(matmul(rows, weight), side)

    def _of_side(self, values: Tensor, side: Tensor) -> Tensor:
        """Select the columns of each row's side: (n, W) from (n, kinds W)."""
        n = side.shape[0]  # not of `values`: frozen TorchScript would use the rows of the weight
        index = torch.arange(n, device=side.device) * self.kinds + side
        return values.view(n * self.kinds, values.shape[1] // self.kinds).index_select(0, index)
