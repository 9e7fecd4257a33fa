"""Tests for plugins. Run them on your cell, task head or parser, with each set of options:

    @pytest.mark.parametrize("check", CELL_CHECKS.values(), ids=CELL_CHECKS)
    def test_contract(check):
        check("my_cell.v1", {"option": 1})

Use HEAD_CHECKS for a task head, and PARSER_CHECKS for a parser. They need the extras `testing` and
`cpu` (or `gpu`).
"""

import warnings
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar

import torch

from thinstack.core.cell import Cell
from thinstack.core.head import TaskHead
from thinstack.core.parser import Parser
from thinstack.errors import BundleError, ExportError, ThinstackError
from thinstack.testing import export_checks, forests, plugin_checks
from thinstack.testing.subject import CellSubject, HeadSubject, ParserSubject

__all__ = ["CELL_CHECKS", "HEAD_CHECKS", "PARSER_CHECKS", "CellCheck", "HeadCheck", "ParserCheck"]

Tested = TypeVar("Tested", CellSubject, HeadSubject, ParserSubject)
REFUSED = BundleError, ExportError  # an export that fails is the plugin's fault


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
        """Build the cell and check the rule.

        Args:
            cell: its registered name, or its class.
            options: of the cell.
            input_size, hidden_size, kinds: the sizes that its constructor receives.
            inner_size: 0, or `input_size` as in models of dependency trees; None to check both.
            examples: the number of random batches that `neighbours` draws.

        Raises AssertionError, which states what is wrong and names the rule; what
        `PluginManager.find` and `Spec.create` raise; and MissingExtraError.
        """


class HeadCheck(Protocol):
    """A check of one rule of the contract of a task head, called as a check of a cell."""

    def __call__(
        self, head: str | type[TaskHead], options: Mapping[str, Any] = {}, *,
        hidden_size: int = 4, word_size: int = 0, classes: int = 3
    ) -> None: ...  # fmt: skip


class ParserCheck(Protocol):
    """A check of one rule of the contract of a parser, called as a check of a cell."""

    def __call__(
        self, parser: str | type[Parser], options: Mapping[str, Any] = {}, *, input_size: int = 5
    ) -> None: ...


def _checks(of: Callable[..., Tested], *checks: Callable[[Tested], None]) -> dict[str, Any]:
    """Checks by name, as plugin authors call them."""
    public = [_public(of, check) for check in checks]
    return {check.__name__: check for check in public}


def _public(of: Callable[..., Tested], check: Callable[[Tested], None]) -> Callable[..., None]:
    """A check that builds the plugin and tests each variant of it. What goes wrong becomes an
    AssertionError that names the plugin and the rule."""
    name, rule = check.__name__.removesuffix("_of_cell"), " ".join((check.__doc__ or "").split())
    # An export takes seconds: only the variant that reads the most inputs is exported.
    first = -1 if check.__name__ == "onnx_of_cell" else 0

    def checked(plugin: Any, options: Mapping[str, Any] = {}, **sizes: int) -> None:
        variants, threads = [*of(plugin, options, **sizes).variants()], torch.get_num_threads()
        torch.set_num_threads(1)  # the work is small, and on a busy machine threads wait for others
        try:
            for subject in variants[first:]:
                where = f"{subject.spec.name}, {name}, with {subject.sizes}"
                with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
                    warnings.simplefilter("ignore", DeprecationWarning)  # of torch.jit
                    check(subject)
        except Exception as error:
            if isinstance(error, ThinstackError) and not isinstance(error, REFUSED):
                raise
            problem = f"{type(error).__name__}: {error!s:.800}".removeprefix("AssertionError: ")
            raise AssertionError(f"{where}: {problem} The rule is: {rule}") from error
        finally:
            torch.set_num_threads(threads)

    checked.__name__, checked.__doc__ = name, check.__doc__
    return checked


OF_ANY_PLUGIN = (
    plugin_checks.built_as_asked,
    plugin_checks.device_and_type,
    plugin_checks.inputs_are_kept,
    plugin_checks.no_rows,
    plugin_checks.finite,
    plugin_checks.nothing_is_kept,
    plugin_checks.weights_are_all,
    plugin_checks.gradients,
    plugin_checks.parameters_are_used,
)

CELL_CHECKS: dict[str, CellCheck] = _checks(
    CellSubject,
    *OF_ANY_PLUGIN,
    plugin_checks.rows_are_independent,
    forests.inputs_are_read,
    forests.bfloat16,
    forests.mixed_forests,
    forests.neighbours,
    forests.top_down,
    export_checks.torchscript_of_cell,
    export_checks.onnx_of_cell,
)
"""Checks by name, for `pytest.mark.parametrize("check", CELL_CHECKS.values(), ids=CELL_CHECKS)`.
If several fail, fix the first in this order."""

HEAD_CHECKS: dict[str, HeadCheck] = _checks(
    HeadSubject,
    *OF_ANY_PLUGIN,
    plugin_checks.rows_are_independent,
    plugin_checks.loss_is_a_sum,
    plugin_checks.unlabelled_rows,
    plugin_checks.soft_labels,
    plugin_checks.scaled_logits,
    export_checks.torchscript,
    export_checks.onnx,
)
"""As `CELL_CHECKS`, of task heads."""

PARSER_CHECKS: dict[str, ParserCheck] = _checks(
    ParserSubject,
    *OF_ANY_PLUGIN,
    plugin_checks.sentences_are_apart,
    export_checks.torchscript,
    export_checks.onnx,
)
"""As `CELL_CHECKS`, of parsers."""
