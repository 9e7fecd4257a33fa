"""The loss of texts, whose class is a mean over their sentences."""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional

from thinstack.config import TrainingConfig
from thinstack.models.model import Model
from thinstack.runtime.documents import word_shares
from thinstack.training.examples import Example, Minibatch
from thinstack.training.precision import joint_of

__all__ = ["near_classes", "phrases_of", "text_losses"]


def near_classes(targets: Tensor, classes: int, share: float) -> Tensor:
    """Distributions (T, C) over classes in an order that have the `share` on the neighbours of the
    targets (T,), halves of it where there are two, and the rest on the targets."""
    own = functional.one_hot(targets, classes).float()
    beside = functional.pad(own[:, 1:], (0, 1)) + functional.pad(own[:, :-1], (1, 0))
    return (1 - share) * own + share * beside / beside.sum(1, keepdim=True)


def phrases_of(model: Model, texts: Sequence[Example]) -> int:
    """How many phrases of these texts the model scores: all, or whole sentences."""
    forests = [text.gold.forest for text in texts]
    if model.head.reads == "nodes":
        return sum(int(forest.sizes.sum()) for forest in forests)
    return sum(len(forest.sizes) for forest in forests)


def text_losses(
    model: Model,
    batch: Minibatch,
    config: TrainingConfig,
    initial: Model | None,
    whole: tuple[int, int] | None = None,
) -> tuple[tuple[Tensor, Tensor], tuple[int, int]]:
    """The loss of texts, and over how many of them it is a sum; no parser learns from texts.

    The probabilities of a text's classes are the mean of its sentences', weighted by their words,
    as predictions have them; with `neighbours`, the target is `near_classes`. `initial`: the model
    that learning started from. Where a `phrase_penalty` is asked for, each text adds the mean over
    its minibatch's phrases of the divergence KL(initial || model), so many times. `whole`: how many
    texts and `phrases_of` them the minibatch has, where `batch` is a part of it.
    """
    inputs = model.inputs(batch.forest)
    logits = joint_of(model, inputs, config, track=False).logits
    roots = logits
    if model.head.reads == "nodes":
        ends = torch.from_numpy(batch.forest.sizes).cumsum(0) - 1
        roots = logits.index_select(0, ends.to(logits.device))
    text, shares = (
        torch.from_numpy(each).to(logits.device)
        for each in word_shares(batch.forest.lengths, batch.trees)
    )
    weighted = functional.softmax(roots, 1) * shares.to(roots.dtype).unsqueeze(1)
    means = roots.new_zeros([batch.size, roots.shape[1]]).index_add(0, text, weighted)
    targets = torch.from_numpy(batch.targets).to(logits.device)
    logs = means.clamp_min(torch.finfo(means.dtype).tiny).log()
    if config.neighbours > 0:
        loss = -(near_classes(targets, logs.shape[1], config.neighbours) * logs).sum()
    else:
        loss = model.head.loss(logs, targets)
    if initial is not None and config.phrase_penalty > 0:
        with torch.no_grad():
            wanted = functional.log_softmax(
                joint_of(initial, inputs, config, track=False).logits, 1
            )
        found = functional.log_softmax(logits, 1)
        divergence = functional.kl_div(found, wanted, reduction="sum", log_target=True)
        texts, phrases = whole or (batch.size, len(logits))
        loss = loss + config.phrase_penalty * texts * divergence / phrases
    return (loss, loss.new_zeros([])), (batch.size, 0)
