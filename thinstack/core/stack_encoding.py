"""What the encoders of SPINN make of a batch of sentences."""

from typing import NamedTuple

from torch import Tensor

__all__ = ["StackEncoding"]


class StackEncoding(NamedTuple):
    """N nodes of B binary trees.

    Attributes:
        stacked: (N, H) outputs of all nodes, in an order of the executor's own; (M, H) with those
            that a beam search gave up.
        places: (N,) the row of each node in `stacked`.
        roots: (B, H) outputs of the roots.
        transitions: (N,) int64 that were taken.
        choices: (N, 2) unnormalised scores of SHIFT and REDUCE before each transition, in node
            order; (N, 0) without a parser.
        free: (N,) 1 where both were possible, in node order.
    """

    stacked: Tensor
    places: Tensor
    roots: Tensor
    transitions: Tensor
    choices: Tensor
    free: Tensor
