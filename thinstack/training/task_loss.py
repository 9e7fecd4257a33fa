"""The loss of phrases, sentences and pairs."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from thinstack.core.head import TaskHead
from thinstack.training.examples import Minibatch

__all__ = ["soft_labels", "task_loss"]


def task_loss(
    head: TaskHead, logits: Tensor, batch: Minibatch, root_weight: float
) -> tuple[Tensor, int]:
    """The loss of a minibatch, for the logits (t, C) of its targets, and over how many labelled
    ones it is a sum. A `root_weight` above 0, and labels of a teacher, need a head that takes
    `soft_labels`."""
    if batch.soft is None and root_weight == 0:
        labelled = int((batch.targets >= 0).sum())
        return head.loss(logits, torch.from_numpy(batch.targets).to(logits.device)), labelled
    labels = soft_labels(batch, head.classes, root_weight)
    loss = head.loss(logits, torch.from_numpy(labels).to(logits.device))
    return loss, int(labels.any(1).sum())


def soft_labels(batch: Minibatch, classes: int, root_weight: float) -> NDArray[np.float32]:
    """How often each class counts in the loss of each target, (t, C): the labels of a teacher, or 1
    for a target's own class. A whole example counts `root_weight` times the number of its labelled
    targets more."""
    if batch.soft is None:
        labels: NDArray[np.float32] = np.eye(classes, dtype=np.float32)[batch.targets]
        labels[batch.targets < 0] = 0
    else:
        labels = batch.soft.copy()
    starts = np.cumsum(batch.counts) - batch.counts
    labelled = np.add.reduceat(labels.any(1), starts, dtype=np.float32)
    labels[batch.whole] *= 1 + np.float32(root_weight) * labelled[:, np.newaxis]
    return labels
