"""Sequential LSTM with full peepholes (Teng & Zhang 2017, section 3)."""

import torch
from torch import Tensor

from thinstack.core.cell import Cell, Links, matrix, vector
from thinstack.core.fast import affine


class PeepholeLSTM(Cell):
    """The peephole LSTM, equations (1)-(3) of Teng & Zhang 2017, for the word t of a chain:

        i_t = sigmoid(W_xi x_t + W_hi h_t-1 + W_ci c_t-1 + b_i)           (3)
        f_t = sigmoid(W_xf x_t + W_hf h_t-1 + W_cf c_t-1 + b_f)           (3)
        g_t = tanh(W_xg x_t + W_hg h_t-1 + b_g)                           (2)
        c_t = f_t * c_t-1 + i_t * g_t                                     (2)
        o_t = sigmoid(W_xo x_t + W_ho h_t-1 + W_co c_t + b_o)             (3)
        h_t = o_t * tanh(c_t)                                             (1)

    Every W is a full matrix. Every word has an x, so inner inputs are as wide as leaf inputs. The
    first word is a leaf, and its h_t-1 and c_t-1 are zeros. State: h and c, (n, H) each.
    """

    name = "peephole_lstm.v1"
    summary = "sequential LSTM with full peepholes, Teng & Zhang 2017 (1)-(3)"

    def __init__(self, *, input_size: int, hidden_size: int):
        super().__init__(input_size, hidden_size, [hidden_size] * 2, arity=1, inner_size=input_size)
        self.w_if = matrix(input_size + 2 * hidden_size, 2 * hidden_size)  # from x_t, h_t-1, c_t-1
        self.w_g = matrix(input_size + hidden_size, hidden_size)  # from x_t, h_t-1
        self.w_o = matrix(input_size + 2 * hidden_size, hidden_size)  # from x_t, h_t-1, c_t
        self.b = vector(4 * hidden_size)  # i, f, o, g

    def compose(self, inputs: Tensor, children: list[Tensor], links: Links) -> list[Tensor]:
        width = self.hidden_size
        xh, before = torch.cat([inputs, children[0].flatten(1)], 1), children[1].flatten(1)
        b_if, b_o, b_g = self.b[: 2 * width], self.b[2 * width : 3 * width], self.b[3 * width :]
        gates = affine(b_if, torch.cat([xh, before], 1), self.w_if).sigmoid()
        i, f = gates.chunk(2, 1)  # (3)
        g = affine(b_g, xh, self.w_g).tanh()  # (2)
        c = f * before + i * g  # (2)
        o = affine(b_o, torch.cat([xh, c], 1), self.w_o).sigmoid()  # (3)
        return [o * c.tanh(), c]  # (1)
