"""Cells that make tensors of another device or type, or are wrong in training mode."""

import numpy as np
import torch
from bad_cells import Good
from torch import Tensor, nn

from thinstack.core.cell import Links, sum_by_owner

SCALE = torch.full([4], 0.9, dtype=torch.float64)


class NoDevice(Good):
    """Makes zeros without a device."""

    def squash_leaf(self, total: Tensor) -> Tensor:
        return torch.tanh(total + torch.zeros(total.shape, dtype=total.dtype))


class IndexWithoutDevice(Good):
    """Makes an index without a device."""

    def squash_leaf(self, total: Tensor) -> Tensor:
        return torch.tanh(total.index_select(1, torch.arange(self.hidden_size)))


class ListOfNumbers(Good):
    """Makes a tensor of a list."""

    def squash_leaf(self, total: Tensor) -> Tensor:
        return torch.tanh(total * torch.tensor([0.5] * self.hidden_size, dtype=total.dtype))


class PlainAttribute(Good):
    """Keeps a constant as an attribute, which does not move with the module."""

    def add(self) -> None:
        self.scale = torch.full([self.hidden_size], 0.5, dtype=torch.float64)

    def squash_leaf(self, total: Tensor) -> Tensor:
        return torch.tanh(total * self.scale.to(total.dtype))


class GlobalConstant(Good):
    """Multiplies by a constant of the module."""

    def squash_leaf(self, total: Tensor) -> Tensor:
        return torch.tanh(total * SCALE[: self.hidden_size].sum().to(total.dtype).expand(1))


class FromNumpy(Good):
    """Takes a constant from NumPy."""

    def squash_leaf(self, total: Tensor) -> Tensor:
        return torch.tanh(total * torch.from_numpy(np.ones(self.hidden_size)).to(total.dtype))


class OnTheHost(Good):
    """Computes on the CPU."""

    def squash_leaf(self, total: Tensor) -> Tensor:
        return torch.tanh(total.cpu())


class ResultOnTheHost(Good):
    """Fills a result that lies on the CPU."""

    def squash_leaf(self, total: Tensor) -> Tensor:
        result = torch.zeros(total.shape, dtype=total.dtype)
        result[:] = torch.tanh(total)
        return result


class MaskWithoutDevice(Good):
    """Makes a mask for dropout without a device, in training."""

    def squash_leaf(self, total: Tensor) -> Tensor:
        if self.training:
            total = total * (torch.rand(total.shape, dtype=total.dtype) > 0.1)
        return torch.tanh(total)


class HardType(Good):
    """Makes a float32 tensor, which float64 swallows."""

    def squash_leaf(self, total: Tensor) -> Tensor:
        return torch.tanh(total + torch.zeros(self.hidden_size, device=total.device))


class ThereAndBack(Good):
    """Computes in float32 whatever it gets."""

    def squash_leaf(self, total: Tensor) -> Tensor:
        return torch.tanh(total.float()).to(total.dtype)


class ReadsNumber(Good):
    """Reads a parameter as a number of Python."""

    def squash_leaf(self, total: Tensor) -> Tensor:
        return torch.tanh(total * (1 + self.b.sum().item()))


class DetachedInTraining(Good):
    """Cuts a gradient in training mode."""

    def squash(self, total: Tensor) -> Tensor:
        return torch.tanh(total.detach() if self.training else total)


class NeedsTwoRows(Good):
    """Batch normalisation, which cannot train a depth of one node."""

    def add(self) -> None:
        self.norm = nn.BatchNorm1d(self.hidden_size)

    def squash(self, total: Tensor) -> Tensor:
        return torch.tanh(self.norm(total))


class SpreadOfBatch(Good):
    """Divides by the batch's spread in training, which one row has not."""

    def squash(self, total: Tensor) -> Tensor:
        return torch.tanh(total / total.std(0) if self.training else total)


class OneType(Good):
    """Adds up what autocast made of two types."""

    def total(self, inputs: Tensor, children: list[Tensor], links: Links) -> Tensor:
        none = children[0].new_zeros([inputs.shape[0], self.hidden_size])
        return none.index_add(0, links.owner, children[0] @ self.u[0]) + self.b


class MuchLost(Good):
    """Subtracts large numbers, which bfloat16 cannot tell apart."""

    def squash(self, total: Tensor) -> Tensor:
        large = total @ (1e4 * torch.eye(self.hidden_size, dtype=total.dtype, device=total.device))
        return torch.tanh(large - 9999 * total) + 0 * sum_by_owner(
            total[:0], total[:0, 0].long(), 1
        )


class QuickWithoutGradients(Good):
    """Takes a rougher way for many rows where no gradient is wanted."""

    def squash_leaf(self, total: Tensor) -> Tensor:
        if total.shape[0] > 500 and not torch.is_grad_enabled():
            return (total.tanh() * 1e6).round() / 1e6
        return torch.tanh(total)


class RoughSingles(Good):
    """Takes a rougher way in float32."""

    def squash_leaf(self, total: Tensor) -> Tensor:
        if total.dtype == torch.float32:
            return (total.tanh() * 100).round() / 100 + 0 * total
        return torch.tanh(total)
