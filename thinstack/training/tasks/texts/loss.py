"""The loss of texts, with a penalty for phrases that change their scores."""

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from thinstack.runtime.scored import word_shares
from thinstack.training.loop.losses import joint_of, sent
from thinstack.training.task import Losses, Step


def near_classes(targets: Tensor, classes: int, share: float) -> Tensor:
    """Return distributions (T, C) over `classes` ordered classes: each of the `targets` (T,) has 1
    - `share`, and its neighbors have the rest, in equal parts."""
    right = functional.one_hot(targets, classes).float()
    beside = functional.pad(right[:, 1:], (0, 1)) + functional.pad(right[:, :-1], (1, 0))
    return (1 - share) * right + share * beside / beside.sum(1, keepdim=True)


def text_losses(step: Step, *, neighbours: float = 0.0, penalty: float = 0.0) -> Losses:
    """Return the loss of the texts, and 0 for a parser, which is not trained on texts; and the
    numbers of cases.

    As in predictions, the probabilities of a text are the mean of its sentences' probabilities,
    weighted by words. If the model has `class_sets`, they are summed to those of the S labels and
    normalized, so that classes in no set are not trained. With `neighbours`, the target of a text
    is the distribution of `near_classes`.

    With a `penalty`, each text adds that many times the mean divergence KL(initial || model) over
    the phrases inside the sentences of the minibatch, or over the sentences if the model scores
    only these. Whole sentences are free to change, because the labels of the texts may be more or
    less frequent than in the data of `step.initial`.
    """
    model, batch, training, initial, _ = step
    inputs = model.inputs(batch.forest)
    logits = joint_of(model, inputs, training, track=False).logits
    roots, inner = logits, np.arange(len(logits))
    if model.head.reads == "nodes":
        ends = np.cumsum(batch.forest.sizes) - 1
        roots, inner = logits.index_select(0, sent(ends, logits)), np.delete(inner, ends)
    text, shares = (
        sent(values, logits) for values in word_shares(batch.forest.lengths, batch.trees)
    )
    weighted = functional.softmax(roots, 1) * shares.to(roots.dtype).unsqueeze(1)
    means = roots.new_zeros([batch.size, roots.shape[1]]).index_add(0, text, weighted)
    if model.class_sets is not None:
        means = means @ model.class_sets.T.to(means, non_blocking=True)
        means = means / means.sum(1, keepdim=True).clamp_min(torch.finfo(means.dtype).tiny)
    targets = sent(batch.targets, logits)
    logs = means.clamp_min(torch.finfo(means.dtype).tiny).log()
    if neighbours > 0:
        loss = -(near_classes(targets, logs.shape[1], neighbours) * logs).sum()
    else:
        loss = model.head.loss(logs, targets)
    if initial is not None and penalty > 0:
        with torch.no_grad():
            before = joint_of(initial, inputs, training, track=False).logits
        rows = sent(inner, logits)
        now, then = (
            functional.log_softmax(values, 1).index_select(0, rows) for values in (logits, before)
        )
        divergence = functional.kl_div(now, then, reduction="sum", log_target=True)
        loss = loss + penalty * batch.size * divergence / max(1, len(inner))
    return (loss, loss.new_zeros([])), (batch.size, 0)
