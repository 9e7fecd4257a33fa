"""`CELL_CHECKS`, `HEAD_CHECKS` and `PARSER_CHECKS`: what every cell, task head and parser must do,
whatever it computes."""

from collections.abc import Mapping
from typing import Any, Protocol

from thinstack.core.cell import Cell
from thinstack.core.head import TaskHead
from thinstack.core.parser import Parser
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
from thinstack.testing.judge import public
from thinstack.testing.subject import CellSubject, HeadSubject, ParserSubject


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
    check.__name__: public(CellSubject, check, once=check is export_checks.onnx)
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
    check.__name__.removesuffix("_of_head"): public(HeadSubject, check)
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
    check.__name__.removesuffix("_of_parser"): public(ParserSubject, check)
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
