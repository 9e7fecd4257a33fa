"""Measures how large the inputs of a pretrained encoder's products become, for exports in 8
bits."""

from collections.abc import Sequence
from typing import Any, Final

import torch
from torch import Tensor

from thinstack.core.model.model import Model
from thinstack.training.examples.example import Example, forests_of

OBSERVED: Final = 512
"""About how many examples are looked at."""


@torch.inference_mode()
def observe_ranges(model: Model, examples: Sequence[Example]) -> None:
    """Set the `bound` of each product in the leaf embedding: for each of its inputs, the greatest
    absolute value that it reads. About `OBSERVED` examples are read, evenly spread."""
    modules: list[Any] = [each for each in model.embedding.modules() if hasattr(each, "bound")]
    for module in modules:
        module.bound.zero_()
    hooks = [module.register_forward_pre_hook(_note) for module in modules]
    step = max(1, len(examples) // OBSERVED)
    model.eval()
    try:
        for _, forest in forests_of(examples[::step] if modules else [], "gold"):
            model.embed(model.inputs(forest))
    finally:
        for hook in hooks:
            hook.remove()


def _note(module: Any, given: tuple[Tensor, ...]) -> None:
    module.bound.copy_(torch.maximum(module.bound, given[0].abs().amax(0)))
