"""The contract of a task head, which maps the node outputs of an encoder to scores."""

from typing import ClassVar, Literal

from torch import Tensor, nn

Reads = Literal["nodes", "roots", "pairs", "candidates"]
"""The rows that a task head reads:

- `nodes`: the output (H,) of every node; a label for each node.
- `roots`: the output (H,) of a tree's root; a label for each tree.
- `pairs`: the root outputs of trees 2k and 2k + 1 side by side (2H,), or, if the model has vectors,
  their vectors (2D,) times sqrt(D), so that a typical number is about 1; a label for each pair.
- `candidates`: for each inner node of a binary tree the outputs of its left and right child and,
  where the cell has one, the node's head-word vector, side by side (2H + word_size,); every tree is
  one candidate for its sentence.
"""


class TaskHead(nn.Module):
    """A module that maps rows of node outputs to scores (n, C) and a loss. In evaluation mode, rows
    are independent. A head may return vectors (n, C) of unit norm instead of scores.

    Args:
        hidden_size: width H of a node's output.
        classes: number C of classes.
        reads: what a row represents.

    Attributes:
        name: a versioned name, such as `my_head.v1`, by which saved models find the head.
        summary: a description of the head in one line.
        soft_labels: whether its `loss` also takes soft labels.
        gives: what `scores` returns: scores of C classes, or vectors of C columns.
        rates: whether a head of pairs predicts ratings. Its classes are then the C whole numbers of
            a scale, and a rating is their mean, weighted by `scores`.
    """

    plugin_kind: ClassVar[str] = "head"
    name: ClassVar[str]
    summary: ClassVar[str] = ""
    soft_labels: ClassVar[bool] = False
    gives: ClassVar[Literal["scores", "vectors"]] = "scores"
    rates: ClassVar[bool] = False

    def __init__(self, *, hidden_size: int, classes: int, reads: Reads = "nodes"):
        super().__init__()
        self.hidden_size = int(hidden_size)
        self.classes = int(classes)
        self.reads: str = reads

    def forward(self, rows: Tensor) -> Tensor:
        """Return unnormalized scores.

        Shapes:
            rows: (n, width), see `Reads`.
            returned: (n, C).
        """
        raise NotImplementedError("a TaskHead must define forward")

    def scores(self, rows: Tensor) -> Tensor:
        """Return the scores that a user sees, such as probabilities, in the shapes of `forward`."""
        raise NotImplementedError("a TaskHead must define scores")

    def loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        """Return the summed loss of unnormalized scores, given labels, where -1 means no label.

        A head that `rates` takes ratings, float (n,) from 1 to C. A head of vectors takes vectors
        (n, C), where a row of -1 means no vector. With `soft_labels`, labels may also be weights of
        the classes in each row, zeros for no label, by which the losses of the classes are summed.

        Shapes:
            logits: (n, C); for a head that reads candidates the scores of trees, (B,).
            labels: int64 (n,), or float (n, C) as weights.
            returned: ().
        """
        raise NotImplementedError("a TaskHead must define loss")

    def scale_logits(self, factor: float) -> bool:
        """Scale the weights so that `forward` returns `factor` (above 0) times as much, and return
        whether this was done. This optional method builds the temperature into the weights of a
        head whose `scores` are the softmax of `forward`; without it, scores are not calibrated."""
        return False
