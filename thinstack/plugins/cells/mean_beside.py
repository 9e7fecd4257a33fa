"""A wrapper that appends the mean of the words below a node to the output of another cell."""

from typing import Any, Literal

import torch
from torch import Tensor

from thinstack.core.cell import Cell, Links, sum_by_owner
from thinstack.core.config.base import Count
from thinstack.plugins.cells._words import first_columns
from thinstack.plugins.manager import manager


class MeanBeside(Cell):
    """Another cell with the mean of the words x_a .. x_b below node j. With its output h_j:

        m_j   = (x_a + .. + x_b) / (b - a + 1)
        out_j = [h_j; m_j]

    If words are read in context, m_j describes the phrase without its tree. Only leaves have words.
    State: that of the other cell, the sum of the words, and their number (n, 1).

    With `reads = "state"`, out_j is the whole state of the other cell (h_j and c_j of an LSTM), m_j
    and the logarithm of the number of words.

    Args:
        hidden_size: width of h. The output is wider by the width of m.
        cell, options: name and options of the other cell.
        columns: number of leading columns of each word to average; None for all.
        reads: whether the mean follows the output of the other cell or its state.

    Raises ConfigError for more columns than words have, and the errors of the other cell.
    """

    name = "mean_beside.v1"
    summary = "another cell, plus the mean of a phrase's words"

    def __init__(
        self,
        *,
        input_size: int,
        hidden_size: int,
        kinds: int = 1,
        cell: str = "nary_lstm.v1",
        options: dict[str, Any] = {},  # noqa: B006  # pydantic copies it
        columns: Count | None = None,
        reads: Literal["output", "state"] = "output",
    ):
        sizes = {"input_size": input_size, "hidden_size": hidden_size, "kinds": kinds}
        inner: Cell = manager().find("cell", cell).create(options, **sizes)
        width = first_columns(self.name, input_size, columns)
        read = inner.hidden_size if reads == "output" else sum(inner.state_sizes) + 1
        super().__init__(
            input_size,
            read + width,
            [*inner.state_sizes, width, 1],
            arity=inner.arity,
            kinds=inner.kinds,
            word_part=inner.word_part,
        )
        self.inner, self.columns, self.own = inner, width, len(inner.state_sizes)
        self.reads_state = reads == "state"

    def leaf(self, inputs: Tensor) -> list[Tensor]:
        number = inputs.new_ones([inputs.shape[0], 1])
        return self.inner.leaf(inputs) + [inputs[:, : self.columns], number]  # noqa: RUF005

    def compose(self, inputs: Tensor, children: list[Tensor], links: Links) -> list[Tensor]:
        state = self.inner.compose(inputs, children[: self.own], links)
        for part in children[self.own :]:
            if self.arity > 0:
                state.append(part.sum(1))
            else:
                state.append(sum_by_owner(part, links.owner, inputs.shape[0]))
        return state

    def output(self, state: list[Tensor]) -> Tensor:
        mean = state[-2] / state[-1]
        if self.reads_state:
            return torch.cat(state[: self.own] + [mean, state[-1].log()], 1)  # noqa: RUF005
        return torch.cat([self.inner.output(state[: self.own]), mean], 1)
