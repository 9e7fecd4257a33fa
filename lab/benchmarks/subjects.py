"""What the benchmark runs: thinstack and its rivals. A subject is made for one batch, and a call is
one forward pass."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence

from thinstack.core import Forest, Tree
from thinstack.core.fast import affine
from thinstack.core.model.tree_encoder import Layer, TreeEncoder
from thinstack.core.schedule import moved, schedule_transitions
from thinstack.plugins.cells.nary_lstm import NaryLSTM

try:
    import treelstm
except ImportError:
    treelstm = None


@dataclass(frozen=True)
class Batch:
    """Trees with random inputs of their words (L, X), and the nodes of all of them as flat
    transitions (N,)."""

    trees: list[Tree]
    words: Tensor
    transitions: Tensor

    @classmethod
    def of(cls, trees: list[Tree], input_size: int) -> "Batch":
        words = torch.randn(sum(len(tree.words) for tree in trees), input_size)
        return cls(trees, words, torch.from_numpy(Forest.of_binary(trees).transitions))

    def to(self, device: str, *, trees: bool = False) -> "Batch":
        """The same with its words on a device; with `trees`, its transitions too."""
        transitions = self.transitions.to(device) if trees else self.transitions
        return Batch(self.trees, self.words.to(device), transitions)

    @property
    def lengths(self) -> list[int]:
        return [len(tree.words) for tree in self.trees]

    def padded(self) -> tuple[Tensor, Tensor]:
        """The sentences' words (B, longest, X), longest sentence first, and their lengths (B,)."""
        sentences = sorted(torch.split(self.words, self.lengths), key=len, reverse=True)
        return pad_sequence(sentences, batch_first=True), torch.tensor(
            [len(sentence) for sentence in sentences]
        )


class Subject(ABC):
    """`inputs` are what a training step computes a gradient for, besides the module's
    parameters."""

    def __init__(self, module: Callable[..., Any], batch: Batch, inputs: Tensor):
        self.module, self.inputs = module, inputs

    @abstractmethod
    def __call__(self) -> Tensor:
        """Outputs of all nodes or words, as the module orders them."""


class Encoder(Subject):
    """thinstack's encoder; the schedule is part of a pass."""

    class Module(nn.Module):
        def __init__(self, input_size: int, hidden_size: int):
            super().__init__()
            self.encoder = TreeEncoder(
                [Layer(NaryLSTM(input_size=input_size, hidden_size=hidden_size))]
            )

        def forward(self, words: Tensor, transitions: Tensor) -> Tensor:
            schedule = schedule_transitions(transitions)
            if not torch.jit.is_scripting():
                schedule = moved(schedule, words)
            return self.encoder(words, schedule)[0]

    def __init__(self, module: nn.Module, batch: Batch):
        super().__init__(module, batch, batch.words.clone())
        self.transitions = batch.transitions

    def __call__(self) -> Tensor:
        return self.module(self.inputs, self.transitions)


class PackedLSTM(Subject):
    """`nn.LSTM` over the sentences, sorted and padded beforehand; packing them is part of a
    pass."""

    def __init__(self, module: nn.LSTM, batch: Batch):
        inputs, self.lengths = batch.padded()
        super().__init__(module, batch, inputs)

    def __call__(self) -> Tensor:
        packed = pack_padded_sequence(
            self.inputs, self.lengths, batch_first=True, enforce_sorted=True
        )
        return self.module(packed)[0].data


class PaddedLSTM(Subject):
    """`nn.LSTM` over the same sentences, sorted and padded beforehand."""

    def __init__(self, module: nn.LSTM, batch: Batch):
        super().__init__(module, batch, batch.padded()[0])

    def __call__(self) -> Tensor:
        return self.module(self.inputs)[0]


class Recursion(Subject):
    """A binary Tree-LSTM node by node: one `nn.Linear` call a node on [1, 2H]; all leaves in one
    projection."""

    class Module(nn.Module):
        def __init__(self, input_size: int, hidden_size: int):
            super().__init__()
            self.hidden_size = hidden_size
            self.leaf = nn.Linear(input_size, 3 * hidden_size)
            self.inner = nn.Linear(2 * hidden_size, 5 * hidden_size)

        def forward(self, words: Tensor, steps: list[int]) -> Tensor:
            width = self.hidden_size
            i, o, u = self.leaf(words).split(width, 1)
            cells = i.sigmoid() * u.tanh()
            leaves = zip((o.sigmoid() * cells.tanh()).split(1), cells.split(1), strict=True)
            stack: list[tuple[Tensor, Tensor]] = []
            outputs = []
            for step in steps:
                if step == 0:
                    stack.append(next(leaves))
                else:
                    right, left = stack.pop(), stack.pop()
                    gates = self.inner(torch.cat([left[0], right[0]], 1))
                    i, o, f_left, f_right = gates[:, : 4 * width].sigmoid_().split(width, 1)
                    cell = (
                        (i * gates[:, 4 * width :].tanh_())
                        .addcmul_(f_left, left[1])
                        .addcmul_(f_right, right[1])
                    )
                    stack.append((torch.tanh(cell).mul_(o), cell))
                outputs.append(stack[-1][0])
            return torch.cat(outputs)

    def __init__(self, module: nn.Module, batch: Batch):
        super().__init__(module, batch, batch.words)
        self.steps = batch.transitions.tolist()

    def __call__(self) -> Tensor:
        return self.module(self.inputs, self.steps)


class ChildSumLayers(Subject):
    """`pytorch-tree-lstm`: child-sum, level by level. Its orders are computed and batched
    beforehand, as it advises."""

    installed = treelstm is not None

    def __init__(self, module: nn.Module, batch: Batch):
        trees = zip(batch.trees, batch.words.split(batch.lengths), strict=True)
        self.orders = treelstm.batch_tree_input(
            [self._described(tree, words) for tree, words in trees]
        )
        del self.orders["tree_sizes"]
        super().__init__(module, batch, self.orders.pop("features"))

    @staticmethod
    def module_of(input_size: int, hidden_size: int) -> nn.Module:
        return treelstm.TreeLSTM(input_size, hidden_size)

    @staticmethod
    def _described(tree: Tree, words: Tensor) -> dict[str, Tensor]:
        """A tree as it wants it: edges as (parent, child), grouped by parent, and an input of zeros
        at inner nodes."""
        child = np.flatnonzero(tree.parents >= 0)
        edges = np.stack([tree.parents[child], child], 1)
        edges = edges[np.argsort(edges[:, 0], kind="stable")]
        node_order, edge_order = treelstm.calculate_evaluation_orders(edges, len(tree))
        features = words.new_zeros([len(tree), words.shape[1]])
        features[torch.from_numpy(tree.arities == 0)] = words
        orders = {"node_order": node_order, "edge_order": edge_order, "adjacency_list": edges}
        return {
            "features": features,
            **{name: torch.from_numpy(order) for name, order in orders.items()},
        }

    def __call__(self) -> Tensor:
        return self.module(self.inputs, **self.orders)[0]


class Gemms(Subject):
    """The matrix products of a binary Tree-LSTM's steps and nothing else: the floor."""

    class Module(nn.Module):
        def __init__(self, input_size: int, hidden_size: int):
            super().__init__()
            self.w, self.b = torch.randn(input_size, 3 * hidden_size), torch.randn(3 * hidden_size)
            self.u, self.v = (
                torch.randn(2 * hidden_size, 5 * hidden_size),
                torch.randn(5 * hidden_size),
            )

        def forward(self, words: Tensor, children: Tensor, counts: list[int]) -> Tensor:
            product = affine(self.b, words, self.w)
            for count in counts:
                product = affine(self.v, children[:count], self.u)
            return product

    def __init__(self, module: nn.Module, batch: Batch):
        super().__init__(module, batch, batch.words)
        self.counts = schedule_transitions(batch.transitions).inner_counts.tolist()[1:]
        self.children = torch.randn(max([0, *self.counts]), module.u.shape[0])

    def __call__(self) -> Tensor:
        return self.module(self.inputs, self.children, self.counts)
