"""Encoders: from trees and the inputs of their words to a vector for every node."""

from collections.abc import Sequence
from typing import NamedTuple, cast

import torch
from torch import Tensor, nn

from thinstack.core.cell import Cell
from thinstack.core.depth_ordered import DepthOrdered
from thinstack.core.schedule import Schedule
from thinstack.core.subtree_mean import SubtreeMean
from thinstack.core.top_down import TopDown
from thinstack.errors import UnknownNameError

__all__ = ["Encoder", "Encoding", "Layer"]


class Encoding(NamedTuple):
    """What an encoder makes of a forest.

    Attributes:
        stacked: (N, H) outputs of all nodes in the schedule's stacked order; `in_node_order` puts
            them in the forest's.
        roots: (B, H) outputs of the roots, in the order of the trees.
        words: (N, W) head-word vectors of all nodes in stacked order, (N, 0) if the cell has none.
    """

    stacked: Tensor
    roots: Tensor
    words: Tensor


class Layer(nn.Module):
    """One pass of a cell from the leaves to the roots and, for a bidirectional encoder, one of
    another back to the leaves.

    The top-down cell reads the head-word part of the bottom-up state (Teng & Zhang 2017, 4.3) or,
    where there is none, an input of its own at every node. Both may be one cell, whose weights the
    directions share.

    Attributes:
        size: width of what the next layer reads: both directions side by side.
    """

    def __init__(self, up: Cell, down: Cell | None = None):
        super().__init__()
        self.up = DepthOrdered(up)
        self.down = None if down is None else TopDown(down)
        self.size = up.hidden_size + (0 if down is None else down.hidden_size)

    def forward(
        self, leaf_inputs: Tensor, inner_inputs: Tensor, down_inputs: Tensor, schedule: Schedule
    ) -> tuple[list[Tensor], Tensor, Tensor]:
        """Outputs of each direction, (N, H) each, root outputs (B, H) bottom-up, head words (N, W);
        nodes in stacked order.

        Args:
            leaf_inputs: (L, X) in stacked order.
            inner_inputs: (I, inner_size) in stacked order.
            down_inputs: (N, X) in stacked order, for a top-down cell where the bottom-up one has no
                head words.
            schedule: of the forest.
        """
        outputs, roots, words = self.up(leaf_inputs, inner_inputs, schedule)
        if self.down is None:
            return [outputs], roots, words
        read = words if self.up.cell.word_part >= 0 else down_inputs
        return [outputs, self.down(read, schedule)], roots, words


class Encoder(nn.Module):
    """Layers of composition, each reading at every node what the layer below made of it (Irsoy &
    Cardie 2014).

    Over trees with words at the leaves, or at every node: dependency trees, and the chains that
    make it a sequential LSTM.

    Args:
        layers: from the first, which reads the words.
        words_at_leaves: whether only leaves have a word.
        separate: whether the directions are two stacks of layers, each reading its own below (Tai
            et al. 2015, Table 1), instead of both reading both.
        readout: what the outputs of a bidirectional last layer are made of, side by side: "up" and
            "down", a node's states in the two directions, and "leaves", the mean of the top-down
            states of the leaves below it. All three is (15) of Teng & Zhang 2017, for every node
            instead of the root alone. A bottom-up layer gives its one state.

    Attributes:
        hidden_size: width H of a node's output.
        word_size: width W of the head-word vectors, 0 if the cell has none.
    """

    def __init__(
        self,
        layers: Sequence[Layer],
        *,
        words_at_leaves: bool = True,
        separate: bool = False,
        readout: Sequence[str] = ("up", "down", "leaves"),
    ):
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.words_at_leaves, self.separate = words_at_leaves, separate
        self.reads_words_twice = layers[0].down is not None and not words_at_leaves
        up, down = layers[-1].up.cell, layers[-1].down
        self.readout = list(readout) if down is not None else ["up"]
        down_size = 0 if down is None else down.cell.hidden_size
        sizes = {"up": up.hidden_size, "down": down_size, "leaves": down_size}
        for part in self.readout:
            if part not in sizes:
                raise UnknownNameError("readout", part, sizes)
        self.mean = (
            DepthOrdered(SubtreeMean(input_size=down_size)) if "leaves" in self.readout else None
        )
        self.hidden_size = sum(sizes[part] for part in self.readout)
        self.word_size = up.state_sizes[up.word_part] if up.word_part >= 0 else 0

    def stack(self) -> list[Layer]:
        """The layers, from the first."""
        return cast(list[Layer], list(self.layers))

    def forward(self, words: Tensor, schedule: Schedule) -> Encoding:
        """Encode a forest from the inputs of its words, in node order: (L, X), or (N, X) if every
        node has one."""
        leaves = schedule.leaf_words if self.words_at_leaves else schedule.leaves
        leaf_inputs = words.index_select(0, leaves)
        none = words.new_zeros([schedule.inner.shape[0], 0])
        inner_inputs = none if self.words_at_leaves else words.index_select(0, schedule.inner)
        down_inputs = words
        if self.reads_words_twice:
            down_inputs = torch.cat([leaf_inputs, inner_inputs])
        outputs, roots, heads = [words], words, words
        for depth, layer in enumerate(self.layers):
            if depth > 0:
                joined = outputs[0] if self.separate or len(outputs) == 1 else torch.cat(outputs, 1)
                leaf_inputs, inner_inputs = (
                    joined[: leaf_inputs.shape[0]],
                    joined[leaf_inputs.shape[0] :],
                )
                down_inputs = outputs[-1] if self.separate else joined
            outputs, roots, heads = layer(leaf_inputs, inner_inputs, down_inputs, schedule)
        if len(outputs) == 1:
            return Encoding(outputs[0], roots, heads)
        parts = {"up": outputs[0], "down": outputs[1]}
        if self.mean is not None:
            means, _, _ = self.mean(outputs[1][: leaf_inputs.shape[0]], none, schedule)
            parts["leaves"] = means
        stacked = torch.cat([parts[part] for part in self.readout], 1)
        root_rows = schedule.stacked.index_select(0, schedule.roots)
        return Encoding(stacked, stacked.index_select(0, root_rows), heads)
