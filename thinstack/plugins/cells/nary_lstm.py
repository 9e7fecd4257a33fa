"""N-ary Tree-LSTM (Tai, Socher & Manning 2015, section 3.2)."""

from torch import Tensor

from thinstack.core.cell import Cell, Links, matrix, vector
from thinstack.core.config.base import Count
from thinstack.core.fast import affine
from thinstack.core.lstm_gates import lstm_gates, lstm_of_product, repeat_forget


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
    factors = ("w", "u")

    def __init__(self, *, input_size: int, hidden_size: int, inner_size: int = 0, arity: Count = 2):
        x, h, n = input_size, hidden_size, arity
        super().__init__(x, h, [h, h], arity=n, inner_size=inner_size)
        self.w = matrix(x, (4 if inner_size else 3) * h)  # to i, f if inner nodes read x, o, u
        self.u = matrix(n * h, (3 + n) * h)  # to i, f_1 .. f_N, o, u
        self.b = vector(4 * h)  # i, f, o, u

    def leaf(self, inputs: Tensor) -> list[Tensor]:
        width = self.hidden_size
        w = repeat_forget(self.w, width, 0) if self.inner_size > 0 else self.w
        none = inputs.new_zeros([inputs.shape[0], 0, width])
        h, c = lstm_of_product(self.b, inputs, w, none)
        return [h, c]

    def compose(self, inputs: Tensor, children: list[Tensor], links: Links) -> list[Tensor]:
        h_children, c_children = children
        rows = h_children.flatten(1)
        if self.inner_size > 0:
            # (9)-(12) side by side, before activation.
            b = repeat_forget(self.b, self.hidden_size, self.arity)
            x = repeat_forget(inputs @ self.w, self.hidden_size, self.arity)
            h, c = lstm_gates(affine(b, rows, self.u) + x, c_children)  # (13), (14)
        else:
            h, c = lstm_of_product(self.b, rows, self.u, c_children)  # (9)-(14)
        return [h, c]
