"""Describes a team of processes that train one model together. Here is the team of one process; a
launcher makes larger ones."""

import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from thinstack.data.files.lock import locked
from thinstack.data.files.signals import stoppable
from thinstack.errors import ConfigError, needs_extra

if TYPE_CHECKING:
    from torch import Tensor


Value = TypeVar("Value")


class Team:
    """A team of one process, which trains by itself. `processes.Processes` is a larger team.

    All processes of a team call the same methods in the same order, and wait in them for one
    another. Each process draws the same examples and holds the same weights. Only the main process
    writes files and prints.

    Attributes:
        rank: the number of this process, from 0.
        size: the number of all processes.
    """

    rank, size = 0, 1

    @property
    def main(self) -> bool:
        """Whether this is the main process, which writes files and prints."""
        return self.rank == 0

    def deal(self, chosen: Sequence[int]) -> list[int]:
        """This process's part of a minibatch, which may be empty: every `size`-th example, because
        neighbours have similar lengths."""
        return list(chosen[self.rank :: self.size])

    def alone_in(self, folder: Path) -> AbstractContextManager[None]:
        """Hold the lock of a folder for the team."""
        return locked(folder) if self.main else nullcontext()

    def add_gradients(self, weights: Sequence["Tensor"]) -> None:
        """Make the gradient of each weight the sum over all processes. If no process has one, it
        stays None."""

    def total(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The sum of the arrays of all processes, which have the same shape."""
        return values

    def shared(self, value: Value | None) -> Value:
        """The value of the main process. The values of the others are ignored."""
        assert value is not None, "the main process has one"
        return value

    def leave(self) -> None:
        """Wait for all processes, then disband. From here on each process works by itself."""

    def check_same(self, what: str, value: object) -> None:
        """Raise DataError in a process that finds another value than the main one does."""


ALONE = Team()

STOPPED: Final = "stopped; start the same command again, and it goes on"


@contextmanager
def joined() -> Iterator[Team]:
    """The team that this process belongs to. If a launcher has set RANK and WORLD_SIZE (`torchrun`,
    `accelerate launch`), it has all processes of the launcher; else it has one.

    If several processes of a team fail, only the first error is raised, in its process. The others
    exit with code 2. Raises ConfigError for variables or devices that do not fit, and StoppedError
    where a process dies or is told to end (Ctrl-C, SIGTERM).
    """
    size = os.environ.get("WORLD_SIZE", "1")
    if "RANK" not in os.environ or size == "1":
        with stoppable(STOPPED):
            yield ALONE
        return
    found = {name: os.environ.get(name, "") for name in ("RANK", "WORLD_SIZE", "MASTER_PORT")}
    if not all(value.isdecimal() for value in found.values()) or "MASTER_ADDR" not in os.environ:
        said = ", ".join(f"{name}={value}" for name, value in found.items())
        raise ConfigError(
            "several processes: expected the numbers RANK, WORLD_SIZE and MASTER_PORT and the host "
            f"MASTER_ADDR, as torchrun sets them, found {said}; start it by torchrun, or unset "
            "WORLD_SIZE"
        )
    with needs_extra("train"):
        from thinstack.training.loop.processes import team_of
    with team_of(int(found["RANK"]), int(size)) as team:
        yield team
