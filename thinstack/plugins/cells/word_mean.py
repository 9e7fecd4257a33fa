"""The mean of the word vectors below a node, the baseline that the papers compare with."""

from collections.abc import Iterable

from pydantic import BaseModel, ConfigDict

from thinstack.core.cell import Cell
from thinstack.core.subtree_mean import SubtreeMean
from thinstack.errors import ConfigError
from thinstack.plugins import CellSpec, hookimpl

__all__ = ["WordMean", "WordMeanOptions"]


class WordMean(SubtreeMean):
    """h_j = the mean of the word vectors of the tree below node j; of a dependency tree, where
    `inner_size` is X, also its own.

    It has no parameters, and H is X. State: the sum of the words, their number (n, 1).

    Raises ConfigError (a ValueError) if `hidden_size` is not `input_size`.
    """

    def __init__(self, *, input_size: int, hidden_size: int, inner_size: int = 0):
        if hidden_size != input_size:
            raise ConfigError(
                f"hidden_size of a mean of words must be input_size = {input_size}, found "
                f"{hidden_size}"
            )
        super().__init__(input_size=input_size, inner_size=inner_size)


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
