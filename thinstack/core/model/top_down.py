"""The depth-ordered executor in reverse: from the roots to the leaves, all nodes of one depth at a
time."""

import torch
from torch import Tensor, nn

from thinstack.core.cell import Cell, Links
from thinstack.core.schedule import Schedule


class TopDown(nn.Module):
    """Runs a cell over a forest from the roots down. The cell sees the parent of a node as its only
    "child", and a root as a leaf.

    The kind of that link says which child of its parent the node is, counted from 1.

    Args:
        cell: a cell of arity 1 or 0, with an input at every node.
    """

    def __init__(self, cell: Cell):
        super().__init__()
        self.cell = cell

    def forward(self, inputs: Tensor, schedule: Schedule) -> Tensor:
        """Outputs of all nodes (N, H) from their inputs (N, X), both in stacked order."""
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
