"""The mean of the word vectors below a node, the baseline that the papers compare with."""

from collections.abc import Iterable

from pydantic import BaseModel, ConfigDict
from torch import Tensor

from thinstack.core.cell import Cell, Links, sum_by_owner
from thinstack.errors import ConfigError
from thinstack.plugins import CellSpec, hookimpl

__all__ = ["WordMean", "WordMeanOptions"]


class WordMean(Cell):
    """h_j = the mean of the word vectors of the tree below node j; of a dependency tree, where `inner_size` is X, also its own.

    It has no parameters, and H is X. State: the sum of the words, their number (n, 1).

    Raises ConfigError (a ValueError) if `hidden_size` is not `input_size`.
    """

    def __init__(self, *, input_size: int, hidden_size: int, inner_size: int = 0):
        if hidden_size != input_size:
            raise ConfigError(f"hidden_size of a mean of words must be input_size = {input_size}, found {hidden_size}")
        if inner_size not in (0, input_size):
            raise ValueError(f"inner_size must be 0 or input_size = {input_size}, got {inner_size}")
        super().__init__(
            input_size=input_size, inner_size=inner_size, hidden_size=hidden_size, state_sizes=[hidden_size, 1], arity=0
        )

    def leaf(self, inputs: Tensor) -> list[Tensor]:
        return [inputs, inputs.new_ones([inputs.shape[0], 1])]

    def compose(self, inputs: Tensor, children: list[Tensor], links: Links) -> list[Tensor]:
        n = inputs.shape[0]
        total, count = sum_by_owner(children[0], links.owner, n), sum_by_owner(children[1], links.owner, n)
        if self.inner_size > 0:
            total, count = total + inputs, count + 1
        return [total, count]

    def output(self, state: list[Tensor]) -> Tensor:
        return state[0] / state[1]


class WordMeanOptions(BaseModel):
    """`word_mean.v1` has no options."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def _build(*, input_size: int, inner_size: int, hidden_size: int) -> Cell:
    return WordMean(input_size=input_size, inner_size=inner_size, hidden_size=hidden_size)


@hookimpl
def thinstack_cells() -> Iterable[CellSpec]:
    """Register `word_mean.v1`."""
    summary = "mean of the word vectors below a node, the papers' baseline"
    return [CellSpec(name="word_mean.v1", build=_build, config=WordMeanOptions, summary=summary)]
