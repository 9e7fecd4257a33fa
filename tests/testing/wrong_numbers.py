"""Cells that give NaN or infinite numbers, as values or as gradients, for rows that occur."""

import torch
from bad_cells import Good
from torch import Tensor, nn

from thinstack.core.cell import Links, sum_by_owner


class NormAtZero(Good):
    """Divides an input by its norm, which is 0 for an unknown word."""

    def leaf(self, inputs: Tensor) -> list[Tensor]:
        return super().leaf(inputs / inputs.norm(dim=1, keepdim=True))


class NormOfState(Good):
    """Gives states the norm 1; with the biases of the start, zeros stay zeros."""

    def squash(self, total: Tensor) -> Tensor:
        h = torch.tanh(total)
        return h / h.norm(dim=1, keepdim=True)


class EmptyRows(Good):
    """Computes no unknown words, and leaves their rows as the memory was."""

    def leaf(self, inputs: Tensor) -> list[Tensor]:
        state = inputs.new_empty([inputs.shape[0], self.hidden_size])
        known = (inputs != 0).any(1)
        state[known] = torch.tanh(inputs[known] @ self.w + self.b)
        return [state]


class WhereTrap(Good):
    """Hides NaN by torch.where, which leaves it in the gradient."""

    def leaf(self, inputs: Tensor) -> list[Tensor]:
        norm = inputs.pow(2).sum(1, keepdim=True).sqrt()
        return super().leaf(torch.where(norm > 0, inputs / norm, 0.0))


class Logarithm(Good):
    """The logarithm of the entries' sizes, squashed afterwards: finite, but not its gradient."""

    def leaf(self, inputs: Tensor) -> list[Tensor]:
        return super().leaf(torch.tanh(inputs.abs().log()))


class RootOfSum(Good):
    """Multiplies by the root of a sum of squares, whose gradient is infinite at 0."""

    def leaf(self, inputs: Tensor) -> list[Tensor]:
        length = (inputs * inputs).sum(1, keepdim=True).sqrt()
        return [torch.tanh((inputs @ self.w + self.b) * length)]


class HalfPower(Good):
    """Takes the square root of each entry, with its sign."""

    def leaf(self, inputs: Tensor) -> list[Tensor]:
        return super().leaf(inputs.sign() * inputs.abs() ** 0.5)


class SpreadOfRow(Good):
    """Normalises rows by their spread, which is 0 where all entries are equal."""

    def leaf(self, inputs: Tensor) -> list[Tensor]:
        middle = inputs.mean(1, keepdim=True)
        return super().leaf((inputs - middle) / inputs.std(1, keepdim=True))


class CosineOfChildren(Good):
    """Weighs by the cosine of two children, one of which may not be there."""

    def squash(self, total: Tensor) -> Tensor:
        return torch.tanh(total)

    def compose(self, inputs: Tensor, children: list[Tensor], links: Links) -> list[Tensor]:
        a, b = children[0].unbind(1)
        cosine = (a * b).sum(1) / (a.norm(dim=1) * b.norm(dim=1))
        return [torch.tanh(self.total(inputs, children, links) * cosine.unsqueeze(1))]


class SpreadOfChildren(Good):
    """Divides by the unbiased spread of a node's children, which one child has not."""

    def total(self, inputs: Tensor, children: list[Tensor], links: Links) -> Tensor:
        n = inputs.shape[0]
        below = children[0] @ self.u[0]
        count = sum_by_owner(torch.ones_like(below), links.owner, n)
        middle = sum_by_owner(below, links.owner, n) / count.clamp(min=1)
        squares = sum_by_owner(below**2, links.owner, n) / count.clamp(min=1)
        return self.b + middle / (squares - middle**2).clamp(min=0).sqrt()


class TinyEps(Good):
    """Adds a number that is 0 in float32."""

    def leaf(self, inputs: Tensor) -> list[Tensor]:
        return super().leaf(inputs / (inputs.abs().sum(1, keepdim=True) + 1e-60))


class ByParameter(Good):
    """Divides by a parameter that starts at 0."""

    def squash_leaf(self, total: Tensor) -> Tensor:
        return torch.tanh(total / self.b)


class AcosOfEntries(Good):
    """The angle of each entry, clamped to where it is defined, but not its gradient."""

    def leaf(self, inputs: Tensor) -> list[Tensor]:
        return super().leaf(torch.acos(inputs.clamp(-1, 1)))


class OwnSigmoid(Good):
    """A sigmoid written out: right values, NaN as the gradient below -88."""

    def squash_leaf(self, total: Tensor) -> Tensor:
        return 1 / (1 + torch.exp(-total))


class OwnTanh(Good):
    """A tanh written out."""

    def squash_leaf(self, total: Tensor) -> Tensor:
        up, down = total.exp(), (-total).exp()
        return (up - down) / (up + down)


class OwnSoftplus(Good):
    """A softplus written out."""

    def squash_leaf(self, total: Tensor) -> Tensor:
        return torch.tanh(torch.log(1 + torch.exp(total)))


class OwnSoftmax(Good):
    """A softmax written out."""

    def squash_leaf(self, total: Tensor) -> Tensor:
        return total.exp() / total.exp().sum(1, keepdim=True)


class GateOfNodes(Good):
    """An exponential gate of inner nodes only, whose states are squashed."""

    def squash(self, total: Tensor) -> Tensor:
        return torch.tanh(total) / (1 + torch.exp(-total))


class GateOfInputs(Good):
    """An exponential gate that only inner inputs drive."""

    def compose(self, inputs: Tensor, children: list[Tensor], links: Links) -> list[Tensor]:
        (h,) = super().compose(inputs, children, links)
        return [h * (inputs @ self.w).exp() if self.inner_size > 0 else h]


class Entropy(Good):
    """Multiplies by the entropy of a softmax, whose small shares have no logarithm."""

    def squash_leaf(self, total: Tensor) -> Tensor:
        share = torch.softmax(total, 1)
        return torch.tanh(total * -(share * share.log()).sum(1, keepdim=True))


class Logit(Good):
    """The logit of a sigmoid, which reaches 1."""

    def squash_leaf(self, total: Tensor) -> Tensor:
        share = torch.sigmoid(total)
        return torch.tanh(torch.log(share / (1 - share)))


class FifthPower(Good):
    """Raises to a power beyond what float32 holds, then normalises."""

    def squash_leaf(self, total: Tensor) -> Tensor:
        power = total.abs() ** 15
        return power / (1 + power)


class MaskedAttention(Good):
    """Shares of children, of which those that are not there have -inf, all of them at times."""

    def add(self) -> None:
        self.score = nn.Parameter(torch.ones(self.hidden_size))

    def total(self, inputs: Tensor, children: list[Tensor], links: Links) -> Tensor:
        score = (children[0] @ self.score).masked_fill(links.kind == 0, -torch.inf)
        share = torch.softmax(score, 1).unsqueeze(2)
        return self.b + (share * children[0]).flatten(1) @ self.u.flatten(0, 1)
