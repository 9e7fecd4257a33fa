"""Head-lexicalized Tree-LSTM (Teng & Zhang 2017, sections 4.1 and 4.2)."""

from typing import Literal

import torch
from torch import Tensor

from thinstack.core.cell import Cell, Links, matrix, vector
from thinstack.core.config.base import Count
from thinstack.core.fast import affine, matmul
from thinstack.core.lstm_gates import repeat_forget
from thinstack.plugins.cells._words import first_columns

Lexicalize = Literal["gate", "left", "right", "average"]
"""How a node's head word comes from its children's: a learned mixture (8), the left one, the right
one, or their mean."""
FIXED = {"left": 1.0, "right": 0.0, "average": 0.5}


class LexicalizedLSTM(Cell):
    """The lexicalized Tree-LSTM, equations (8)-(11) with (1) and (4) of Teng & Zhang 2017, for
    children N = L, R:

        x   = z * x_L + (1 - z) * x_R                                        (8)
        z   = sigmoid(W_zx,L x_L + W_zx,R x_R + b_z)                         (9)
        i   = sigmoid(W_xi x + sum_N (W_hi,N h_N + W_ci,N c_N) + b_i)        (10)
        f_L = sigmoid(W_xf x + sum_N (W_hfl,N h_N + W_cfl,N c_N) + b_fl)     (10)
        f_R = sigmoid(W_xf x + sum_N (W_hfr,N h_N + W_cfr,N c_N) + b_fr)     (10)
        o   = sigmoid(W_xo x + sum_N W_ho,N h_N + W_co c + b_o)              (10)
        g   = tanh(W_xg x + sum_N W_hg,N h_N + b_g)                          (11)
        c   = f_L * c_L + f_R * c_R + i * g                                  (4)
        h   = o * tanh(c)                                                    (1)

    x is the vector of the node's head word, and at a leaf the input. Every W is a full matrix, and
    both forget gates share W_xf. The baselines of the paper's Table 5 fix z: 1 (left), 0 (right),
    1/2 (average). The paper gives no leaf; here it is

        c = i * g,   h = o * tanh(c)
        i = sigmoid(W_xi x + b_i),   o = sigmoid(W_xo x + W_co c + b_o),   g = tanh(W_xg x + b_g)

    with the inner node's parameters. In the code that the authors published, a leaf has no
    peephole: its o omits W_co c. A missing child counts as zeros. State: h and c, (n, H) each, and
    x (n, X), or (n, columns).

    W_z is 2 X by X. For wide words, `columns` makes it smaller: a head word is then only so many
    leading columns of a word. A leaf's i, o and g still read all of them.

    Raises ConfigError for more columns than words have.
    """

    name = "lexicalized_lstm.v1"
    summary = "S-LSTM with a head word at every node, Teng & Zhang 2017 (8)-(11)"

    w_z: Tensor | None
    b_z: Tensor | None

    def __init__(
        self,
        *,
        input_size: int,
        hidden_size: int,
        lexicalize: Lexicalize = "gate",
        columns: Count | None = None,
    ):
        word = first_columns(self.name, input_size, columns)
        sizes = [hidden_size, hidden_size, word]
        super().__init__(input_size, hidden_size, sizes, arity=2, word_part=2)
        self.columns = word
        self.z = 0.0 if lexicalize == "gate" else FIXED[lexicalize]
        self.w_z, self.b_z = None, None
        self.w_x = matrix(input_size, 4 * hidden_size)  # to i, f, o, g
        # From h_L, h_R, c_L, c_R to i, f_L, f_R.
        self.w_if = matrix(4 * hidden_size, 3 * hidden_size)
        self.w_g = matrix(2 * hidden_size, hidden_size)  # from h_L, h_R
        self.w_o = matrix(3 * hidden_size, hidden_size)  # from h_L, h_R, c
        self.b = vector(5 * hidden_size)  # i, f_L, f_R, o, g
        if lexicalize == "gate":
            self.w_z = matrix(2 * word, word)  # from x_L, x_R
            self.b_z = vector(word)

    def leaf(self, inputs: Tensor) -> list[Tensor]:
        width = self.hidden_size
        b = torch.cat([self.b[:width], self.b[3 * width :]])  # i, o, g
        i, o, g = affine(b, inputs, repeat_forget(self.w_x, width, 0)).chunk(3, 1)
        c = i.sigmoid() * g.tanh()
        o = torch.addmm(o, c, self.w_o[2 * width :]).sigmoid()
        return [o * c.tanh(), c, inputs[:, : self.columns]]

    def compose(self, inputs: Tensor, children: list[Tensor], links: Links) -> list[Tensor]:
        width = self.hidden_size
        hs, cs = children[0].flatten(1), children[1].flatten(1)  # [h_L; h_R], [c_L; c_R]
        x = self._head_word(children[2])
        x_i, x_f, x_o, x_g = matmul(x, self.w_x[: self.columns]).chunk(4, 1)
        b_if, b_o, b_g = self.b[: 3 * width], self.b[3 * width : 4 * width], self.b[4 * width :]
        gates = affine(b_if, torch.cat([hs, cs], 1), self.w_if)
        i, f_l, f_r = (gates + torch.cat([x_i, x_f, x_f], 1)).sigmoid().chunk(3, 1)  # (10)
        g = (affine(b_g, hs, self.w_g) + x_g).tanh()  # (11)
        c = f_l * cs[:, :width] + f_r * cs[:, width:] + i * g  # (4)
        o = (affine(b_o, torch.cat([hs, c], 1), self.w_o) + x_o).sigmoid()  # (10)
        return [o * c.tanh(), c, x]  # (1)

    def _head_word(self, words: Tensor) -> Tensor:
        """(n, X) from the children's (n, 2, X)."""
        w_z, b_z = self.w_z, self.b_z
        if w_z is not None and b_z is not None:
            z = affine(b_z, words.flatten(1), w_z).sigmoid()  # (9)
            return z * words[:, 0] + (1 - z) * words[:, 1]  # (8)
        return self.z * words[:, 0] + (1 - self.z) * words[:, 1]
