"""Cells whose results for a row depend on other rows, on how many there are, or where it stands."""

from typing import Any

import torch
from bad_cells import Good
from torch import Tensor, nn

from thinstack.core.cell import Links, sum_by_owner


class InnerStatistics(Good):
    """Centres inner inputs over the batch."""

    def compose(self, inputs: Tensor, children: list[Tensor], links: Links) -> list[Tensor]:
        if self.inner_size > 0:
            inputs = inputs - inputs.mean(0, keepdim=True)
        return [self.squash(self.total(inputs, children, links))]


class BatchStatistics(Good):
    """Batch normalisation that never learns a mean, and takes that of the batch in evaluation."""

    def add(self) -> None:
        self.norm = nn.BatchNorm1d(self.hidden_size, track_running_stats=False)

    def squash(self, total: Tensor) -> Tensor:
        return torch.tanh(self.norm(total) if total.shape[0] > 1 else total)


class LargeBatches(Good):
    """Centres over the batch from 1,000 rows on."""

    def squash(self, total: Tensor) -> Tensor:
        return torch.tanh(total - total.mean(0) if total.shape[0] >= 1000 else total)


class HugeBatches(Good):
    """Takes another way from 30,000 rows on."""

    def squash_leaf(self, total: Tensor) -> Tensor:
        return torch.tanh(total if total.shape[0] < 30_000 else 2 * total)


class Chunks(Good):
    """Computes chunks of 512 rows, and forgets the bias in all but the first."""

    def squash_leaf(self, total: Tensor) -> Tensor:
        return torch.tanh(torch.cat([total[:512], total[512:] - self.b]))


class Aligned(Good):
    """Takes another way for whole blocks of 8 rows."""

    def squash_leaf(self, total: Tensor) -> Tensor:
        n = total.shape[0]
        return torch.tanh(total * 2 if n > 0 and n % 8 == 0 else total)


class Pairs(Good):
    """Has a way of its own for two rows."""

    def squash_leaf(self, total: Tensor) -> Tensor:
        return torch.sigmoid(total) if total.shape[0] == 2 else torch.tanh(total)


class FirstHundred(Good):
    """Takes the first 100 children of a node, and no others."""

    def total(self, inputs: Tensor, children: list[Tensor], links: Links) -> Tensor:
        n = inputs.shape[0]
        owner, order = links.owner.sort(stable=True)
        place = torch.arange(owner.shape[0], device=owner.device)
        kept = (place - torch.searchsorted(owner, owner) < 100).to(inputs.dtype).unsqueeze(1)
        return sum_by_owner(children[0][order] @ self.u[0] * kept, owner, n) + self.b


class FewEdges(Good):
    """Takes no more than 1,000 children of all nodes together."""

    def total(self, inputs: Tensor, children: list[Tensor], links: Links) -> Tensor:
        below = children[0][:1000] @ self.u[0]
        return sum_by_owner(below, links.owner[:1000], inputs.shape[0]) + self.b


class Positions(Good):
    """Adds a little that depends on where a row stands."""

    def squash_leaf(self, total: Tensor) -> Tensor:
        place = torch.arange(total.shape[0], device=total.device).to(total.dtype)
        return torch.tanh(total + 1e-4 * place.sin().unsqueeze(1))


class FirstRow(Good):
    """Singles out the first row."""

    def squash_leaf(self, total: Tensor) -> Tensor:
        return torch.tanh(torch.cat([total[:1] * 2, total[1:]]))


class GlobalMaximum(Good):
    """Shares of children by a softmax that subtracts the maximum over all nodes."""

    def total(self, inputs: Tensor, children: list[Tensor], links: Links) -> Tensor:
        n = inputs.shape[0]
        score = children[0].sum(1, keepdim=True)
        if score.shape[0] > 0:
            score = score - score.max()
        share = score.exp()
        norm = sum_by_owner(share, links.owner, n).clamp(min=1e-300)
        return self.b + sum_by_owner(share * (children[0] @ self.u[0]), links.owner, n) / norm


class HalfIndex(Good):
    """Keeps the owners in half precision, which counts to 2,048."""

    def total(self, inputs: Tensor, children: list[Tensor], links: Links) -> Tensor:
        owner = links.owner.half().long().clamp(max=max(inputs.shape[0] - 1, 0))
        return sum_by_owner(children[0] @ self.u[0], owner, inputs.shape[0]) + self.b


class ByteIndex(Good):
    """Keeps the owners in 8 bits."""

    def total(self, inputs: Tensor, children: list[Tensor], links: Links) -> Tensor:
        owner = links.owner.to(torch.int8).long()
        return sum_by_owner(children[0] @ self.u[0], owner, inputs.shape[0]) + self.b


class LastChild(Good):
    """Writes where it should add: the last child of a node remains."""

    def total(self, inputs: Tensor, children: list[Tensor], links: Links) -> Tensor:
        below = inputs.new_zeros([inputs.shape[0], self.hidden_size])
        return below.index_copy(0, links.owner, children[0] @ self.u[0]) + self.b


class OneEach(Good):
    """Takes as many children as nodes for one child each, in order."""

    def total(self, inputs: Tensor, children: list[Tensor], links: Links) -> Tensor:
        if links.owner.shape[0] == inputs.shape[0]:
            return children[0] @ self.u[0] * 2 + self.b
        return sum_by_owner(children[0] @ self.u[0], links.owner, inputs.shape[0]) + self.b


class NextNodes(Good):
    """Reads the children of the next row."""

    def total(self, inputs: Tensor, children: list[Tensor], links: Links) -> Tensor:
        return children[0].roll(1, 0).flatten(1) @ self.u.flatten(0, 1) + self.b


class FirstChildOnly(Good):
    """Reads one of two children."""

    def total(self, inputs: Tensor, children: list[Tensor], links: Links) -> Tensor:
        return children[0][:, 0] @ self.u[0] + 0 * self.u[1].sum() + self.b


class MostColumns(Good):
    """Does not read the last column of its inputs."""

    def leaf(self, inputs: Tensor) -> list[Tensor]:
        return [torch.tanh(inputs[:, :-1] @ self.w[:-1] + self.b)]


class Quantised(Good):
    """Rounds to 8 bits of the greatest number of the batch."""

    def squash_leaf(self, total: Tensor) -> Tensor:
        scale = (total.abs().amax() / 127).clamp(min=1e-6) if len(total) else total.new_ones([])
        return torch.tanh((total / scale).round() * scale)


class _Clipped(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: Tensor) -> Tensor:
        return values.clone()

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        return grad / (grad.norm() / 10).clamp(min=1)


class ClipsGradients(Good):
    """Clips the gradient of the whole batch, which three rows do not reach."""

    def squash_leaf(self, total: Tensor) -> Tensor:
        return torch.tanh(_Clipped.apply(total))


class Squeezes(Good):
    """Loses the rows' dimension where there is one row."""

    def squash_leaf(self, total: Tensor) -> Tensor:
        return torch.tanh(total.unsqueeze(1)).squeeze()


class SqueezesWidth(Good):
    """Loses the columns' dimension where there is one column."""

    def squash_leaf(self, total: Tensor) -> Tensor:
        return torch.tanh(total).squeeze(1)


class Views(Good):
    """Takes the inputs to lie row by row in memory."""

    def leaf(self, inputs: Tensor) -> list[Tensor]:
        return super().leaf(inputs.view(inputs.shape[0] * self.input_size).view_as(inputs))


class Strides(Good):
    """Reads the memory of the inputs as it would lie by default."""

    def leaf(self, inputs: Tensor) -> list[Tensor]:
        return super().leaf(inputs.as_strided(inputs.shape, (self.input_size, 1)))


class FourWide(Good):
    """Has the width of its tests written down."""

    def squash_leaf(self, total: Tensor) -> Tensor:
        return torch.tanh(total.reshape(total.shape[0], 4))


class ThreeKinds(Good):
    """Has a table of two types of edges, and does not say so."""

    def add(self) -> None:
        self.types = nn.Parameter(torch.zeros(3, self.hidden_size))

    def compose(self, inputs: Tensor, children: list[Tensor], links: Links) -> list[Tensor]:
        types = self.types[links.kind].sum(1)
        return [torch.tanh(self.total(inputs, children, links) + types)]
