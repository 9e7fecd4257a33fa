"""The Tree-LSTM of SPINN with its word projection (Bowman et al. 2016, section 3.2)."""

import torch
from torch import Tensor, nn

from thinstack.core.cell import Cell, Links, matrix, vector
from thinstack.core.fast import affine
from thinstack.core.lstm_gates import lstm_gates


class SpinnLSTM(Cell):
    """The Tree-LSTM of SPINN, equations (1)-(4) of Bowman et al. 2016. The node on top of the stack
    has h_s^1 and c_s^1, the node under it h_s^2 and c_s^2:

        [i; f_l; f_r; o; g] = [sigmoid; sigmoid; sigmoid; sigmoid; tanh](
            W_comp [h_s^1; h_s^2; e] + b_comp)                                   (1)
        c = f_l * c_s^2 + f_r * c_s^1 + i * g                                    (2)
        h = o * tanh(c)                                                          (3)
        [h; c] = W_wd x + b_wd                                                   (4)

    The top of the stack is the right child (Algorithm 1), so f_l belongs to the left one. Here
    W_comp reads left h, right h, e, in this order. A leaf is (4): a linear map without gates. e is
    an optional context of width `inner_size`, such as the hidden state of a tracking LSTM
    (section 3.3); (1) as printed calls it c. State: h and c, (n, H) each.

    The biases of f_l and f_r start at `forget_bias`, which the paper does not specify; its authors'
    code uses 1.
    """

    name = "spinn_lstm.v1"
    summary = "Tree-LSTM of SPINN with word projection, Bowman et al. 2016 (1)-(4)"

    def __init__(
        self, *, input_size: int, hidden_size: int, inner_size: int = 0, forget_bias: float = 0.0
    ):
        super().__init__(input_size, hidden_size, [hidden_size] * 2, arity=2, inner_size=inner_size)
        self.w_word = matrix(input_size, 2 * hidden_size)  # h, c
        self.b_word = vector(2 * hidden_size)
        self.w_comp = matrix(2 * hidden_size + inner_size, 5 * hidden_size)  # to i, f_l, f_r, o, g
        self.b_comp = vector(5 * hidden_size)
        nn.init.constant_(self.b_comp[hidden_size : 3 * hidden_size], forget_bias)

    def leaf(self, inputs: Tensor) -> list[Tensor]:
        h, c = affine(self.b_word, inputs, self.w_word).chunk(2, 1)  # (4)
        return [h, c]

    def compose(self, inputs: Tensor, children: list[Tensor], links: Links) -> list[Tensor]:
        rows = children[0].flatten(1)
        if self.inner_size > 0:
            rows = torch.cat([rows, inputs], 1)
        gates = affine(self.b_comp, rows, self.w_comp)  # (1) before activation
        h, c = lstm_gates(gates, children[1])  # (2), (3)
        return [h, c]
