"""The N-ary Tree-LSTM as Tai, Socher & Manning (2015) ran it."""

from typing import Annotated, Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from thinstack.core.cell import Cell, Links
from thinstack.core.fast import affine
from thinstack.core.lstm_gates import lstm_gates, repeat_forget

__all__ = ["NaryLSTMOfTable1"]


class NaryLSTMOfTable1(Cell):
    """`nary_lstm.v1` with options that depart from equations (9)-(14): the cell as its authors ran
    it. It has the parameter counts of their Table 1, which the equations do not give.

    Args:
        arity: N.
        forget: U_f,kl for k != l: `full`, each its own; `tied`, one for all of them; `diagonal`,
            zero (section 3.2).
        leaf: `shared`, the same equations with the sums left out; `own`, h = o * tanh(c) with c = W
            x + b and o = sigmoid(W_o x + b_o), by matrices of its own.
        bias: `single`, as printed; `double`, b for the input map and another for each recurrent
            map, whether it has a child or not. There is no b if neither leaves (`own`) nor inner
            nodes read x through W.
        output_gate: False leaves it out: h = tanh(c), at leaves too.
    """

    name = "nary_lstm_of_table_1.v1"
    summary = "N-ary Tree-LSTM as its authors ran it, Tai et al. 2015, Table 1"
    inner_like_leaf = True

    w: Tensor
    u_f: Tensor
    b: Tensor
    b_u: Tensor
    w_leaf: Tensor
    b_leaf: Tensor
    uses: Tensor

    def __init__(
        self,
        *,
        input_size: int,
        hidden_size: int,
        inner_size: int = 0,
        arity: Annotated[int, Field(ge=1)] = 2,
        forget: Literal["full", "tied", "diagonal"] = "full",
        leaf: Literal["shared", "own"] = "shared",
        bias: Literal["single", "double"] = "single",
        output_gate: bool = True,
    ):
        super().__init__(
            input_size=input_size,
            inner_size=inner_size,
            hidden_size=hidden_size,
            state_sizes=[hidden_size] * 2,
            arity=arity,
        )
        self.forget = forget if arity > 1 else "full"  # one child has nothing off the diagonal
        self.own_leaf, self.double_bias = leaf == "own", bias == "double"
        self.output_gate = output_gate
        self.reads_x = inner_size > 0 or not self.own_leaf
        self._register()
        for part in self.parameters():
            if part.dim() > 1:
                bound = part.shape[-2] ** -0.5
                nn.init.uniform_(part, -bound, bound)
            else:
                nn.init.zeros_(part)

    def _register(self) -> None:
        """The parameters that the options ask for; an attribute that they do not is empty and never
        read."""
        x, h, n, full = self.input_size, self.hidden_size, self.arity, self.forget == "full"
        gates = 4 if self.output_gate else 3
        uses = _uses(n, self.forget, gates)
        # To i, f if inner nodes read x, o, u.
        self.w = _parameter(self.reads_x, x, (gates if self.inner_size else gates - 1) * h)
        # To i, f_1 .. f_N if full, o, u.
        self.u = nn.Parameter(torch.empty(n * h, (gates - 1 + (n if full else 0)) * h))
        self.b = _parameter(self.reads_x or not self.double_bias, gates * h)  # i, f, o, u
        # Of each child, then the tied one.
        self.u_f = _parameter(not full, n + (self.forget == "tied"), h, h)
        # Of the maps to i, to f_1 .. f_N, to o, to u.
        self.b_u = _parameter(self.double_bias, uses.shape[1] * h)
        self.w_leaf = _parameter(self.own_leaf, x, (gates - 2) * h)  # c, o
        self.b_leaf = _parameter(self.own_leaf, (gates - 2) * h)
        self.register_buffer("uses", uses, persistent=False)

    def leaf(self, inputs: Tensor) -> list[Tensor]:
        width = self.hidden_size
        if self.own_leaf:
            gates = affine(self.b_leaf, inputs, self.w_leaf)
            cell = gates[:, :width]
            return [
                gates[:, width:].sigmoid() * cell.tanh() if self.output_gate else cell.tanh(),
                cell,
            ]
        bias = repeat_forget(self.b, width, 0)
        if self.double_bias:
            recurrent = self._recurrent_bias()
            after = (1 + self.arity) * width
            bias = bias + torch.cat([recurrent[:width], recurrent[after:]])
        w = repeat_forget(self.w, width, 0) if self.inner_size > 0 else self.w
        gates = affine(bias, inputs, w)
        return self._state(gates, inputs.new_zeros([inputs.shape[0], 0, width]))

    def compose(self, inputs: Tensor, children: list[Tensor], links: Links) -> list[Tensor]:
        bias = self._bias()
        gates = (
            affine(bias, children[0].flatten(1), self.u)
            if self.forget == "full"
            else bias + self._sparse(children[0])
        )
        if self.inner_size > 0:
            gates = gates + repeat_forget(inputs @ self.w, self.hidden_size, self.arity)
        return self._state(gates, children[1])

    def _sparse(self, hidden: Tensor) -> Tensor:
        """What the children give to the gates when not every U_f,kl is there: (n, N, H) -> i,
        f_1 .. f_N, o, u."""
        gates, width = hidden.flatten(1) @ self.u, self.hidden_size
        total = hidden.sum(1)
        parts = [gates[:, :width]]
        for k in range(self.arity):  # onnxruntime dies of a batched product over no rows
            forget = hidden[:, k] @ self.u_f[k]
            if self.forget == "tied":
                forget = forget + (total - hidden[:, k]) @ self.u_f[self.arity]
            parts.append(forget)
        parts.append(gates[:, width:])
        return torch.cat(parts, 1)

    def _bias(self) -> Tensor:
        """All biases of each gate of an inner node, in the order i, f_1 .. f_N, o, u."""
        if self.double_bias and not self.reads_x:
            return self._recurrent_bias()
        bias = repeat_forget(self.b, self.hidden_size, self.arity)
        return bias + self._recurrent_bias() if self.double_bias else bias

    def _recurrent_bias(self) -> Tensor:
        """Sum of the biases of each gate's recurrent maps, in the order i, f_1 .. f_N, o, u."""
        return (self.uses @ self.b_u.view(-1, self.hidden_size)).flatten()

    def _state(self, gates: Tensor, cells: Tensor) -> list[Tensor]:
        """(13) and (14) from the gates i, f_1 .. f_N, o, u before squashing and the children's
        cells (n, N, H)."""
        if self.output_gate:
            hidden, cell = lstm_gates(gates, cells)
            return [hidden, cell]
        width = self.hidden_size
        cell = gates[:, :width].sigmoid() * gates[:, -width:].tanh()
        for k in range(cells.shape[1]):
            cell = cell + gates[:, (1 + k) * width : (2 + k) * width].sigmoid() * cells[:, k]
        return [cell.tanh(), cell]


def _parameter(needed: bool, *shape: int) -> Tensor:
    return nn.Parameter(torch.empty(shape)) if needed else torch.empty(0)


def _uses(arity: int, forget: str, gates: int) -> Tensor:
    """How often each gate (i, f_1 .. f_N, o, u) uses each recurrent map, and with it that map's
    bias: (gates, maps)."""
    all_children = torch.ones(1, arity)
    of_f = torch.eye(arity)
    if forget == "full":
        of_f = torch.kron(of_f, all_children)
    elif forget == "tied":
        of_f = torch.cat([of_f, torch.full([arity, 1], arity - 1.0)], 1)
    uses: Tensor = torch.block_diag(all_children, of_f, *[all_children] * (gates - 2))  # type: ignore[no-untyped-call]
    return uses
