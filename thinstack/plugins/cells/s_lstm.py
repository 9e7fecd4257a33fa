"""S-LSTM, the binary Tree-LSTM with full peepholes (Zhu, Sobhani & Guo 2015)."""

import torch
from torch import Tensor

from thinstack.core.cell import Cell, Links, matrix, vector
from thinstack.core.fast import affine


class SLSTM(Cell):
    """The S-LSTM memory block of Zhu et al. 2015, equations (1) and (4)-(7) of Teng & Zhang 2017,
    for children N = L, R:

        i   = sigmoid(sum_N (W_hi,N h_N + W_ci,N c_N) + b_i)      (5)
        f_L = sigmoid(sum_N (W_hfl,N h_N + W_cfl,N c_N) + b_fl)   (6)
        f_R = sigmoid(sum_N (W_hfr,N h_N + W_cfr,N c_N) + b_fr)   (6)
        g   = tanh(sum_N W_hg,N h_N + b_g)                        (7)
        c   = f_L * c_L + f_R * c_R + i * g                       (4)
        o   = sigmoid(sum_N W_ho,N h_N + W_co c + b_o)            (5)
        h   = o * tanh(c)                                         (1)

    Every W is a full matrix. The paper gives no leaf; here it is

        c = i * g,   h = o * tanh(c)
        i = sigmoid(W_xi x + b_i),   o = sigmoid(W_xo x + W_co c + b_o),   g = tanh(W_xg x + b_g)

    with the inner node's biases and W_co. In Teng & Zhang's published code of their bidirectional
    model, a leaf has no peephole: its o omits W_co c. Only leaves have an x. A missing child counts
    as zeros. State: h and c, (n, H) each.
    """

    name = "s_lstm.v1"
    summary = "S-LSTM with full peepholes, Zhu et al. 2015, Teng & Zhang 2017 (4)-(7)"

    def __init__(self, *, input_size: int, hidden_size: int):
        super().__init__(input_size, hidden_size, [hidden_size] * 2, arity=2)
        self.w_x = matrix(input_size, 3 * hidden_size)  # to i, o, g
        # From h_L, h_R, c_L, c_R to i, f_L, f_R.
        self.w_if = matrix(4 * hidden_size, 3 * hidden_size)
        self.w_g = matrix(2 * hidden_size, hidden_size)  # from h_L, h_R
        self.w_o = matrix(3 * hidden_size, hidden_size)  # from h_L, h_R, c
        self.b = vector(5 * hidden_size)  # i, f_L, f_R, o, g

    def leaf(self, inputs: Tensor) -> list[Tensor]:
        width = self.hidden_size
        b = torch.cat([self.b[:width], self.b[3 * width :]])  # i, o, g
        i, o, g = affine(b, inputs, self.w_x).chunk(3, 1)
        c = i.sigmoid() * g.tanh()
        o = torch.addmm(o, c, self.w_o[2 * width :]).sigmoid()
        return [o * c.tanh(), c]

    def compose(self, inputs: Tensor, children: list[Tensor], links: Links) -> list[Tensor]:
        width = self.hidden_size
        hs, cs = children[0].flatten(1), children[1].flatten(1)  # [h_L; h_R], [c_L; c_R]
        b_if, b_o, b_g = self.b[: 3 * width], self.b[3 * width : 4 * width], self.b[4 * width :]
        gates = affine(b_if, torch.cat([hs, cs], 1), self.w_if).sigmoid()
        i, f_l, f_r = gates.chunk(3, 1)  # (5), (6)
        g = affine(b_g, hs, self.w_g).tanh()  # (7)
        c = f_l * cs[:, :width] + f_r * cs[:, width:] + i * g  # (4)
        o = affine(b_o, torch.cat([hs, c], 1), self.w_o).sigmoid()  # (5)
        return [o * c.tanh(), c]  # (1)
