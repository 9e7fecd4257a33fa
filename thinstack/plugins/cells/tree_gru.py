"""Tree-GRU, child-sum form: the gated recurrent unit (Cho et al. 2014) over the sum of the
children."""

from torch import Tensor

from thinstack.core.cell import Cell, Links, matrix, sum_by_owner, vector
from thinstack.core.fast import affine


class TreeGRU(Cell):
    """The gated recurrent unit of Cho et al. 2014, in the child-sum form of Tai et al. 2015,
    section 3.1, for node j with any number of children k in C(j):

        h~_j = sum_k h_k
        r_jk = sigmoid(W_r x_j + U_r h_k + b_r)
        z_j  = sigmoid(W_z x_j + U_z h~_j + b_z)
        n_j  = tanh(W_n x_j + U_n sum_k (r_jk * h_k) + b_n)
        h_j  = (1 - z_j) * n_j + z_j * h~_j

    A leaf is a node without children. With `inner_size` 0 only leaves have an x. State: h (n, H).
    """

    name = "tree_gru.v1"
    summary = "gated recurrent unit over children, child-sum form"
    inner_like_leaf = True

    def __init__(self, *, input_size: int, hidden_size: int, inner_size: int = 0):
        super().__init__(input_size, hidden_size, [hidden_size], arity=0, inner_size=inner_size)
        # To r if inner nodes read x, z, n.
        self.w = matrix(input_size, (3 if inner_size else 2) * hidden_size)
        self.u = matrix(hidden_size, 3 * hidden_size)  # to r, z, n
        self.b = vector(3 * hidden_size)  # r, z, n

    def leaf(self, inputs: Tensor) -> list[Tensor]:
        width = 2 * self.hidden_size
        z, new = affine(self.b[-width:], inputs, self.w[:, -width:]).chunk(2, 1)
        return [(1 - z.sigmoid()) * new.tanh()]

    def compose(self, inputs: Tensor, children: list[Tensor], links: Links) -> list[Tensor]:
        hidden, owner, n = children[0], links.owner, inputs.shape[0]
        u_r, u_z, u_n = self.u.chunk(3, 1)
        b_r, b_z, b_n = self.b.chunk(3)
        from_x = inputs.new_zeros([n, 3 * self.hidden_size])
        if self.inner_size > 0:
            from_x = inputs @ self.w
        x_r, x_z, x_n = from_x.chunk(3, 1)
        total = sum_by_owner(hidden, owner, n)
        r = (x_r.index_select(0, owner) + affine(b_r, hidden, u_r)).sigmoid()
        z = (x_z + affine(b_z, total, u_z)).sigmoid()
        new = (x_n + affine(b_n, sum_by_owner(r * hidden, owner, n), u_n)).tanh()
        return [(1 - z) * new + z * total]
