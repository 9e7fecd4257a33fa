"""The loss of a task head over its targets, and beside it that of a parser."""

from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from thinstack.core.head import TaskHead
from thinstack.core.model.model import Joint, Model
from thinstack.training.examples.example import Minibatch
from thinstack.training.loop.precision import joint_of
from thinstack.training.task import Losses, Step

TINY: Final = 1e-30
"""The least mean probability of a class, so that it has a logarithm."""


def joint_losses(step: Step, root_weight: float = 0.0, group_weight: float = 0.0) -> Losses:
    """The losses of the head and of the transitions, (7) of Bowman et al. 2016, and over how many
    cases each is a sum. Without right transitions no parser learns. `root_weight`: as in
    `soft_labels`. `group_weight`: how much `group_loss` adds to the loss of the head."""
    model, batch = step.model, step.batch
    joint = joint_of(model, model.inputs(batch.forest), step.training)
    loss, labelled = task_loss(model.head, joint.logits, batch, root_weight)
    if group_weight > 0:
        loss = loss + group_weight * group_loss(joint.logits, batch)
    return beside_parsing(model, batch, joint, (loss, labelled))


def beside_parsing(
    model: Model, batch: Minibatch, joint: Joint, task: tuple[Tensor, int]
) -> Losses:
    """The loss of a task over so many cases, and beside it that of the transitions."""
    loss, cases = task
    if not batch.right.size:
        return (loss, loss.new_zeros([])), (cases, 0)
    parsing = model.encoder.judge(joint.choices, joint.free, torch.from_numpy(batch.right))
    return (loss, parsing.loss), (cases, parsing.cases)


def task_loss(
    head: TaskHead, logits: Tensor, batch: Minibatch, root_weight: float
) -> tuple[Tensor, int]:
    """The loss of a minibatch, summed over its labelled targets, and the number of these targets.

    `logits`: (t, C), a row for each target. `root_weight`: as in `soft_labels`. A `root_weight`
    above 0, and labels of a teacher, need a head that takes `soft_labels`.
    """
    if batch.soft is None and root_weight == 0:
        labelled = int((batch.targets >= 0).sum())
        return head.loss(logits, sent(batch.targets, logits)), labelled
    soft = soft_labels(batch, head.classes, root_weight)
    labels, labelled = sent(soft, logits), int(soft.any(1).sum())
    if batch.sets.size:
        rows = sent(batch.sets, logits)
        labels[rows] = shares_in_sets(labels[rows], logits[rows])
    return head.loss(logits, labels), labelled


def sent(values: NDArray[Any], like: Tensor) -> Tensor:
    """Values of the host on the device of `like`, without a wait of the host."""
    return torch.from_numpy(values).to(like.device, non_blocking=True)


def shares_in_sets(labels: Tensor, logits: Tensor) -> Tensor:
    """Soft labels (k, C) of targets that have one of the classes with a count above 0 in `labels`
    (k, C). The sum of each row is shared out as the model does, by its `logits` (k, C).

    With these shares held fixed, the gradient of the cross-entropy is that of -log p(set), where
    p(set) is the sum of the probabilities of its classes.
    """
    within = logits.detach().float().masked_fill(labels == 0, -torch.inf)
    return labels.sum(1, keepdim=True) * torch.softmax(within, 1)


def group_loss(logits: Tensor, batch: Minibatch) -> Tensor:
    """How much the examples of a group differ: the sum of KL(p || m) over all examples.

    Here p are the probabilities of the classes of an example, and m is their mean over its group.
    `logits`: (t, C), a row for each target. Examples without a group add nothing, nor does one that
    stands alone in the minibatch.
    """
    chosen = np.flatnonzero(batch.groups >= 0)
    _, places, counts = np.unique(batch.groups[chosen], return_inverse=True, return_counts=True)
    rows = sent(batch.whole[chosen], logits)
    logs = logits[rows].float().log_softmax(1)
    group = sent(places.reshape(-1), logits)
    sums = logs.new_zeros(len(counts), logs.shape[1]).index_add(0, group, logs.exp())
    means = sums / sent(counts, logs).to(logs.dtype)[:, None]
    return (logs.exp() * (logs - means.clamp_min(TINY).log()[group])).sum()


def soft_labels(batch: Minibatch, classes: int, root_weight: float) -> NDArray[np.float32]:
    """How often each class counts in the loss of each target, (t, C): as a teacher says, or once
    for the target's own class.

    The target of a whole example is multiplied by 1 + `root_weight` n, where n is the number of the
    example's labelled targets.
    """
    if batch.soft is None:
        labels: NDArray[np.float32] = np.eye(classes, dtype=np.float32)[batch.targets]
        labels[batch.targets < 0] = 0
    else:
        labels = batch.soft.copy()
    starts = np.cumsum(batch.counts) - batch.counts
    labelled = np.add.reduceat(labels.any(1), starts, dtype=np.float32)
    labels[batch.whole] *= 1 + np.float32(root_weight) * labelled[:, np.newaxis]
    return labels
