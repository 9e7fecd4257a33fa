"""`CELL_CHECKS`, `HEAD_CHECKS` and `PARSER_CHECKS`: what every cell, task head and parser must do,
whatever it computes. They run as plugin authors call them: with messages that name the plugin and
the rule, on one thread, and with torch left as it was."""

import pickle
import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
import torch

from thinstack.core.cell import Cell
from thinstack.core.head import TaskHead
from thinstack.core.parser import Parser
from thinstack.errors import ThinstackError
from thinstack.testing import (
    batch_checks,
    device_checks,
    export_checks,
    finite_checks,
    head_checks,
    memory_checks,
    method_checks,
    mode_checks,
    parser_checks,
    tree_checks,
)
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


class CellCheck(Protocol):
    """A check of one rule of the cell contract."""

    def __call__(
        self,
        cell: str | type[Cell],
        options: Mapping[str, Any] = {},
        *,
        input_size: int = 5,
        hidden_size: int = 4,
        inner_size: int | None = None,
        kinds: int = 2,
        examples: int = 60,
    ) -> None:
        """Build the cell and check the rule; every weight is drawn at random.

        Args:
            cell: its registered name, or its class.
            options: of the cell.
            input_size, hidden_size, inner_size, kinds: what the cell is asked for. `inner_size` is
                0, or `input_size` to check it as models of dependency trees and deep encoders use
                it.
            examples: how many batches `neighbours` draws, the same at every call.

        Raises AssertionError that says what is wrong and what to change in the cell; what
        `PluginManager.find` and `Spec.create` raise where there is no cell to check;
        MissingExtraError where a package is not installed.
        """


class HeadCheck(Protocol):
    """A check of one rule of the contract of a task head."""

    def __call__(
        self,
        head: str | type[TaskHead],
        options: Mapping[str, Any] = {},
        *,
        hidden_size: int = 4,
        word_size: int = 0,
        classes: int = 3,
    ) -> None:
        """As a check of a cell; `hidden_size`, `word_size` and `classes` are what the head is asked
        for."""


class ParserCheck(Protocol):
    """A check of one rule of the contract of a parser."""

    def __call__(
        self, parser: str | type[Parser], options: Mapping[str, Any] = {}, *, input_size: int = 5
    ) -> None:
        """As a check of a cell; `input_size` is what the parser is asked for."""


CELL_CHECKS: dict[str, CellCheck] = {
    _name(check): public(CellSubject, check, once=check is export_checks.onnx)
    for check in (
        method_checks.built_as_asked,
        mode_checks.other_sizes,
        device_checks.device_and_type,
        method_checks.inputs_are_kept,
        tree_checks.no_rows,
        finite_checks.finite,
        memory_checks.nothing_is_kept,
        memory_checks.weights_are_all,
        method_checks.rows_are_independent,
        batch_checks.many_rows,
        batch_checks.layouts,
        mode_checks.training_mode,
        mode_checks.other_types,
        tree_checks.one_word_trees,
        tree_checks.chains,
        tree_checks.stars,
        tree_checks.mixed_forests,
        tree_checks.top_down,
        tree_checks.inputs_are_read,
        tree_checks.inner_inputs_are_read,
        tree_checks.neighbours,
        finite_checks.finite_forests,
        method_checks.gradients,
        tree_checks.gradients_of_forests,
        tree_checks.parameters_are_used,
        export_checks.torchscript,
        export_checks.onnx,
    )
}
"""Checks by name, for `pytest.mark.parametrize("check", CELL_CHECKS.values(), ids=CELL_CHECKS)`.
Any order will do; where several fail, the first in this order is the one to mend."""

HEAD_CHECKS: dict[str, HeadCheck] = {
    _name(check): public(HeadSubject, check)
    for check in (
        method_checks.built_as_asked,
        mode_checks.other_sizes,
        device_checks.device_and_type,
        method_checks.inputs_are_kept,
        head_checks.loss_is_a_sum,
        head_checks.unlabelled_rows,
        head_checks.soft_labels,
        head_checks.few_rows,
        finite_checks.finite,
        head_checks.scaled_logits,
        memory_checks.nothing_is_kept,
        memory_checks.weights_are_all,
        method_checks.rows_are_independent,
        batch_checks.many_rows,
        batch_checks.layouts,
        method_checks.gradients,
        export_checks.torchscript_of_head,
        export_checks.onnx_of_head,
    )
}
"""As `CELL_CHECKS`, of task heads."""

PARSER_CHECKS: dict[str, ParserCheck] = {
    _name(check): public(ParserSubject, check)
    for check in (
        parser_checks.distances_of_all_words,
        device_checks.device_and_type_of_parser,
        parser_checks.no_words,
        parser_checks.words_are_kept,
        finite_checks.finite_distances,
        parser_checks.sentences_are_apart,
        parser_checks.parameters_are_used,
        parser_checks.torchscript,
        parser_checks.onnx,
    )
}
"""As `CELL_CHECKS`, of parsers."""
