"""Cells that keep what they should not, do not save what they should, or change what is not
theirs."""

import random

import numpy as np
import torch
from bad_cells import Good
from torch import Tensor, nn
from torch.nn import functional


class Caches(Good):
    """Keeps results by shape."""

    def add(self) -> None:
        self.kept: dict = {}

    def squash_leaf(self, total: Tensor) -> Tensor:
        return self.kept.setdefault(tuple(total.shape), torch.tanh(total))


class CachesByAddress(Good):
    """Keeps results by tensor, whose numbers may change."""

    def add(self) -> None:
        self.kept: dict = {}

    def leaf(self, inputs: Tensor) -> list[Tensor]:
        self.kept = {key: kept for key, kept in self.kept.items() if key == inputs.data_ptr()}
        return [self.kept.setdefault(inputs.data_ptr(), super().leaf(inputs)[0])]


class KeepsProduct(Good):
    """Computes a product of weights once, in evaluation mode."""

    def add(self) -> None:
        self.product = None

    def squash(self, total: Tensor) -> Tensor:
        if self.product is None:
            self.product = (self.b + 1).detach().clone()
        return torch.tanh(total * self.product.to(total.dtype)) + 0 * self.b


class CountsInBuffer(Good):
    """Counts calls in a buffer, and does not read it."""

    def add(self) -> None:
        self.register_buffer("calls", torch.zeros(1))

    def squash(self, total: Tensor) -> Tensor:
        self.calls += 1
        return torch.tanh(total)


class TrainingLeaves(Good):
    """Keeps what the last call in training had."""

    def add(self) -> None:
        self.last = 1.0

    def squash(self, total: Tensor) -> Tensor:
        if self.training and total.shape[0] > 0:
            self.last = 1 + float(total.detach().abs().mean().cpu()) if not total.is_meta else 1.0
        return torch.tanh(total / self.last)


class Seeds(Good):
    """Seeds torch to draw the same noise again."""

    def squash_leaf(self, total: Tensor) -> Tensor:
        torch.manual_seed(0)
        return torch.tanh(total)


class SeedsInTraining(Good):
    """Draws the same noise at every step of training."""

    def squash(self, total: Tensor) -> Tensor:
        if self.training:
            torch.manual_seed(7)
        return torch.tanh(total)


class SeedsAtStart(Good):
    """Starts from the same weights always."""

    def add(self) -> None:
        torch.manual_seed(0)


class DoubleByDefault(Good):
    """Makes float64 the type of all modules."""

    def squash_leaf(self, total: Tensor) -> Tensor:
        torch.set_default_dtype(torch.float64)
        return torch.tanh(total)


class NoMoreGradients(Good):
    """Switches gradients off, for all."""

    def squash_leaf(self, total: Tensor) -> Tensor:
        torch.set_grad_enabled(False)
        return torch.tanh(total)


class PlainMatrix(Good):
    """Keeps a random matrix that no saved model has."""

    def add(self) -> None:
        self.mix = torch.randn(self.hidden_size, dtype=torch.float64).tolist()

    def squash_leaf(self, total: Tensor) -> Tensor:
        parts = [part * self.mix[k] for k, part in enumerate(total.unbind(1))]
        return torch.tanh(torch.stack(parts, 1))


class ListOfParameters(Good):
    """Holds parameters in a list, where nobody finds them."""

    def add(self) -> None:
        self.gates = [nn.Parameter(torch.randn(self.hidden_size, dtype=torch.float64))]

    def squash_leaf(self, total: Tensor) -> Tensor:
        return torch.tanh(total * self.gates[0].to(total))


class RareNoise(Good):
    """Drops one entry of a thousand, in evaluation too."""

    def squash_leaf(self, total: Tensor) -> Tensor:
        return functional.dropout(torch.tanh(total), 0.001)


class OverwritesInTraining(Good):
    """Writes into its inputs in training mode."""

    def leaf(self, inputs: Tensor) -> list[Tensor]:
        return super().leaf(inputs.mul_(0.9) if self.training else inputs)


class OverwritesOne(Good):
    """Writes into its inputs where there is one row."""

    def leaf(self, inputs: Tensor) -> list[Tensor]:
        one = inputs.shape[0] == 1 and not torch.is_grad_enabled()
        return super().leaf(inputs.mul_(1.5) if one else inputs * 1.5)


class Unfilled(Good):
    """Leaves a parameter as the memory was."""

    def add(self) -> None:
        self.b = nn.Parameter(torch.empty(self.hidden_size))


class HoldsOn(Good):
    """Keeps all its results in a list."""

    def add(self) -> None:
        self.came: list = []

    def squash(self, total: Tensor) -> Tensor:
        h = torch.tanh(total)
        self.came.append(h.detach())
        return h if total.requires_grad else self.came[-1]


class WantsGradients(Good):
    """Turns gradients on for its inputs."""

    def leaf(self, inputs: Tensor) -> list[Tensor]:
        return super().leaf(inputs.requires_grad_() if torch.is_grad_enabled() else inputs)


class DrawnByNumpy(Good):
    """Draws weights by another generator than torch's."""

    def add(self) -> None:
        drawn = np.random.default_rng().normal(size=self.hidden_size)
        self.b = nn.Parameter(torch.tensor(drawn, dtype=torch.float32))


class NoiseOfNumpy(Good):
    """Draws noise by NumPy, in one of a hundred calls."""

    def squash(self, total: Tensor) -> Tensor:
        return torch.tanh(total * 2 if np.random.random() < 0.01 else total)


class SeedsPython(Good):
    """Seeds the random numbers of Python."""

    def add(self) -> None:
        random.seed(0)


class Deterministic(Good):
    """Has torch take deterministic algorithms, for all."""

    def add(self) -> None:
        torch.use_deterministic_algorithms(True)


class Precise(Good):
    """Sets the precision of products, for all."""

    def add(self) -> None:
        torch.set_float32_matmul_precision("medium")


class Anomalies(Good):
    """Has torch look for NaN in all gradients, of all."""

    def add(self) -> None:
        torch.autograd.set_detect_anomaly(True)


class SharesWeights(Good):
    """Has a parameter of its class, which all share."""

    shared = nn.Parameter(torch.ones(1))

    def add(self) -> None:
        self.scale = SharesWeights.shared

    def squash_leaf(self, total: Tensor) -> Tensor:
        return torch.tanh(total * self.scale)


class CachesNumbers(Good):
    """Keeps results by shape, without their gradients."""

    def add(self) -> None:
        self.kept: dict = {}

    def squash_leaf(self, total: Tensor) -> Tensor:
        return self.kept.setdefault((total.shape, total.dtype), torch.tanh(total).detach())
