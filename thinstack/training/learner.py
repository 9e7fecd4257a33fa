"""Holds `Learner`: a model that learns minibatch by minibatch, under the loop of recipes and under
training loops of other programs."""

import copy
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from thinstack.core.model.model import Model
from thinstack.training.loop.initial import freeze
from thinstack.training.loop.optimizers import build_optimizers
from thinstack.training.recipe import Part, TrainingConfig


@contextmanager
def process_settings() -> Iterator[None]:
    """What training wants of the process: denormals flushed, for they slow the backward of long
    chains many times, and no checks of sparse tensors."""
    checks: Any = torch.sparse.check_sparse_tensor_invariants
    checked = checks.is_enabled()
    torch.set_flush_denormal(True)
    checks.disable()  # as it is unless said, but torch warns
    try:
        yield
    finally:
        torch.set_flush_denormal(False)
        if checked:
            checks.enable()


class Learner:
    """A model that learns, its optimisers, and the running average of its weights.

    `learn` adds the gradients of a loss, `step` moves the weights, and `update_average` moves the
    average towards them. `frozen`: the parts of the model that learn nothing. `keeps_start`:
    whether a loss compares the model with itself as learning starts.

    Attributes:
        model: learns in place, on the device where it is.
        config: the settings that it learns with.
        initial: a copy of the model as learning starts, with `keeps_start`; else None.
        average: a copy of the model that holds the running average.
        optimizers: as `build_optimizers` names them.
    """

    def __init__(
        self,
        model: Model,
        config: TrainingConfig,
        *,
        frozen: Collection[Part] = (),
        keeps_start: bool = False,
    ):
        freeze(model, frozen)
        self.model, self.config = model, config
        self.initial = copy.deepcopy(model).eval() if keeps_start else None
        self.optimizers = build_optimizers(model, config)
        self.average = copy.deepcopy(model).eval()

    def learn(self, loss: Tensor) -> None:
        """Add the gradients of a loss to those since the last step."""
        loss.backward()  # type: ignore[no-untyped-call]

    def step(self) -> None:
        """Move the weights by the gradients since the last step. Those of the weights that
        `config.rule` learns are shortened to the length `config.clip`."""
        if self.config.clip is not None:
            groups = self.optimizers["model"].param_groups
            weights = [weight for group in groups for weight in group["params"]]
            nn.utils.clip_grad_norm_(weights, self.config.clip)
        for optimizer in self.optimizers.values():
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)

    @torch.no_grad()
    def update_average(self, weight: float) -> None:
        """Move the running average by this share (0 to 1) towards the weights."""
        for mean, value in zip(self.average.parameters(), self.model.parameters(), strict=True):
            mean.lerp_(value, weight)
        for buffer, current in zip(self.average.buffers(), self.model.buffers(), strict=True):
            buffer.copy_(current)
