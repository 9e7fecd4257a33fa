"""The depth-ordered executor: the thin stack (Bowman et al. 2016, Algorithm 1), run by depth
instead of by transition; and the same in reverse, from the roots to the leaves.

Every node's state is stored exactly once, in an order of our choice, so that the loop carries only
the results of the last step.
"""

import torch
from torch import Tensor, nn

from thinstack.core.cell import Cell, Links
from thinstack.core.schedule import Schedule


class DepthOrdered(nn.Module):
    """An executor of a cell over a forest from the leaves to the roots, one depth at a time."""

    def __init__(self, cell: Cell):
        super().__init__()
        self.cell = cell

    def forward(
        self, leaf_inputs: Tensor, inner_inputs: Tensor, schedule: Schedule
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return the outputs of all nodes (N, H), of the roots (B, H) in the order of their trees,
        and the cell's head words (N, W) or (N, 0). Inputs of leaves (L, X) and of inner nodes
        (I, inner_size), outputs and head words are in stacked order."""
        leaf_counts: list[int] = schedule.leaf_counts.tolist()
        inner_counts: list[int] = schedule.inner_counts.tolist()
        counts: list[int] = (schedule.leaf_counts + schedule.inner_counts).tolist()
        leaves, arity = self.cell.leaf(leaf_inputs), self.cell.arity
        leaf_steps = [torch.split(part, leaf_counts) for part in leaves]
        inputs = torch.split(inner_inputs, inner_counts)
        rows, kinds, edges = schedule.owners, schedule.kinds, counts
        if arity > 0:
            rows, kinds, edges = schedule.children, schedule.child_kinds, inner_counts
        by_step, kinds_by_step = torch.split(rows, edges), torch.split(kinds, edges)
        absent = [part.new_zeros([1, part.shape[1]]) for part in leaves]

        word_part, no_owner = self.cell.word_part, schedule.owners[:0]
        outputs = [self.cell.output(leaves)]
        words = [leaves[word_part]] if word_part >= 0 else [leaf_inputs[:, :0], inner_inputs[:, :0]]
        previous = [part[:0] for part in leaves]
        for step in range(1, len(counts)):
            pool: list[Tensor] = []
            if arity > 0:
                links, index = Links(no_owner, kinds_by_step[step]), by_step[step].flatten()
                for k in range(len(leaves)):
                    there = torch.cat([absent[k], previous[k], leaf_steps[k][step - 1]])
                    taken = there.index_select(0, index)
                    pool.append(taken.view(inner_counts[step], arity, taken.shape[1]))
            else:
                links = Links(by_step[step - 1], kinds_by_step[step - 1])
                for k in range(len(leaves)):
                    pool.append(torch.cat([previous[k], leaf_steps[k][step - 1]]))
            previous = self.cell.compose(inputs[step], pool, links)
            outputs.append(self.cell.output(previous))
            if word_part >= 0:
                words.append(previous[word_part])
        last = [torch.cat([previous[k], leaf_steps[k][-1]]) for k in range(len(leaves))]
        return (
            torch.cat(outputs),
            self.cell.output(last).index_select(0, schedule.root_rows),
            torch.cat(words),
        )


class TopDown(nn.Module):
    """An executor of a cell of arity 1 or 0, with an input at every node, from the roots down. The
    cell receives the parent of a node as its only "child", and a root as a leaf. The kind of that
    link is the index of the node among its parent's children, from 1."""

    def __init__(self, cell: Cell):
        super().__init__()
        self.cell = cell

    def forward(self, inputs: Tensor, schedule: Schedule) -> Tensor:
        """Return the outputs of all nodes (N, H) from inputs (N, X), both in stacked order."""
        counts: list[int] = (schedule.leaf_counts + schedule.inner_counts).tolist()
        by_step = torch.split(inputs.index_select(0, schedule.rows), counts)
        owners = torch.split(schedule.owners, counts)
        sides = torch.split(schedule.slots + 1, counts)
        previous = self.cell.leaf(by_step[-1])
        outputs = [self.cell.output(previous)]
        for back in range(1, len(counts)):
            step = len(counts) - 1 - back
            # Inner nodes come first in a step, so the parent's row among them is its row in
            # `previous`.
            above = [part.index_select(0, owners[step]) for part in previous]
            if self.cell.arity > 0:
                links = Links(owners[step][:0], sides[step].unsqueeze(1))
                above = [part.unsqueeze(1) for part in above]
            else:
                links = Links(torch.arange(counts[step], device=inputs.device), sides[step])
            previous = self.cell.compose(by_step[step], above, links)
            outputs.append(self.cell.output(previous))
        outputs.reverse()
        states = torch.cat(outputs)
        return torch.zeros_like(states).index_copy(0, schedule.rows, states)
