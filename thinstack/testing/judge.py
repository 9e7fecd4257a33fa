"""Running contract checks as plugin authors call them: with messages that name the plugin and the
rule, on one thread, and with torch left as it was."""

import pickle
import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

import numpy as np
import torch

from thinstack.core.cell import Cell
from thinstack.core.head import TaskHead
from thinstack.core.parser import Parser
from thinstack.errors import ThinstackError
from thinstack.testing.subject import CellSubject, HeadSubject, ParserSubject

Tested = TypeVar("Tested", CellSubject, HeadSubject, ParserSubject)


def public(
    of: Callable[..., Tested], check: Callable[[Tested], None], *, once: bool = False
) -> Callable[..., None]:
    """A check of a subject as plugin authors call it: with what `of` makes the subject from. It
    judges all variants of the subject, or, if it takes long, `once`, the last of them."""

    def checked(
        plugin: str | type[Cell] | type[TaskHead] | type[Parser],
        options: Mapping[str, Any] = {},
        **sizes: int,
    ) -> None:
        subject = of(plugin, options, **sizes)
        threads = torch.get_num_threads()
        torch.set_num_threads(1)  # the work is small, and on a busy machine threads wait for others
        try:
            others = list(subject.variants()) if once else None
            if not others:
                _judge(check, subject, "")
            for each in subject.variants() if others is None else others:
                _judge(check, each, f"asked for inner_size = {each.sizes['inner_size']}, ")
        finally:
            torch.set_num_threads(threads)

    checked.__name__, checked.__doc__ = _name(check), check.__doc__
    return checked


class _Setting(NamedTuple):
    get: Callable[[], Any]
    put: Callable[[Any], Any]


def _put_device(device: torch.device) -> None:
    # None stands for the CPU: to name it would slow all calls of torch.
    torch.set_default_device(None if device == torch.device("cpu") else device)


SETTINGS = {
    "the default type": _Setting(torch.get_default_dtype, torch.set_default_dtype),
    "the default device": _Setting(torch.get_default_device, _put_device),
    "gradients": _Setting(torch.is_grad_enabled, torch.set_grad_enabled),
    "the number of threads": _Setting(torch.get_num_threads, torch.set_num_threads),
    "deterministic algorithms": _Setting(
        torch.get_deterministic_debug_mode, torch.set_deterministic_debug_mode
    ),
    "the precision of products": _Setting(
        torch.get_float32_matmul_precision, torch.set_float32_matmul_precision
    ),
    "detection of anomalies": _Setting(torch.is_anomaly_enabled, torch.autograd.set_detect_anomaly),
}
"""What a plugin has no business to change: all that uses torch in the process depends on it."""


def _settings() -> dict[str, Any]:
    return {name: setting.get() for name, setting in SETTINGS.items()}


def _other_random_numbers() -> bytes:
    """The states of the generators that Python and NumPy share with everybody."""
    return pickle.dumps((random.getstate(), np.random.get_state()))


@contextmanager
def _torch_as_it_was() -> Iterator[None]:
    """Raises AssertionError if the block leaves settings of torch changed, and sets them back."""
    before, drawn = _settings(), _other_random_numbers()
    failed = True
    try:
        yield
        failed = False
    finally:
        after = _settings()
        changed = {
            name: (before[name], after[name]) for name in before if before[name] != after[name]
        }
        for name, (was, _) in changed.items():
            SETTINGS[name].put(was)
        if changed and not failed:
            said = ", ".join(
                f"{name} was {was}, and is {now}" for name, (was, now) in changed.items()
            )
            raise AssertionError(
                f"it changes torch for everybody: {said}; name types and devices where tensors are "
                "made, and change nothing that others use"
            )
        if _other_random_numbers() != drawn and not failed:
            raise AssertionError(
                "it draws from the random numbers of Python or NumPy, or seeds them; draw by torch"
                ", in __init__ and in training mode only"
            )


def _name(check: Callable[[Tested], None]) -> str:
    return check.__name__.removesuffix("_of_head").removesuffix("_of_parser")


def _judge(check: Callable[[Tested], None], subject: Tested, asked: str) -> None:
    """Run a check; whatever goes wrong in what is checked becomes an AssertionError that names it
    and the rule. The errors of thinstack itself are raised as they are."""
    try:
        with _torch_as_it_was():
            check(subject)
    except ThinstackError:
        raise
    except Exception as error:
        found = " ".join(str(error).split())
        if not isinstance(error, AssertionError):
            found = f"{type(error).__name__}: {found:.300}"
        raise AssertionError(
            f"{subject.spec.name}, {_name(check)}: {asked}{found}. The rule "
            f"is: {' '.join((check.__doc__ or '').split())} Where an earlier check fails too, mend "
            "that first"
        ) from error
