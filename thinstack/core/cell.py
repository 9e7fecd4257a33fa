"""The contract of a composition cell, the only class that the author of a cell implements."""

from typing import ClassVar, NamedTuple

import torch
from torch import Tensor, nn

from thinstack.core.config import TreeKind


class Links(NamedTuple):
    """The edges between the child states that `Cell.compose` receives and its n nodes.

    Attributes:
        owner: int64 (E,), the row of `inputs` that each child state flows into, in any order. (0,)
            for a fixed arity.
        kind: int64, the edge type 1..kinds of each child: (E,), or (n, N) for a fixed arity. There,
            0 means that the child does not exist.
    """

    owner: Tensor
    kind: Tensor


def sum_by_owner(values: Tensor, owner: Tensor, n: int) -> Tensor:
    """Sum the rows of `values` (E, W) for each node that they flow into: (n, W)."""
    return values.new_zeros([n, values.shape[1]]).index_add(0, owner, values)


def matrix(*shape: int, bound: float | None = None) -> nn.Parameter:
    """Return a uniform weight (.., fan in, fan out) within `bound`, by default 1 / sqrt(fan in)."""
    weight, bound = torch.empty(shape), shape[-2] ** -0.5 if bound is None else bound
    return nn.Parameter(nn.init.uniform_(weight, -bound, bound))


def vector(size: int) -> nn.Parameter:
    """Return a weight (size,), initialized to zero."""
    return nn.Parameter(torch.zeros(size))


class Cell(nn.Module):
    """A module that composes the states of children into their parent's, for many nodes at once.

    A *state* is a list of tensors with one row for each node, of widths `state_sizes`. In
    evaluation mode, rows are independent. Zero rows must work, that is, n = 0 or E = 0. A cell may
    overwrite `children`, but not `inputs`.

    A cell does not handle batches, depths, ONNX or TorchScript, but it must be exportable: its
    methods have type annotations, loop only over the parts and children of a state, and do not
    branch on values or the number of rows; attributes are set in `__init__`.

    Args:
        input_size: width X of a leaf's input.
        hidden_size: width H of what `output` returns.
        state_sizes: widths of the state's parts.
        arity: number N of children that `compose` receives, 0 for any number.
        inner_size: width of the input at inner nodes, 0 for no input.
        kinds: number of edge types that the cell distinguishes, 0 if it does not read them.
        word_part: the part of the state that is the head-word vector, for a top-down pass, or -1.

    Attributes:
        name: a versioned name, such as `my_cell.v1`, by which saved models find the cell.
        summary: a description of the cell in one line.
        inner_like_leaf: whether `inner_size` must be 0 or X.
        bf16: whether it may be trained in bfloat16, that is, under torch's autocast.
        factors: names of its matrices (K, W) that multiply rows with known bounds, such as states.
            A model with products in 8 bits stores them with a scale per column.

    Raises ValueError if `inner_like_leaf` is set and `inner_size` is neither 0 nor X.
    """

    plugin_kind: ClassVar[str] = "cell"
    name: ClassVar[str]
    summary: ClassVar[str] = ""
    inner_like_leaf: ClassVar[bool] = False
    bf16: ClassVar[bool] = True
    factors: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        state_sizes: list[int],
        *,
        arity: int,
        inner_size: int = 0,
        kinds: int = 0,
        word_part: int = -1,
    ):
        super().__init__()
        if self.inner_like_leaf and inner_size not in (0, input_size):
            raise ValueError(f"inner_size must be 0 or {input_size = }, found {inner_size}")
        self.input_size = int(input_size)
        self.inner_size = int(inner_size)
        self.hidden_size = int(hidden_size)
        self.state_sizes = [int(width) for width in state_sizes]
        self.arity = int(arity)
        self.kinds = int(kinds)
        self.word_part = int(word_part)

    def leaf(self, inputs: Tensor) -> list[Tensor]:
        """Return the state of n leaves. By default, a leaf is composed as a node without children.

        Shapes:
            inputs: (n, X).
            returned: (n, width) for each part of the state.
        """
        none = torch.zeros([0], dtype=torch.long, device=inputs.device)
        n, fixed = inputs.shape[0], self.arity > 0
        children: list[Tensor] = []
        for width in self.state_sizes:
            children.append(inputs.new_zeros([n, self.arity, width] if fixed else [0, width]))
        kinds = none.new_zeros([n, self.arity]) if fixed else none
        return self.compose(inputs, children, Links(none, kinds))

    def compose(self, inputs: Tensor, children: list[Tensor], links: Links) -> list[Tensor]:
        """Return the state of n nodes, from their inputs and the states of their children.

        Shapes:
            inputs: (n, inner_size).
            children: (n, N, width) for each part of the state, or (E, width) for any arity.
            returned: (n, width) for each part of the state.
        """
        # Contracts are not abstract classes, because some methods are optional, such as
        # `Encoder.judge`.
        raise NotImplementedError("a Cell must define compose")

    def output(self, state: list[Tensor]) -> Tensor:
        """Return the part of the state of n nodes that a task head reads, by default the first.

        Shapes:
            state: (n, width) for each part.
            returned: (n, H).
        """
        return state[0]


def misfit(cell: Cell, trees: TreeKind, inner_size: int, *, layer: int) -> str:
    """Return why a cell does not fit into this layer of a model of such trees, or ""."""
    arity = {"binary": 2, "sequence": 1}.get(trees)
    if arity and cell.arity not in (0, arity):
        problem = f"a {trees}-tree model needs arity {arity} (or 0, any number)"
    elif not arity and cell.arity == 1:
        problem = f"a {trees}-tree model needs arity 0 (any number) or at least 2"
    elif cell.inner_size == inner_size:
        return ""
    elif inner_size == 0:
        problem = f"{trees} trees have words at their leaves only, so the cell needs inner_size 0"
    else:
        place = f"layer {layer} of a deep encoder" if layer > 1 else f"a {trees}-tree model"
        input_ = f"an input of width {inner_size} at every node"
        problem = f"{place} has {input_}, which the cell ignores"
    return f"{described(cell)}; {problem}"


def described(cell: Cell) -> str:
    """Describe the sizes of a cell."""
    return (
        f"{type(cell).__name__} has arity {cell.arity}, input_size {cell.input_size} and "
        f"inner_size {cell.inner_size}"
    )
