"""`HEAD_CHECKS`: what every task head must do, whatever it computes."""

from collections.abc import Mapping
from typing import Any, Protocol

from thinstack.core.head import TaskHead
from thinstack.testing import export_checks, head_checks, method_checks
from thinstack.testing.subject import HeadSubject, public

__all__ = ["HEAD_CHECKS", "HeadCheck"]


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
        """Build the head and check the rule; every weight is drawn at random.

        Args:
            head: its registered name, or its class.
            options: of the head.
            hidden_size, word_size, classes: what the head is asked for.

        Raises AssertionError that says what is wrong and what to change in the head; what
        `PluginManager.head` and `HeadSpec.create` raise where there is no head to check;
        MissingExtraError where a package is not installed.
        """


HEAD_CHECKS: dict[str, HeadCheck] = {
    check.__name__.removesuffix("_of_head"): public(HeadSubject, check)
    for check in (
        method_checks.built_as_asked,
        method_checks.inputs_are_kept,
        head_checks.loss_is_a_sum,
        head_checks.unlabelled_rows,
        head_checks.few_rows,
        method_checks.rows_are_independent,
        method_checks.gradients,
        export_checks.torchscript_of_head,
        export_checks.onnx_of_head,
    )
}
"""Checks by name, for `pytest.mark.parametrize("check", HEAD_CHECKS.values(), ids=HEAD_CHECKS)`.
Any order will do; where several fail, the first in this order is the one to mend."""
