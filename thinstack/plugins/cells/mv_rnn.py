"""Matrix-vector recursive network (Socher et al. 2012)."""

from typing import Literal

import torch
from torch import Tensor

from thinstack.core.cell import Cell, Links, matrix, vector
from thinstack.core.config.base import Count
from thinstack.core.fast import affine
from thinstack.errors import ConfigError

Leaf = Literal["projected", "table"]


class MVRNN(Cell):
    """The matrix-vector recursive network of Socher et al. 2012. A node has a vector and a matrix;
    children (a, A) and (b, B) give

        p = tanh(W [B a; A b] + w)
        P = W_M [A; B]                        W_M of H x 2H, [A; B] of 2H x H

    In the paper, each word has its own vector and matrix, which starts near the identity. The
    matrix is full, or U V' + diag(d) of a small rank r. That is `leaf` = "table": an input contains
    a word's vector (H), then the parameters m of its matrix. `leaf` = "projected" is ours: it maps
    a word vector of any width X to [z; m] = W_x x + b_x, and the vector is tanh(z), so that unseen
    words have a matrix too, and the table stays small. Either way the matrix is

        I + m, m of H x H, row by row                                   `rank` None
        U V' + diag(1 + d), m = [U; V; d], U and V of H x r, d of H     `rank` r

    so it is near I while m is small. The part of W_x for m is initialized H times smaller than its
    fan-in suggests; the values in a table are up to its author. A missing child counts as the
    vector 0 and the matrix I. State: the vector (n, H), and the matrix row by row (n, H * H).

    Raises ConfigError (a ValueError) if a table's X is not H + H^2, or H + 2 H r + H.
    """

    name = "mv_rnn.v1"
    summary = "matrix-vector recursive network, Socher et al. 2012, full or low rank"

    eye: Tensor

    def __init__(
        self,
        *,
        input_size: int,
        hidden_size: int,
        leaf: Leaf = "projected",
        rank: Count | None = None,
    ):
        per_matrix = hidden_size**2 if rank is None else 2 * hidden_size * rank + hidden_size
        row = hidden_size + per_matrix
        if leaf == "table" and input_size != row:
            raise ConfigError(
                f"leaf = 'table' with rank = {rank} and hidden_size = {hidden_size} needs "
                f"input_size = {row} (a vector and the parameters of a matrix), found "
                f"{input_size}; change input_size or set leaf = 'projected'"
            )
        sizes = [hidden_size, hidden_size * hidden_size]
        super().__init__(input_size, hidden_size, sizes, arity=2)
        self.rank = rank or 0
        projected = leaf == "projected"
        self.w = matrix(2 * hidden_size, hidden_size)
        self.b = vector(hidden_size)
        self.w_m = matrix(2 * hidden_size, hidden_size)
        self.w_x = matrix(input_size, row) if projected else None
        self.b_x = vector(row) if projected else None
        self.register_buffer("eye", torch.eye(hidden_size), persistent=False)
        if self.w_x is not None:
            self.w_x.data[:, hidden_size:] /= hidden_size

    def leaf(self, inputs: Tensor) -> list[Tensor]:
        w_x, b_x = self.w_x, self.b_x
        if w_x is None or b_x is None:
            return [inputs[:, : self.hidden_size], self.matrices(inputs[:, self.hidden_size :])]
        rows = affine(b_x, inputs, w_x)
        return [torch.tanh(rows[:, : self.hidden_size]), self.matrices(rows[:, self.hidden_size :])]

    def matrices(self, rows: Tensor) -> Tensor:
        """Return words' matrices (n, H * H) from parameters m, (n, H * H) or (n, 2 H r + H)."""
        if self.rank == 0:
            return rows + self.eye.flatten()
        factor = [rows.shape[0], self.hidden_size, self.rank]
        u, v, d = torch.split(rows, [factor[1] * factor[2], factor[1] * factor[2], factor[1]], 1)
        product = torch.bmm(u.reshape(factor), v.reshape(factor).transpose(1, 2))
        return (product + self.eye * (1 + d).unsqueeze(2)).flatten(1)

    def compose(self, inputs: Tensor, children: list[Tensor], links: Links) -> list[Tensor]:
        n, width = children[0].shape[0], self.hidden_size
        a, b = children[0].unsqueeze(3).unbind(1)
        # A missing child is the vector 0 and the identity, which does not change its sibling.
        matrices = children[1] + (links.kind == 0).unsqueeze(2) * self.eye.flatten()
        matrix_a, matrix_b = matrices.reshape([n, 2, width, width]).unbind(1)
        crossed = torch.cat([torch.bmm(matrix_b, a), torch.bmm(matrix_a, b)], 1).squeeze(2)
        # The columns of all [A; B] as rows of one product.
        columns = matrices.reshape([n, 2 * width, width]).transpose(1, 2)
        rows = columns.reshape([n * width, 2 * width]) @ self.w_m
        matrix = rows.view([n, width, width]).transpose(1, 2)
        return [torch.tanh(affine(self.b, crossed, self.w)), matrix.flatten(1)]
