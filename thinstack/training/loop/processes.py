"""Lets several processes train together as a team, over `torch.distributed`."""

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Final, TypeVar

import numpy as np
import torch
import torch.distributed as dist

# Imported here, before any team is joined. Optimisers import it later, and it then keeps the group
# of the team. The threads of that group would outlive the team, and a thread that holds a tensor
# while Python ends aborts the process.
import torch.distributed.nn
from numpy.typing import NDArray
from torch import Tensor
from torch.distributed.distributed_c10d import PrefixStore, Store
from torch.distributed.rendezvous import rendezvous

from thinstack.data.files.signals import catch_signals, restore_signals, stopped_error
from thinstack.errors import ConfigError, DataError, StoppedError, ThinstackError
from thinstack.training.loop.team import Team

PATIENCE: Final = timedelta(hours=6)
"""How long a process waits for the others, for example while the main process evaluates. A process
that has died is noticed at once."""

ENDED: Final = (
    "a process of this run has died, or was stopped; start the same command again, and it goes on"
)

Value = TypeVar("Value")


class Processes(Team):
    """A process among several that train together. Each steps on its own part of every minibatch.

    `rank`: the number of this process, from 0. `size`: the number of all processes. `store`: values
    that the processes share while they run.

    The methods that wait for other processes raise StoppedError if one of them has died.
    """

    def __init__(self, rank: int, size: int, store: Store):
        self.rank, self.size, self._store = rank, size, store

    def add_gradients(self, weights: Sequence[Tensor]) -> None:
        with _waiting():
            kinds = self._kinds(weights)
            dense = [w for w, kind in zip(weights, kinds, strict=True) if (kind == DENSE).any()]
            if dense:
                _add_dense(dense)
            for weight, kind in zip(weights, kinds, strict=True):
                if (kind >= SPARSE).any():
                    _add_rows(weight, (kind - SPARSE).clip(min=0).tolist())

    def total(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        with _waiting():
            found = torch.from_numpy(values.copy())
            dist.all_reduce(found)
            return found.numpy()

    def shared(self, value: Value | None) -> Value:
        with _waiting():
            found = [value if self.main else None]
            dist.broadcast_object_list(found, src=0)
        return super().shared(found[0])

    def leave(self) -> None:
        self.shared(self.main)  # With NCCL, all processes must leave at the same time.
        dist.destroy_process_group()

    def check_same(self, what: str, value: object) -> None:
        if self.shared([value]) != [value]:
            raise DataError(
                f"{what}: process {self.rank} found other content than the main process; give all "
                "machines of a run the same files, and one folder for --out"
            )

    def tells(self) -> bool:
        """Whether this process tells the error that ends the team: the first process that asks
        does. If the store has died with the main process, it is process 1."""
        try:
            return bool(self._store.add("told", 1) == 1)
        except RuntimeError:
            return self.rank == 1

    def _kinds(self, weights: Sequence[Tensor]) -> NDArray[np.int64]:
        """(weights, processes): the kind of gradient that each process has for each weight. 0 is no
        gradient; else it is `DENSE`, or `SPARSE` plus the number of its rows."""
        own = torch.tensor([_kind(weight) for weight in weights])
        found = [torch.zeros_like(own) for _ in range(self.size)]
        dist.all_gather(found, own)
        return torch.stack(found, 1).numpy()


DENSE, SPARSE = 1, 2


def _kind(weight: Tensor) -> int:
    if weight.grad is None:
        return 0
    if not weight.grad.is_sparse:
        return DENSE
    weight.grad = weight.grad.coalesce()
    return SPARSE + weight.grad.values().shape[0]


def _add_dense(weights: Sequence[Tensor]) -> None:
    """Add dense gradients over all processes. They travel as one array, because small arrays take
    as long as large ones."""
    grads = [torch.zeros_like(w) if w.grad is None else w.grad for w in weights]
    whole = torch.cat([grad.flatten() for grad in grads])
    dist.all_reduce(whole)
    parts = torch.split(whole, [w.numel() for w in weights])
    for weight, part in zip(weights, parts, strict=True):
        weight.grad = part.view_as(weight)


def _add_rows(weight: Tensor, counts: list[int]) -> None:
    """Add sparse gradients of a weight over all processes. `counts`: how many rows each process
    has."""
    most = max(counts)
    rows = torch.zeros(most, dtype=torch.long, device=weight.device)
    values = weight.new_zeros([most, *weight.shape[1:]])
    if weight.grad is not None:
        own = weight.grad.values().shape[0]
        rows[:own], values[:own] = weight.grad.indices()[0], weight.grad.values()
    all_rows, all_values = ([torch.empty_like(each) for _ in counts] for each in (rows, values))
    dist.all_gather(all_rows, rows)
    dist.all_gather(all_values, values)
    index = torch.cat([each[:n] for each, n in zip(all_rows, counts, strict=True)])
    found = torch.cat([each[:n] for each, n in zip(all_values, counts, strict=True)])
    weight.grad = torch.sparse_coo_tensor(index.unsqueeze(0), found, weight.shape).coalesce()


@contextmanager
def _waiting() -> Iterator[None]:
    """Raise StoppedError, which says in plain words that another process has died."""
    try:
        yield
    except torch.OutOfMemoryError:
        raise
    except RuntimeError as error:
        raise StoppedError(ENDED) from error


@contextmanager
def team_of(rank: int, size: int) -> Iterator[Processes]:
    """The team of this process and the others. It joins them, and leaves them at the end. Of
    several errors in a team only one is raised, and the other processes exit with code 2. `rank`
    and `size` come from the launcher."""
    team, failed = _join(rank, size), True
    # A launcher ends the others when one has died.
    before = catch_signals(again=signal.SIG_IGN)
    try:
        yield team
        failed = False
    except (ThinstackError, OSError, KeyboardInterrupt) as error:
        before = dict.fromkeys(before, signal.SIG_IGN)  # it is ending, and has something to say
        restore_signals(before)
        if not team.tells():
            sys.exit(2)
        if isinstance(error, KeyboardInterrupt):
            raise stopped_error(error, ENDED) from None
        raise
    finally:
        waits = failed and torch.cuda.is_available()  # NCCL may wait for a dead process.
        if dist.is_initialized() and not waits:
            dist.destroy_process_group()
        restore_signals(before)


def _join(rank: int, size: int) -> Processes:
    backend = "gloo"
    if torch.cuda.is_available():
        local, gpus = int(os.environ.get("LOCAL_RANK", rank)), torch.cuda.device_count()
        if local >= gpus:
            raise ConfigError(
                f"several processes: expected a GPU for each process of a machine, found "
                f"{gpus} for process {local} (from 0); start fewer, or set CUDA_VISIBLE_DEVICES= "
                "to train on the CPU"
            )
        torch.cuda.set_device(local)
        backend = "cpu:gloo,cuda:nccl"
    try:
        # A launcher that starts processes again keeps its store, with values of the first ones.
        store = next(rendezvous("env://", timeout=PATIENCE))[0]
        store = PrefixStore(f"thinstack/{os.environ.get('TORCHELASTIC_RESTART_COUNT', 0)}", store)
        dist.init_process_group(backend, store=store, rank=rank, world_size=size, timeout=PATIENCE)
    except (RuntimeError, ValueError) as error:
        raise ConfigError(
            f"several processes: process {rank} of {size} does not find the others ({error}); see "
            "MASTER_ADDR and MASTER_PORT, or start them by torchrun"
        ) from None
    return Processes(rank, size, store)
