"""Tree-LSTM with an input gate for each child (Le & Zuidema 2015)."""

import torch
from torch import Tensor

from thinstack.core.cell import Cell, Links, matrix, vector
from thinstack.core.config.base import Count
from thinstack.core.fast import affine


class DualGateLSTM(Cell):
    """The memory block of Le & Zuidema 2015, *Compositional Distributional Semantics with Long
    Short Term Memory*, for children k, l = 1..N:

        i_k = sigmoid(sum_l (W_hi,kl h_l + W_ci,kl c_l) + b_i,k)
        f_k = sigmoid(sum_l (W_hf,kl h_l + W_cf,kl c_l) + b_f,k)
        g_k = tanh(W_g,k h_k + b_g)
        c   = sum_k (i_k * g_k + f_k * c_k)
        o   = sigmoid(sum_l W_ho,l h_l + W_co c + b_o)
        h   = o * tanh(c)

    Every W is a full matrix. As in the original, the output gate reads the new c. The original
    differs in three ways. It applies one tanh: tanh(sum_k i_k * W_g,k h_k + b_g). Both children
    share their gates, with one W for a child's own state and one for its sibling's. Its leaf is the
    bare word vector, with a separate W in the parent and no c. Here a leaf is

        c = i * g,   h = o * tanh(c)
        i = sigmoid(W_xi x + b_xi),   o = sigmoid(W_xo x + W_co c + b_xo),   g = tanh(W_xg x + b_xg)

    with separate matrices and biases, except W_co. Only leaves have an x. The sums omit a missing
    child. State: h and c, (n, H) each.
    """

    name = "dual_gate_lstm.v1"
    summary = "an input gate for each child, Le & Zuidema 2015"

    def __init__(self, *, input_size: int, hidden_size: int, arity: Count = 2):
        super().__init__(input_size, hidden_size, [hidden_size] * 2, arity=arity)
        children = arity * hidden_size
        self.w_x = matrix(input_size, 3 * hidden_size)  # of a leaf, to i, o, g
        self.b_x = vector(3 * hidden_size)
        # From h_1 .. h_N and c_1 .. c_N to i_1 .. i_N and f_1 .. f_N.
        self.w_if = matrix(2 * children, 2 * children)
        self.b_if = vector(2 * children)
        self.w_g = matrix(arity, hidden_size, hidden_size)  # from h_k
        self.b_g = vector(hidden_size)
        self.w_o = matrix(children + hidden_size, hidden_size)  # from h_1 .. h_N, c
        self.b_o = vector(hidden_size)

    def leaf(self, inputs: Tensor) -> list[Tensor]:
        i, o, g = affine(self.b_x, inputs, self.w_x).chunk(3, 1)
        c = i.sigmoid() * g.tanh()
        o = torch.addmm(o, c, self.w_o[self.arity * self.hidden_size :]).sigmoid()
        return [o * c.tanh(), c]

    def compose(self, inputs: Tensor, children: list[Tensor], links: Links) -> list[Tensor]:
        h_k, c_k = children
        h_l, c_l = h_k.flatten(1), c_k.flatten(1)  # side by side
        gates = affine(self.b_if, torch.cat([h_l, c_l], 1), self.w_if).sigmoid()
        # Not gates.shape[0]: frozen TorchScript gets that wrong.
        i, f = gates.view(h_k.shape[0], 2, self.arity, self.hidden_size).unbind(1)
        g = (torch.einsum("nkh,khj->nkj", h_k, self.w_g) + self.b_g).tanh()
        # A missing child has h = c = 0, but b_g would still contribute.
        there = (links.kind > 0).unsqueeze(2)
        c = (i * g * there + f * c_k).sum(1)
        o = affine(self.b_o, torch.cat([h_l, c], 1), self.w_o).sigmoid()
        return [o * c.tanh(), c]
