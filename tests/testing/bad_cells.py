"""Cells that break one rule each, for the contract suite to find out."""

import torch
from torch import Tensor, nn

from thinstack.core.cell import Cell, Links, sum_by_owner


class Good(Cell):
    """h = tanh(x W + sum_k h_k U + b), a leaf has no children; the rule breakers are derived from
    it and have another way to add up, or to squash the sums of a node or a leaf."""

    name = "good.v1"

    def __init_subclass__(cls) -> None:
        cls.name = f"{cls.__name__.lower()}.v1"

    def __init__(self, *, input_size: int, hidden_size: int, inner_size: int = 0, arity: int = 2):
        super().__init__(
            input_size=input_size,
            inner_size=inner_size,
            hidden_size=hidden_size,
            state_sizes=[hidden_size],
            arity=arity,
        )
        self.w = nn.Parameter(torch.rand(input_size, hidden_size))
        self.u = nn.Parameter(torch.rand(max(arity, 1), hidden_size, hidden_size))
        self.b = nn.Parameter(torch.zeros(hidden_size))
        self.add()

    def add(self) -> None:
        """The end of the constructor."""

    def leaf(self, inputs: Tensor) -> list[Tensor]:
        return [self.squash_leaf(inputs @ self.w + self.b)]

    def compose(self, inputs: Tensor, children: list[Tensor], links: Links) -> list[Tensor]:
        return [self.squash(self.total(inputs, children, links))]

    def total(self, inputs: Tensor, children: list[Tensor], links: Links) -> Tensor:
        total = inputs @ self.w if self.inner_size > 0 else self.b
        if self.arity == 0:
            return total + sum_by_owner(children[0] @ self.u[0], links.owner, inputs.shape[0])
        return total + children[0].flatten(1) @ self.u.flatten(0, 1)

    def squash(self, total: Tensor) -> Tensor:
        return torch.tanh(total)

    def squash_leaf(self, total: Tensor) -> Tensor:
        return torch.tanh(total)


class RowMixing(Good):
    """Normalises over the batch."""

    def squash(self, total: Tensor) -> Tensor:
        return torch.tanh(total - total.mean(0, keepdim=True))


class CountsRows(Good):
    """Branches on the number of rows."""

    def squash(self, total: Tensor) -> Tensor:
        return torch.tanh(total * 2 if total.shape[0] > 4 else total)


class InOrder(Good):
    """Takes the child states to come in the order of their nodes, and of equal number."""

    def total(self, inputs: Tensor, children: list[Tensor], links: Links) -> Tensor:
        weight = torch.arange(links.owner.shape[0], device=inputs.device)
        below = children[0] @ self.u[0] * weight.to(inputs.dtype).unsqueeze(1)
        return sum_by_owner(below, links.owner, inputs.shape[0]) + self.b


class LeafMixing(Good):
    """Normalises leaves over the batch."""

    def squash_leaf(self, total: Tensor) -> Tensor:
        return torch.tanh(total - total.mean(0, keepdim=True) + self.b)


class CountsResults(Good):
    """Takes the number of rows from an affine map, which frozen TorchScript gets wrong."""

    def leaf(self, inputs: Tensor) -> list[Tensor]:
        total = torch.addmm(self.b, inputs, self.w)
        return [torch.tanh(total) * total.new_ones([total.shape[0], 1])]


class Overwrites(Good):
    """Writes to the inputs of inner nodes."""

    def compose(self, inputs: Tensor, children: list[Tensor], links: Links) -> list[Tensor]:
        return [torch.tanh(self.total(inputs.mul_(2), children, links))]


class OverwritesState(Good):
    """`output` writes to the state."""

    def output(self, state: list[Tensor]) -> Tensor:
        return state[0].mul_(2)


class WrongWidth(Good):
    """`output` is wider than hidden_size."""

    def output(self, state: list[Tensor]) -> Tensor:
        return torch.cat([state[0], state[0][:, :1]], 1)


class WrongSize(Good):
    """Makes itself larger than it was asked to be."""

    def __init__(self, *, input_size: int, hidden_size: int):
        super().__init__(input_size=input_size, hidden_size=hidden_size + 1)


class SinglePrecision(Good):
    """Makes a tensor of torch's default type."""

    def squash_leaf(self, total: Tensor) -> Tensor:
        return torch.tanh(total).float()


class Reshapes(Good):
    """Reshapes with -1, which has no answer where there are no rows."""

    def squash_leaf(self, total: Tensor) -> Tensor:
        return torch.tanh(total).view(total.shape[0], -1)


class Averages(Good):
    """Divides by the number of children."""

    def total(self, inputs: Tensor, children: list[Tensor], links: Links) -> Tensor:
        n = inputs.shape[0]
        count = sum_by_owner(torch.ones_like(children[0][:, :1]), links.owner, n)
        return sum_by_owner(children[0] @ self.u[0], links.owner, n) / count + self.b


class DeadParameter(Good):
    """Registers a parameter that nothing reads."""

    def add(self) -> None:
        self.gate = nn.Parameter(torch.zeros(self.hidden_size))


class DeadInput(Good):
    """Says that it reads inner inputs, and does not."""

    def total(self, inputs: Tensor, children: list[Tensor], links: Links) -> Tensor:
        return self.b + children[0].flatten(1) @ self.u.flatten(0, 1)


class Unscriptable(Good):
    """Has a lambda."""

    def add(self) -> None:
        self.curve = lambda values: torch.tanh(values)

    def squash(self, total: Tensor) -> Tensor:
        return self.curve(total)


class BranchesOnValues(Good):
    """Has an `if` on values, which the exporter of ONNX cannot follow."""

    def squash(self, total: Tensor) -> Tensor:
        return torch.tanh(total.clamp(max=1000) if bool((total > 1000).any()) else total)


class Detached(Good):
    """Cuts the gradient of its bias."""

    def squash(self, total: Tensor) -> Tensor:
        return torch.tanh(total + (2 * self.b).detach())


class Remembers(Good):
    """Counts the calls of compose, and so knows the depth."""

    def add(self) -> None:
        self.calls = 0

    def squash(self, total: Tensor) -> Tensor:
        self.calls += 1
        return torch.tanh(total / self.calls)


class FewKinds(Good):
    """Has room for two edge types however many the model has."""

    def add(self) -> None:
        self.kinds = 2
        self.types = nn.Parameter(torch.zeros(3, self.hidden_size))

    def compose(self, inputs: Tensor, children: list[Tensor], links: Links) -> list[Tensor]:
        shape = [inputs.shape[0], self.arity, self.hidden_size]
        types = self.types.index_select(0, links.kind.flatten()).view(shape)
        return [torch.tanh(self.total(inputs, children, links) + types.sum(1))]


class Lazy(Good):
    """Makes a parameter when it is first called."""

    def squash_leaf(self, total: Tensor) -> Tensor:
        if not hasattr(self, "late"):
            self.late = nn.Parameter(torch.ones(self.hidden_size, dtype=total.dtype))
        return torch.tanh(total) * self.late.to(total.dtype)


class Uninitialised(Good):
    """Leaves a parameter as it finds it."""

    def add(self) -> None:
        nn.init.constant_(self.b, torch.nan)


class OtherwiseScripted(Good):
    """Computes something else in TorchScript."""

    def squash(self, total: Tensor) -> Tensor:
        return total.sigmoid() if torch.jit.is_scripting() else total.tanh()


class OtherOperator(Good):
    """Needs an operator that no other cell does."""

    def squash(self, total: Tensor) -> Tensor:
        return total.tanh() + nn.functional.softplus(total)


class OtherwiseExported(Good):
    """Computes something else while it is exported."""

    def squash(self, total: Tensor) -> Tensor:
        return total.sigmoid() if torch.compiler.is_compiling() else total.tanh()
