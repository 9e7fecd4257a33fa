"""Encoders: from trees and the inputs of their words to a vector for every node."""

from typing import NamedTuple

from torch import Tensor, nn

from thinstack.core.cell import Cell
from thinstack.core.depth_ordered import DepthOrdered
from thinstack.core.schedule import Schedule

__all__ = ["BottomUp", "Encoding"]


class Encoding(NamedTuple):
    """What an encoder makes of a forest.

    Attributes:
        stacked: (N, H) outputs of all nodes in the schedule's stacked order; `in_node_order` puts them in the forest's.
        roots: (B, H) outputs of the roots, in the order of the trees.
    """

    stacked: Tensor
    roots: Tensor


class BottomUp(nn.Module):
    """Composes every node from its children, leaves first, with one cell whose inner nodes have no input of their own."""

    def __init__(self, cell: Cell):
        super().__init__()
        self.executor = DepthOrdered(cell)

    def forward(self, words: Tensor, schedule: Schedule) -> Encoding:
        """Encode a forest from the inputs of its words (L, X), in node order."""
        leaf_inputs = words.index_select(0, schedule.leaf_words)
        stacked, roots = self.executor(leaf_inputs, words.new_zeros([schedule.inner.shape[0], 0]), schedule)
        return Encoding(stacked, roots)
