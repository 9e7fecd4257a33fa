"""The record of a seed's epochs, as a checkpoint holds it."""

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from thinstack.core.config.base import Strict, problems
from thinstack.training.loop.checkpoint import not_a_checkpoint


class _Record(Strict, strict=True, extra="ignore"):
    """What there is to say of an epoch, as far as the loop reads it again."""

    seed: int
    epoch: int
    loss: float
    seconds: float
    watched: dict[str, dict[str, float | None]]
    selection: float


class _State(Strict, extra="ignore"):
    history: tuple[_Record, ...]


def read_history(state: dict[str, Any], seed: int, path: Path) -> list[dict[str, Any]]:
    """The records of the epochs that are done, in order, in the state of the checkpoint `path`.
    Raises DataError for anything else: a checkpoint is written after an epoch, so it has one."""
    try:
        found = _State.model_validate(state).history
    except ValidationError as error:
        raise not_a_checkpoint(path, problems(error, most=1)) from None
    numbers, seeds = [record.epoch for record in found], {record.seed for record in found}
    if numbers != list(range(1, len(numbers) + 1)) or not numbers:
        raise not_a_checkpoint(path, f"expected the epochs from 1, found {numbers!r:.40}")
    if seeds != {seed}:
        raise not_a_checkpoint(path, f"expected seed {seed}, found {sorted(seeds)!r:.40}")
    history: list[dict[str, Any]] = state["history"]
    return history
