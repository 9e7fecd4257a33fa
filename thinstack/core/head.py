"""The contract of a task head: what reads the node outputs of an encoder."""

from typing import ClassVar, Literal

from torch import Tensor, nn

__all__ = ["Reads", "TaskHead"]

Reads = Literal["nodes", "roots", "pairs", "candidates"]
"""What the rows of a task head are:

- `nodes`: the output (H,) of every node; a label for each node.
- `roots`: the output (H,) of a tree's root; a label for each tree.
- `pairs`: the root outputs of trees 2k and 2k + 1 side by side (2H,); a label for each pair.
- `candidates`: for each inner node of a binary tree the outputs of its left and right child and,
  where the cell has one, the node's head-word vector, side by side (2H + word_size,); every tree is
  one candidate for its sentence.
"""


class TaskHead(nn.Module):
    """Reads rows that come from node outputs, gives scores (n, C) and a loss. Rows are independent
    in evaluation mode.

    Args:
        hidden_size: width H of a node's output.
        classes: number C of classes.
        reads: what its rows are.

    Attributes:
        name: versioned, such as `my_head.v1`; saved models ask for a registered head by it.
        summary: one line on the head.
        soft_labels: whether its `loss` takes soft labels too.
    """

    plugin_kind: ClassVar[str] = "head"
    name: ClassVar[str]
    summary: ClassVar[str] = ""
    soft_labels: ClassVar[bool] = False

    def __init__(self, *, hidden_size: int, classes: int, reads: Reads = "nodes"):
        super().__init__()
        self.hidden_size = int(hidden_size)
        self.classes = int(classes)
        self.reads: str = reads

    def forward(self, rows: Tensor) -> Tensor:
        """Unnormalised scores (n, C) of rows (n, width)."""
        raise NotImplementedError("a TaskHead must define forward")

    def scores(self, rows: Tensor) -> Tensor:
        """Scores (n, C) that a user sees, such as probabilities, of rows (n, width)."""
        raise NotImplementedError("a TaskHead must define scores")

    def loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        """Sum of the losses of unnormalised scores (n, C) against labels int64 (n,), -1 where there
        is none.

        A head may document labels of its own, such as ratings; one that reads candidates takes
        scores of trees (B,). Of a head with `soft_labels`, labels float (n, C) are how often each
        class counts in each row: the loss is then the sum over rows and classes of the loss of the
        class times its entry, in which a row of zeros is one without a label.
        """
        raise NotImplementedError("a TaskHead must define loss")

    def scale_logits(self, factor: float) -> bool:
        """Change the weights so that `forward` gives `factor` (above 0) times as much, and say that
        this was done.

        Optional, for heads whose `scores` are the softmax of `forward`: a published model's
        temperature goes into its weights this way. A head that leaves it out keeps its scores.
        """
        return False
