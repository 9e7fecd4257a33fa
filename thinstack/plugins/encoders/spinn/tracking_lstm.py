"""SPINN's tracking LSTM and transition classifier (Bowman et al. 2016, sections 3.3 and 3.4)."""

import torch
from torch import Tensor, nn

from thinstack.core.cell import matrix, vector
from thinstack.core.fast import matmul
from thinstack.core.lstm_gates import lstm_gates


class TrackingLSTM(nn.Module):
    """An LSTM of width T that reads, before each transition, the buffer and the top of the stack:

        a = W [h_s^2; h_s^1; h_b^1; ..; h_b^k] + U h + b
        [i; f; o; g] = [sigmoid; sigmoid; sigmoid; tanh](a)
        c' = f * c + i * g;  h' = o * tanh(c')
        p  = softmax(W_trans h' + b_trans)                                       (5)

    h_s^1 is the top of the stack, h_s^2 the node under it, h_b^1 the next word of the buffer. A
    missing node counts as zeros. In the paper, k = 1. h' is the e of (1).

    W h is computed once per node, not at each step that reads it. `read_nodes` and `read_buffer`
    return a node's part of the gates for each of its possible places, and a step adds these parts.
    b belongs to the buffer's part.

    Args:
        input_size: width H of a node's output.
        size: T.
        lookahead: k, the number of words of the buffer to read.
        parses: whether there is a transition classifier.
        dropout: dropout rate of the outputs that it reads.
        forget_bias: initial bias of f; 1 in the authors' code, unspecified in the paper.
    """

    def __init__(
        self,
        *,
        input_size: int,
        size: int,
        lookahead: int = 1,
        parses: bool = False,
        dropout: float = 0.0,
        forget_bias: float = 0.0,
    ):
        super().__init__()
        self.input_size, self.size = int(input_size), int(size)
        self.lookahead, self.parses = int(lookahead), bool(parses)
        self.dropout = nn.Dropout(dropout)
        gates, classes = 4 * self.size, 2 if self.parses else 0
        bound = ((2 + self.lookahead) * self.input_size) ** -0.5
        self.w_stack = matrix(self.input_size, 2 * gates, bound=bound)  # h_s^2, h_s^1
        # h_b^1 .. h_b^k
        self.w_buffer = matrix(self.input_size, self.lookahead * gates, bound=bound)
        self.u = matrix(self.size, gates)  # i, f, o, g
        self.b = vector(gates)
        self.w_transition = matrix(self.size, classes)  # SHIFT, REDUCE
        self.b_transition = vector(classes)
        nn.init.constant_(self.b[self.size : 2 * self.size], forget_bias)

    def read_nodes(self, outputs: Tensor) -> Tensor:
        """Return the gates' part (n, 8T) of nodes with outputs (n, H): one half as the second of
        the stack, the other as its top."""
        return matmul(self.dropout(outputs), self.w_stack)

    def read_buffer(self, outputs: Tensor, ends: Tensor) -> Tensor:
        """Return the gates' part (L + 1, 4T) of buffers that start with each word, and of an empty
        one, from the outputs (L, H) of words and the word after the last (L,) of each word's
        sentence."""
        words, gates = outputs.shape[0], 4 * self.size
        ahead_of = matmul(self.dropout(outputs), self.w_buffer)
        flat = words * self.lookahead
        parts = torch.cat([ahead_of.view(flat, gates), outputs.new_zeros([1, gates])])
        position = torch.arange(words, device=outputs.device)
        added = self.b.expand(words, gates)
        for ahead in range(self.lookahead):
            word = position + ahead
            row = torch.where(word < ends, word * self.lookahead + ahead, flat)
            added = added + parts.index_select(0, row)
        return torch.cat([added, self.b.unsqueeze(0)])

    def step(self, read: Tensor, hidden: Tensor, memory: Tensor) -> tuple[Tensor, Tensor]:
        """Return the next h and c (n, T), from the sum of gate parts (n, 4T) and the last ones."""
        return lstm_gates(torch.addmm(read, hidden, self.u), memory.unsqueeze(1))

    def choices(self, hidden: Tensor) -> Tensor:
        """Return unnormalized scores (n, 2) of SHIFT and REDUCE, or (n, 0), from h (n, T)."""
        return torch.addmm(self.b_transition, hidden, self.w_transition)
