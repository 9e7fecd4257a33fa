"""Running contract checks as plugin authors call them: with messages that name the plugin and the
rule, on one thread, and with torch left as it was."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

import torch

from thinstack.core.cell import Cell
from thinstack.core.head import TaskHead
from thinstack.core.parser import Parser
from thinstack.errors import ThinstackError
from thinstack.testing.subject import CellSubject, HeadSubject, ParserSubject

__all__ = ["public"]

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


@contextmanager
def _torch_as_it_was() -> Iterator[None]:
    """Raises AssertionError if the block leaves settings of torch changed, and sets them back."""
    before = torch.get_default_dtype(), torch.is_grad_enabled(), torch.get_num_threads()
    failed = True
    try:
        yield
        failed = False
    finally:
        after = torch.get_default_dtype(), torch.is_grad_enabled(), torch.get_num_threads()
        torch.set_default_dtype(before[0])
        torch.set_grad_enabled(before[1])
        torch.set_num_threads(before[2])
        if after != before and not failed:
            raise AssertionError(
                f"it changes torch for everybody: default type, gradients and threads were {before}"
                f", and are {after}; name types and devices where tensors are made, and change "
                "nothing that others use"
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
