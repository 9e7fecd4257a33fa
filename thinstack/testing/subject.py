"""What a contract check is run on: a registered cell or task head with its options and sizes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import torch
from torch import Tensor

from thinstack.core.cell import Cell
from thinstack.core.head import TaskHead
from thinstack.errors import ThinstackError
from thinstack.plugins.manager import manager
from thinstack.plugins.specs import CellSpec, HeadSpec

__all__ = ["HeadSubject", "Subject", "public"]

Tested = TypeVar("Tested", "Subject", "HeadSubject")

SEED, STD = 20, 0.5


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A cell to be built anew by each check.

    Attributes:
        spec: of the cell.
        options: as a configuration has them.
        input_size, hidden_size, inner_size, kinds: what the cell is asked for; `inner_size` is 0 or
            `input_size`, as models ask. Raises ValueError for anything else.
        examples: number of random batches where a check draws many.
    """

    spec: CellSpec
    options: Mapping[str, Any] = field(default_factory=dict)
    input_size: int = 5
    hidden_size: int = 4
    inner_size: int = 0
    kinds: int = 2
    examples: int = 500

    def __post_init__(self) -> None:
        if self.inner_size not in (0, self.input_size):
            raise ValueError(
                f"inner_size must be 0 or input_size = {self.input_size}, as models ask, got "
                f"{self.inner_size}"
            )

    @classmethod
    def of(cls, cell: str | type[Cell], options: Mapping[str, Any], **sizes: int) -> "Subject":
        """The cell of this name, or this class. Raises as `PluginManager.cell` does."""
        spec = manager().cell(cell) if isinstance(cell, str) else CellSpec(cell)
        return cls(spec=spec, options=options, **sizes)

    def create(self) -> Cell:
        """The cell as a model gets it, with the weights that it starts with. Raises as
        `CellSpec.create` does."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(SEED)
            return self.spec.create(
                self.options,
                input_size=self.input_size,
                hidden_size=self.hidden_size,
                inner_size=self.inner_size,
                kinds=self.kinds,
            )

    def random_cell(self, dtype: torch.dtype = torch.float64) -> Cell:
        """The cell in evaluation mode with every weight drawn from N(0, 0.5), so that no bias is
        0."""
        cell = self.create().to(dtype).eval()
        generator = torch.Generator().manual_seed(SEED)
        with torch.no_grad():
            for parameter in cell.parameters():
                parameter.copy_(
                    torch.randn(parameter.shape, generator=generator, dtype=torch.float64) * STD
                )
        return cell

    def edge_types(self, cell: Cell) -> int:
        """Edge types to draw from: those of the model, unless the cell knows fewer."""
        return max(1, min(self.kinds, cell.kinds or self.kinds))


@dataclass(frozen=True, kw_only=True)
class HeadSubject:
    """A task head to be built anew by each check.

    Attributes:
        spec: of the head.
        options: as a configuration has them.
        hidden_size, word_size, classes: what the head is asked for.
    """

    spec: HeadSpec
    options: Mapping[str, Any] = field(default_factory=dict)
    hidden_size: int = 4
    word_size: int = 0
    classes: int = 3

    @classmethod
    def of(
        cls, head: str | type[TaskHead], options: Mapping[str, Any], **sizes: int
    ) -> "HeadSubject":
        """The head of this name, or this class. Raises as `PluginManager.head` does."""
        spec = manager().head(head) if isinstance(head, str) else HeadSpec(head)
        return cls(spec=spec, options=options, **sizes)

    def create(self) -> TaskHead:
        """The head as a model gets it, with the weights that it starts with. Raises as
        `HeadSpec.create` does."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(SEED)
            return self.spec.create(
                self.options,
                hidden_size=self.hidden_size,
                word_size=self.word_size,
                classes=self.classes,
            )

    def width(self, head: TaskHead) -> int:
        """Width of the rows that the head says it reads. Raises KeyError if it reads none of the
        four."""
        pair = 2 * self.hidden_size
        widths = {
            "nodes": self.hidden_size,
            "roots": self.hidden_size,
            "pairs": pair,
            "candidates": pair + self.word_size,
        }
        return widths[head.reads]

    def rows(self, head: TaskHead, n: int, *, seed: int = 0) -> Tensor:
        """Random rows (n, width), float64."""
        return torch.randn(
            n, self.width(head), generator=torch.Generator().manual_seed(seed), dtype=torch.float64
        )

    def random_head(self) -> TaskHead:
        """The head in float64 and evaluation mode, every weight drawn from N(0, 0.5), after a step
        in training mode.

        The step moves what it counts, such as the means of batch normalisation.
        """
        head = self.create().double().train()
        generator = torch.Generator().manual_seed(SEED)
        with torch.no_grad(), torch.random.fork_rng(devices=[]):
            torch.manual_seed(SEED)
            for parameter in head.parameters():
                # Wide layers get smaller weights, lest scores grow beyond what float32 can hold to
                # the tolerance.
                std = (
                    min(STD, 2 * max(parameter.shape, default=1) ** -0.5)
                    if parameter.dim() > 1
                    else STD
                )
                parameter.copy_(
                    torch.randn(parameter.shape, generator=generator, dtype=torch.float64) * std
                )
            head(self.rows(head, 5) * 2 + 1)
        return head.eval()


def public(of: Callable[..., Tested], check: Callable[[Tested], None]) -> Callable[..., None]:
    """A check of a subject as plugin authors call it: with what `of` makes the subject from."""

    def checked(
        plugin: str | type[Cell] | type[TaskHead], options: Mapping[str, Any] = {}, **sizes: int
    ) -> None:
        _judge(check, of(plugin, options, **sizes))

    checked.__name__, checked.__doc__ = check.__name__, check.__doc__
    return checked


def _judge(check: Callable[[Tested], None], subject: Tested) -> None:
    """Run a check; whatever goes wrong in what is checked becomes an AssertionError that names it
    and the rule.

    The errors of thinstack itself are raised as they are.
    """
    subject_name, rule = subject.spec.name, check.__name__
    try:
        check(subject)
    except AssertionError as error:
        raise AssertionError(f"{subject_name}, {rule}: {error}") from None
    except ThinstackError:
        raise
    except Exception as error:
        raise AssertionError(
            f"{subject_name}, {rule}: {type(error).__name__}: {' '.join(str(error).split()):.300}. "
            f"The rule is: {' '.join((check.__doc__ or '').split())} Where an earlier check fails "
            "too, mend that first"
        ) from error
