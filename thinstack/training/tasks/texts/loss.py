"""The loss of texts: of the mean of their sentences, and of phrases that keep their meaning."""

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from thinstack.runtime.scored import word_shares
from thinstack.training.loop.losses import joint_of, sent
from thinstack.training.task import Losses, Step


def near_classes(targets: Tensor, classes: int, share: float) -> Tensor:
    """Distributions (T, C) over `classes` ordered classes, for the `targets` (T,). The neighbours
    of a target have the `share`, half of it each if there are two. The target has the rest."""
    right = functional.one_hot(targets, classes).float()
    beside = functional.pad(right[:, 1:], (0, 1)) + functional.pad(right[:, :-1], (1, 0))
    return (1 - share) * right + share * beside / beside.sum(1, keepdim=True)


def text_losses(step: Step, *, neighbours: float = 0.0, penalty: float = 0.0) -> Losses:
    """The losses of the texts and of a parser, each summed, and the numbers of cases in each sum.
    The loss of a parser is 0 over 0 cases, because no parser learns from texts.

    The probabilities of a text are the mean of its sentences' probabilities, weighted by words, as
    in predictions. Where the model has `class_sets`, they are summed to those of the S labels; the
    loss compares these with one another, so that a class in no set is left as it is. With
    `neighbours`, the target of a text is the distribution of `near_classes`.

    With a `penalty`, each text adds that many times the mean of the divergence KL(initial || model)
    over the phrases of the minibatch: all inside sentences, or the sentences if the model scores
    only these. `initial` is `step.initial`. Sentences are left free, because
    labels of texts may be rare or common as they were not in what the start learnt from.
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
            wanted = functional.log_softmax(
                joint_of(initial, inputs, training, track=False).logits, 1
            )
        rows = sent(inner, logits)
        moved, still = (
            values.index_select(0, rows) for values in (functional.log_softmax(logits, 1), wanted)
        )
        divergence = functional.kl_div(moved, still, reduction="sum", log_target=True)
        loss = loss + penalty * batch.size * divergence / max(1, len(inner))
    return (loss, loss.new_zeros([])), (batch.size, 0)
