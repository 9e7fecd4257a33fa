"""The table of a terminal that says which classes were taken for which."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray
from rich.table import Table
from rich.text import Text

from thinstack.integrations.show.outline import visible

WIDEST: Final = 12
"""The largest number of classes whose matrix fits a terminal."""


def matrix(counts: NDArray[np.int64], labels: Sequence[str]) -> Table:
    """A table of `counts` (C, C): how many texts of each class (rows) were taken for each class
    (columns). `labels` names the C classes."""
    table = Table(title="texts of each class (rows), taken for", title_justify="left")
    table.add_column("")
    for label in labels:
        table.add_column(Text(visible(label)), justify="right")
    for row, label in enumerate(labels):
        cells = (f"{count:,}" if count else "." for count in counts[row].tolist())
        table.add_row(Text(visible(label)), *cells)
    return table
