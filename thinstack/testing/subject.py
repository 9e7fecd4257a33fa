"""What a contract check is run on: a registered cell with its options and sizes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

from thinstack.core.cell import Cell
from thinstack.plugins.manager import manager
from thinstack.plugins.specs import CellSpec

__all__ = ["Subject"]

SEED, STD = 20, 0.5


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A cell to be built anew by each check.

    Attributes:
        spec: of the cell.
        options: as a configuration has them.
        input_size, hidden_size, inner_size, kinds: what the cell is asked for; `inner_size` is 0 or `input_size`, as models
            ask. Raises ValueError for anything else.
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
            raise ValueError(f"inner_size must be 0 or input_size = {self.input_size}, as models ask, got {self.inner_size}")

    @classmethod
    def of(cls, cell: str | CellSpec, options: Mapping[str, Any], **sizes: int) -> "Subject":
        """The cell of this name, or of this spec. Raises as `PluginManager.cell` does."""
        return cls(spec=manager().cell(cell) if isinstance(cell, str) else cell, options=options, **sizes)

    def create(self) -> Cell:
        """The cell as a model gets it, with the weights that it starts with. Raises as `CellSpec.create` does."""
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
        """The cell in evaluation mode with every weight drawn from N(0, 0.5), so that no bias is 0."""
        cell = self.create().to(dtype).eval()
        generator = torch.Generator().manual_seed(SEED)
        with torch.no_grad():
            for parameter in cell.parameters():
                parameter.copy_(torch.randn(parameter.shape, generator=generator, dtype=torch.float64) * STD)
        return cell

    def edge_types(self, cell: Cell) -> int:
        """Edge types to draw from: those of the model, unless the cell knows fewer."""
        return max(1, min(self.kinds, cell.kinds or self.kinds))
