"""The tracking LSTM of SPINN and its transition classifier (Bowman et al. 2016, sections 3.3 and
3.4)."""

import torch
from torch import Tensor, nn

from thinstack.core.cell import fan_in_uniform_
from thinstack.core.dropout import Dropout
from thinstack.core.gates import lstm_gates
from thinstack.core.kernels import affine

__all__ = ["TrackingLSTM"]


class TrackingLSTM(nn.Module):
    """An LSTM of width T that reads, before each transition, the buffer and the top of the stack:

        [i; o; f; g] = [sigmoid; sigmoid; sigmoid; tanh](W [h_s^2; h_s^1; h_b^1; ..; h_b^k] + U h +
        b) c' = f * c + i * g;  h' = o * tanh(c')
        p  = softmax(W_trans h' + b_trans)                                                              (5)

    h_s^1 is the top of the stack, h_s^2 the node under it, h_b^1 the next word of the buffer; what
    is not there counts as zeros. The paper has k = 1. h' is the e of (1).

    W h is computed once for each node, when it is made, and not at each step that reads it:
    `read_nodes` and `read_buffer` give what a node adds to the gates in each place that it can
    stand in, and a step adds these up. b is part of what the buffer adds, and all that an empty one
    does.

    Args:
        input_size: width H of a node's output.
        size: T.
        lookahead: k, how many words of the buffer are read.
        parses: whether there is a transition classifier.
        dropout: of the outputs that are read.
    """

    def __init__(
        self,
        *,
        input_size: int,
        size: int,
        lookahead: int = 1,
        parses: bool = False,
        dropout: float = 0.0,
    ):
        super().__init__()
        self.input_size, self.size, self.lookahead, self.parses = (
            int(input_size),
            int(size),
            int(lookahead),
            bool(parses),
        )
        self.dropout = Dropout(dropout)
        gates = 4 * self.size
        self.w_stack = nn.Parameter(torch.empty(self.input_size, 2 * gates))  # h_s^2, h_s^1
        self.w_buffer = nn.Parameter(
            torch.empty(self.input_size, self.lookahead * gates)
        )  # h_b^1 .. h_b^k
        self.u = nn.Parameter(torch.empty(self.size, gates))  # i, o, f, g
        self.b = nn.Parameter(torch.zeros(gates))
        self.w_transition = nn.Parameter(
            torch.empty(self.size, 2 if self.parses else 0)
        )  # SHIFT, REDUCE
        self.b_transition = nn.Parameter(torch.zeros(2 if self.parses else 0))
        bound = ((2 + self.lookahead) * self.input_size) ** -0.5
        for weight in (self.w_stack, self.w_buffer):
            nn.init.uniform_(weight, -bound, bound)
        fan_in_uniform_(self.u, self.w_transition)

    def read_nodes(self, outputs: Tensor) -> Tensor:
        """What nodes add to the gates, from their outputs (n, H): (n, 8T), as h_s^2 and as
        h_s^1."""
        return affine(outputs.new_zeros([8 * self.size]), self.dropout(outputs), self.w_stack)

    def read_buffer(self, outputs: Tensor, ends: Tensor) -> Tensor:
        """What the buffer adds to the gates, (L + 1, 4T): row w where w is its first word, row L
        where it is empty.

        Args:
            outputs: (L, H) of the words.
            ends: (L,) the word after the last of each word's sentence.
        """
        words, gates = outputs.shape[0], 4 * self.size
        ahead_of = affine(
            outputs.new_zeros([self.lookahead * gates]), self.dropout(outputs), self.w_buffer
        )
        parts = torch.cat(
            [ahead_of.view(words * self.lookahead, gates), outputs.new_zeros([1, gates])]
        )
        position = torch.arange(words, device=outputs.device)
        added = self.b.expand(words, gates)
        for ahead in range(self.lookahead):
            row = torch.where(
                position + ahead < ends,
                (position + ahead) * self.lookahead + ahead,
                words * self.lookahead,
            )
            added = added + parts.index_select(0, row)
        return torch.cat([added, self.b.unsqueeze(0)])

    def step(self, read: Tensor, hidden: Tensor, memory: Tensor) -> tuple[Tensor, Tensor]:
        """The next h and c, (n, T) each, from the sum of what was read (n, 4T) and the last h and
        c."""
        new_hidden, new_memory = lstm_gates(torch.addmm(read, hidden, self.u), memory.unsqueeze(1))
        return new_hidden, new_memory

    def choices(self, hidden: Tensor) -> Tensor:
        """Unnormalised scores (n, 2) of SHIFT and REDUCE from h (n, T), (5); (n, 0) without a
        classifier."""
        return torch.addmm(self.b_transition, hidden, self.w_transition)
