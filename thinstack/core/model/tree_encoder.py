"""The encoder of input trees of any kind: layers of a cell, bottom-up and back to the leaves."""

from collections.abc import Sequence
from typing import cast

import torch
from torch import Tensor, nn

from thinstack.core.cell import Cell, Links, sum_by_owner
from thinstack.core.depth_ordered import DepthOrdered, TopDown
from thinstack.core.encoder import Encoder, Encoding, Structure, plain_encoding
from thinstack.core.schedule import (
    Schedule,
    check_transitions,
    moved,
    schedule_lengths,
    schedule_parents,
    schedule_transitions,
)
from thinstack.errors import UnknownNameError


class SubtreeMean(Cell):
    """The mean (n, X) of the leaf inputs below each node, and with `inner_size` X also of the other
    nodes' inputs. The state is the sum (n, X) of these inputs and their number (n, 1)."""

    inner_like_leaf = True

    def __init__(self, *, input_size: int, inner_size: int = 0):
        super().__init__(input_size, input_size, [input_size, 1], arity=0, inner_size=inner_size)

    def leaf(self, inputs: Tensor) -> list[Tensor]:
        return [inputs, inputs.new_ones([inputs.shape[0], 1])]

    def compose(self, inputs: Tensor, children: list[Tensor], links: Links) -> list[Tensor]:
        n = inputs.shape[0]
        total = sum_by_owner(children[0], links.owner, n)
        number = sum_by_owner(children[1], links.owner, n)
        if self.inner_size > 0:
            return [total + inputs, number + 1]
        return [total, number]

    def output(self, state: list[Tensor]) -> Tensor:
        return state[0] / state[1]


class Layer(nn.Module):
    """One pass of a cell from the leaves to the roots and, in a bidirectional encoder, a pass of a
    second cell back to the leaves.

    The top-down cell reads the head-word part of the bottom-up state (Teng & Zhang 2017, 4.3), or
    without such a part a separate input at every node. With the same cell in both directions, they
    share its weights. `size` is the width of both directions, which the next layer reads.
    """

    def __init__(self, up: Cell, down: Cell | None = None):
        super().__init__()
        self.up = DepthOrdered(up)
        self.down = None if down is None else TopDown(down)
        self.size = up.hidden_size + (0 if down is None else down.hidden_size)

    def forward(
        self, leaf_inputs: Tensor, inner_inputs: Tensor, down_inputs: Tensor, schedule: Schedule
    ) -> tuple[list[Tensor], Tensor, Tensor]:
        """Return the outputs (N, H) of each direction, the bottom-up outputs of roots (B, H), and
        head words (N, W). Arguments are as in `DepthOrdered`, with the inputs (N, X) of a top-down
        cell without head words. All are in stacked order."""
        outputs, roots, words = self.up(leaf_inputs, inner_inputs, schedule)
        if self.down is None:
            return [outputs], roots, words
        read = words if self.up.cell.word_part >= 0 else down_inputs
        return [outputs, self.down(read, schedule)], roots, words


class TreeEncoder(Encoder):
    """Layers of composition. At every node, each layer reads the output of the layer below (Irsoy &
    Cardie 2014). Over chains, it is a sequential LSTM.

    Args:
        layers: from the first layer, which reads the words, to the last.
        structure, words_at_leaves: as in every `Encoder`.
        separate: whether the two directions are separate stacks of layers (Tai et al. 2015, Table
            1). Otherwise each layer reads both directions of the layer below.
        readout: the parts of the output of a bidirectional last layer: a node's states "up" and
            "down", and the mean of the top-down states of the "leaves" below it. All three form
            (15) of Teng & Zhang 2017, but for every node.
    """

    onnx = "thinstack.export.onnx.tree_encoder"

    def __init__(
        self,
        layers: Sequence[Layer],
        *,
        structure: Structure = "transitions",
        words_at_leaves: bool = True,
        separate: bool = False,
        readout: Sequence[str] = ("up", "down", "leaves"),
    ):
        up, down = layers[-1].up.cell, layers[-1].down
        parts = list(readout) if down is not None else ["up"]
        down_size = 0 if down is None else down.cell.hidden_size
        sizes = {"up": up.hidden_size, "down": down_size, "leaves": down_size}
        for part in parts:
            if part not in sizes:
                raise UnknownNameError("readout", part, sizes)
        super().__init__(
            hidden_size=sum(sizes[part] for part in parts),
            word_size=up.state_sizes[up.word_part] if up.word_part >= 0 else 0,
            structure=structure,
            words_at_leaves=words_at_leaves,
            arity=max(layer.up.cell.arity for layer in layers),
            kinds=max(layer.up.cell.kinds for layer in layers),
            ranks=structure == "transitions",
        )
        self.layers, self.separate, self.readout = nn.ModuleList(layers), separate, parts
        self.reads_words_twice = layers[0].down is not None and not words_at_leaves
        self.mean = DepthOrdered(SubtreeMean(input_size=down_size)) if "leaves" in parts else None

    def stack(self) -> list[Layer]:
        """Return the layers, from the first."""
        return cast(list[Layer], list(self.layers))

    def encode(self, words: Tensor, inputs: dict[str, Tensor], track: bool) -> Encoding:
        schedule = self.schedule(inputs)
        expected = schedule.leaves.shape[0] if self.words_at_leaves else schedule.stacked.shape[0]
        if words.shape[0] != expected:
            raise ValueError(
                f"expected {expected} words, one per node with a word; found {words.shape[0]}"
            )
        if not torch.jit.is_scripting():  # type: ignore[attr-defined]
            schedule = moved(schedule, words)
        return self.forward(words, schedule)

    def schedule(self, inputs: dict[str, Tensor]) -> Schedule:
        """Return the schedule of the forest in the inputs. Raises ValueError for transitions or
        parents that are not trees, for slots or kinds that the cell does not support, for two
        children in one slot, and for sentences without words."""
        if self.structure == "transitions":
            check_transitions(inputs["transitions"])
            return schedule_transitions(inputs["transitions"])
        if self.structure == "lengths":
            if bool((inputs["lengths"] < 1).any()):
                raise ValueError("lengths must be at least 1: remove sentences without words")
            return schedule_lengths(inputs["lengths"])
        parents = inputs["parents"].long()
        check_range("parents", parents, -1, parents.shape[0] - 1)
        slots, kinds = torch.zeros_like(parents), torch.ones_like(parents)
        if "slots" in self.input_names:
            slots = inputs["slots"].long()
            check_range("slots", slots, 0, self.arity - 1)
            taken = (parents * self.arity + slots)[parents >= 0]
            if torch.unique(taken).shape[0] < taken.shape[0]:
                raise ValueError("two children of a node have the same slot")
        if "kinds" in self.input_names:
            kinds = inputs["kinds"].long()
            check_range("kinds", kinds, 1, self.kinds)
        return schedule_parents(parents, slots, kinds, self.arity)

    def forward(self, words: Tensor, schedule: Schedule) -> Encoding:
        """Encode a forest from the vectors of its words in node order, (L, X) or (N, X)."""
        first = schedule.leaf_words if self.words_at_leaves else schedule.leaves
        leaf_inputs = words.index_select(0, first)
        none = words.new_zeros([schedule.inner.shape[0], 0])
        inner_inputs = none if self.words_at_leaves else words.index_select(0, schedule.inner)
        down_inputs = words
        if self.reads_words_twice:
            down_inputs = torch.cat([leaf_inputs, inner_inputs])
        outputs, roots, heads = [words], words, words
        for depth, layer in enumerate(self.layers):
            if depth > 0:
                joined = outputs[0] if self.separate or len(outputs) == 1 else torch.cat(outputs, 1)
                leaves = leaf_inputs.shape[0]
                leaf_inputs, inner_inputs = joined[:leaves], joined[leaves:]
                down_inputs = outputs[-1] if self.separate else joined
            outputs, roots, heads = layer(leaf_inputs, inner_inputs, down_inputs, schedule)
        stacked = outputs[0]
        if len(outputs) > 1:
            parts = {"up": outputs[0], "down": outputs[1]}
            if self.mean is not None:
                means, _, _ = self.mean(outputs[1][: leaf_inputs.shape[0]], none, schedule)
                parts["leaves"] = means
            stacked = torch.cat([parts[part] for part in self.readout], 1)
            roots = stacked.index_select(0, schedule.stacked.index_select(0, schedule.roots))
        plain = plain_encoding(stacked, schedule.stacked, roots)
        nodes = schedule.inner, schedule.child_nodes, schedule.roots
        return Encoding(*plain[:3], heads, *nodes, *plain[7:])


def check_range(name: str, values: Tensor, least: int, greatest: int) -> None:
    """Raise ValueError for values outside [least, greatest]."""
    if bool(((values < least) | (values > greatest)).any()):
        raise ValueError(
            f"{name} must be between {least} and {greatest}, found {int(values.min())} to "
            f"{int(values.max())}"
        )
