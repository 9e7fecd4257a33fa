"""The contract of a task head: what reads the node outputs of an encoder."""

from torch import Tensor, nn

__all__ = ["TaskHead"]


class TaskHead(nn.Module):
    """Reads node outputs (n, H) row by row, gives scores (n, C) and a loss.

    Args:
        hidden_size: width H of a node's output.
        classes: number C of classes.
    """

    def __init__(self, *, hidden_size: int, classes: int):
        super().__init__()
        self.hidden_size = int(hidden_size)
        self.classes = int(classes)

    def forward(self, outputs: Tensor) -> Tensor:
        """Unnormalised scores (n, C) of node outputs (n, H)."""
        raise NotImplementedError("a TaskHead must define forward")

    def scores(self, outputs: Tensor) -> Tensor:
        """Scores (n, C) that a user sees, such as probabilities, of node outputs (n, H)."""
        raise NotImplementedError("a TaskHead must define scores")

    def loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        """Sum of the losses of unnormalised scores (n, C) against labels int64 (n,), -1 where a node has none."""
        raise NotImplementedError("a TaskHead must define loss")
