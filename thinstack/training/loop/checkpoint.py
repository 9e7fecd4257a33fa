"""Checkpoints after every epoch, without pickle, from which a killed run resumes."""

import hashlib
import json
from collections.abc import Mapping, Sequence
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
"""The `schema_version` in the metadata of a file."""


def save_checkpoint(
    path: Path,
    modules: Mapping[str, nn.Module],
    optimizers: Mapping[str, Optimizer],
    history: Sequence[Mapping[str, Any]],
) -> None:
    """Write the weights of `modules`, the states of the optimizers and the records of the epochs so
    far atomically into one file, with a digest of all of it. Raises OSError."""
    tensors = {
        f"{module}/{name}": value
        for module, part in modules.items()
        for name, value in state_of(part).items()
    }
    tensors |= optimizer_tensors(optimizers)
    whole = {key: value.detach().cpu().clone().contiguous() for key, value in tensors.items()}
    noted = {"state": json.dumps({"history": history}), "schema_version": SCHEMA}
    # Not `save_file`, which leaves a temporary file if it is killed.
    write_atomically(path, save(whole, noted | {"sha256": _digest(whole, noted)}))


def load_checkpoint(
    path: Path, modules: Mapping[str, nn.Module], optimizers: Mapping[str, Optimizer], seed: int
) -> list[dict[str, Any]]:
    """Load a checkpoint into `modules` and `optimizers`, and return the records of the finished
    epochs, or [] if there is no such file.

    Raises DataError if the file is damaged, or not a checkpoint of these modules and this seed.
    """
    if not path.exists():
        return []
    try:
        with safe_open(path, framework="pt") as file:
            noted = file.metadata()
            tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 - no dict
        if (schema := noted.get("schema_version")) != SCHEMA:
            raise ValueError(f"expected schema_version {SCHEMA}, found {schema!r:.20}")
        if noted["sha256"] != _digest(tensors, noted):
            raise ValueError("its SHA-256 has changed, so it is damaged")
        history: list[dict[str, Any]] = json.loads(noted["state"])["history"]
        if {record["seed"] for record in history} != {seed}:
            raise ValueError(f"expected records of seed {seed}, found none")
        for name, module in modules.items():
            split = ((key.partition("/"), value) for key, value in tensors.items())
            load_state(module, {key: value for (part, _, key), value in split if part == name})
        load_optimizers(optimizers, tensors)
    except (
        *(SafetensorError, OSError, RuntimeError, KeyError, TypeError, ValueError, AttributeError),
    ) as error:
        raise DataError(
            f"{path} is not a checkpoint of this recipe ({error}); delete it to start afresh"
        ) from None
    return history


def _digest(tensors: Mapping[str, Tensor], noted: Mapping[str, str]) -> str:
    """Return the SHA-256 of the state, and of the name, type, shape and bytes of every tensor."""
    digest = hashlib.sha256(noted["state"].encode())
    for name, value in sorted(tensors.items()):
        digest.update(f"\n{name} {value.dtype} {list(value.shape)}\n".encode())
        digest.update(value.reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()
