"""Checkpoints after every epoch, without pickle: a killed run goes on as if it never stopped."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn
from torch.optim import Optimizer

from thinstack.bundle.weights import load_state, state_of
from thinstack.data.files.writing import write_atomically
from thinstack.errors import DataError
from thinstack.training.loop.learner import load_optimizers, optimizer_tensors

SCHEMA: Final = "1"
"""What files have in their metadata as `schema_version`, beside `state` and `sha256`."""

_UNREADABLE = (
    *(SafetensorError, OSError, RuntimeError, KeyError, TypeError, ValueError, AttributeError),
)


def save_checkpoint(
    path: Path,
    modules: Mapping[str, nn.Module],
    optimizers: Mapping[str, Optimizer],
    state: dict[str, Any],
) -> None:
    """Write the weights of `modules`, the optimisers' tensors and the JSON-able `state` into one
    file with a digest over all of it, or leave the old one. Raises OSError."""
    tensors = {
        f"{module}/{name}": value
        for module, part in modules.items()
        for name, value in state_of(part).items()
    }
    tensors |= optimizer_tensors(optimizers)
    whole = {key: value.detach().cpu().clone().contiguous() for key, value in tensors.items()}
    noted = {"state": json.dumps(state), "schema_version": SCHEMA}
    # Not `save_file`, which leaves a file of its own where it is killed.
    write_atomically(path, save(whole, noted | {"sha256": _digest(whole, noted)}))


def load_checkpoint(
    path: Path, modules: Mapping[str, nn.Module], optimizers: Mapping[str, Optimizer]
) -> dict[str, Any] | None:
    """Put a checkpoint back into `modules` and `optimizers` and return its state; None where there
    is no checkpoint.

    Raises DataError if the file is not a checkpoint of these modules, or is damaged.
    """
    if not path.exists():
        return None
    try:
        state, tensors = _read(path)
        for name, module in modules.items():
            start = f"{name}/"
            of_module = {key: tensors[key] for key in tensors if key.startswith(start)}
            load_state(module, {key.removeprefix(start): of_module[key] for key in of_module})
        load_optimizers(optimizers, tensors)
    except _UNREADABLE as error:
        raise _not_a_checkpoint(path, str(error)) from None
    return state


def _not_a_checkpoint(path: Path, problem: str) -> DataError:
    return DataError(
        f"{path} is not a checkpoint of this recipe ({problem}); delete it to start afresh"
    )


def _read(path: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """State and tensors of a file. Raises ValueError for a damaged one."""
    with safe_open(path, framework="pt") as file:
        noted = file.metadata()
        tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 - not a dict
    if (schema := noted.get("schema_version")) != SCHEMA:
        raise ValueError(f"expected schema_version {SCHEMA}, found {schema!r:.20}")
    if noted["sha256"] != _digest(tensors, noted):
        raise ValueError("its SHA-256 has changed, so it is damaged")
    return dict(json.loads(noted["state"])), tensors


def _digest(tensors: Mapping[str, Tensor], noted: Mapping[str, str]) -> str:
    """SHA-256 over what is `noted`, and over the name, type, shape and bytes of every tensor."""
    digest = hashlib.sha256(noted["state"].encode())
    for name, value in sorted(tensors.items()):
        digest.update(f"\n{name} {value.dtype} {list(value.shape)}\n".encode())
        digest.update(value.reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()


def read_history(state: dict[str, Any], seed: int, path: Path) -> list[dict[str, Any]]:
    """The records of the epochs that are done, in order, in the state of the checkpoint `path`.
    Raises DataError for the checkpoint of another seed."""
    history: list[dict[str, Any]] = state.get("history", [])
    if {record["seed"] for record in history} != {seed}:
        raise _not_a_checkpoint(path, f"expected records of seed {seed}, found others or none")
    return history
