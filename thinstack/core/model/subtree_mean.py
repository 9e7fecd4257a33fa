"""The mean over the leaves below each node, as a cell. Executors and exporters treat it as any
other cell."""

from torch import Tensor

from thinstack.core.cell import Cell, Links, sum_by_owner


class SubtreeMean(Cell):
    """The mean (n, X) of the leaf inputs below each node.

    The state is the sum (n, X) of these inputs and their number (n, 1).

    Args:
        input_size: width X of a leaf's input.
        inner_size: 0 or X. With X, every node has an input, which counts too.
    """

    inner_like_leaf = True

    def __init__(self, *, input_size: int, inner_size: int = 0):
        super().__init__(
            input_size=input_size,
            inner_size=inner_size,
            hidden_size=input_size,
            state_sizes=[input_size, 1],
            arity=0,
        )

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
