"""Checkpoints after every epoch, without pickle: a killed run goes on as if it never stopped."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.optim import Optimizer

from thinstack.data.files import replacing
from thinstack.errors import DataError
from thinstack.models.weights import load_state, state_of
from thinstack.training.optimizers import load_state_tensors, state_tensors

__all__ = ["load_checkpoint", "save_checkpoint"]

_UNREADABLE = SafetensorError, RuntimeError, KeyError, TypeError, ValueError, AttributeError


def save_checkpoint(
    path: Path,
    modules: Mapping[str, nn.Module],
    optimizers: Mapping[str, Optimizer],
    state: dict[str, Any],
) -> None:
    """Write the weights of `modules`, the optimisers' tensors and the JSON-able `state` into one
    file, or leave the old one."""
    tensors: dict[str, Tensor] = {}
    for name, module in modules.items():
        tensors |= {f"{name}/{key}": value for key, value in state_of(module).items()}
    for name, optimizer in optimizers.items():
        found = state_tensors(optimizer).items()
        tensors |= {f"{name}.optimizer/{key}": value for key, value in found}
    whole = {key: value.detach().cpu().clone().contiguous() for key, value in tensors.items()}
    with replacing(path) as temporary:
        save_file(whole, temporary, {"state": json.dumps(state)})


def load_checkpoint(
    path: Path, modules: Mapping[str, nn.Module], optimizers: Mapping[str, Optimizer]
) -> dict[str, Any] | None:
    """Put a checkpoint back into `modules` and `optimizers` and return its state; None where there
    is no checkpoint.

    Raises DataError if the file is not a checkpoint of these modules.
    """
    if not path.is_file():
        return None
    try:
        with safe_open(path, framework="pt") as file:
            state: dict[str, Any] = json.loads(file.metadata()["state"])
            tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 - not a dict
        for name, module in modules.items():
            load_state(module, _under(f"{name}/", tensors))
        for name, optimizer in optimizers.items():
            load_state_tensors(optimizer, _under(f"{name}.optimizer/", tensors))
    except _UNREADABLE as error:
        raise DataError(
            f"{path} is not a checkpoint of this recipe ({error}); delete it to start afresh"
        ) from None
    return state


def _under(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {
        key.removeprefix(prefix): value for key, value in tensors.items() if key.startswith(prefix)
    }
