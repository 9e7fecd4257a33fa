"""Random batches of sentences with trees, and the cells and trackers that read them, in float64."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import torch
from core.cells import AnyArity, FixedArity
from last_word_model import random_tree
from oracle import Nodes
from torch import Tensor, nn

from thinstack.core.cell import Cell
from thinstack.core.encoder import Encoding
from thinstack.plugins.cells.child_sum_lstm import ChildSumLSTM
from thinstack.plugins.cells.nary_lstm import NaryLSTM
from thinstack.plugins.cells.spinn_lstm import SpinnLSTM
from thinstack.plugins.encoders.spinn.tracking_lstm import TrackingLSTM

X, H = 3, 4

PLAIN = {
    "spinn_lstm": lambda: SpinnLSTM(input_size=X, hidden_size=H),
    "nary_lstm": lambda: NaryLSTM(input_size=X, hidden_size=H),
    "child_sum_lstm": lambda: ChildSumLSTM(input_size=X, hidden_size=H),
}
"""Cells without an input at inner nodes."""

FED = {
    "spinn_lstm_fed": lambda: SpinnLSTM(input_size=X, hidden_size=H, inner_size=5),
    "two_widths_fed": lambda: FixedArity(2),
    "any_arity_fed": AnyArity,
}
"""Cells that a tracking LSTM feeds; those that are no plugins overwrite their children, and one's
parts differ in width."""


def drawn(module: nn.Module, seed: int = 1, scale: float = 0.9) -> nn.Module:
    """The module in float64 with weights far from zero, biases too."""
    random = torch.Generator().manual_seed(seed)
    for weights in module.double().parameters():
        nn.init.uniform_(weights, -scale, scale, generator=random)
    return module


def cell_of(name: str) -> Cell:
    return drawn((PLAIN | FED)[name]())


def tracker_of(
    cell: Cell, lookahead: int = 1, *, parses: bool = True, seed: int = 2, scale: float = 0.9
) -> TrackingLSTM:
    """One of the size that feeds the cell."""
    tracker = TrackingLSTM(
        input_size=H, size=cell.inner_size or 5, lookahead=lookahead, parses=parses
    )
    return drawn(tracker, seed, scale)


class Batch(NamedTuple):
    """Sentences and their trees."""

    words: Tensor
    lengths: Tensor
    transitions: Tensor


def in_node_order(encoding: Encoding) -> Nodes:
    """Each row of what the executor stacked belongs to one node."""
    assert sorted(encoding.places.tolist()) == list(range(len(encoding.stacked)))
    return Nodes(
        encoding.stacked[encoding.places],
        encoding.roots,
        encoding.choices,
        encoding.free,
        encoding.transitions,
    )


def batch_of(sizes: Iterable[int], seed: int = 3) -> Batch:
    """One random sentence a size, with trees of all shapes from the left-branching to the
    right-branching one."""
    random = np.random.default_rng(seed)
    lengths = list(sizes)
    transitions = [step for size in lengths for step in random_tree(size, random, random.random())]
    words = torch.from_numpy(random.normal(size=(sum(lengths), X)))
    return Batch(
        words, torch.tensor(lengths, dtype=torch.long), torch.tensor(transitions, dtype=torch.long)
    )


def mixed_sizes(count: int, seed: int) -> list[int]:
    """Sizes of a batch, in no order: many short sentences, few of up to 14 words, at least one of
    one word."""
    random = np.random.default_rng(seed)
    return [1, *np.minimum(random.geometric(0.22, count - 1), 14).tolist()]
