"""The loss of terms and of the sentiment of every phrase."""

import torch

from thinstack.core.model.model import Model
from thinstack.training.examples.example import Minibatch
from thinstack.training.loop.losses import sent
from thinstack.training.loop.precision import joint_of
from thinstack.training.recipe import TrainingConfig
from thinstack.training.task import Losses


def aspect_losses(model: Model, batch: Minibatch, training: TrainingConfig) -> Losses:
    """The losses of the nodes and of a parser, each summed, and the numbers of cases in each sum.

    "No term", class 0, is learnt apart from the other classes among themselves. So a node that is
    no term may have a sentiment too. The soft labels (t, C) of the minibatch have in column 0 how
    probably a node is no term, and in the others how much each class of sentiment counts. A row of
    zeros says nothing.
    """
    joint = joint_of(model, model.inputs(batch.forest), training)
    assert batch.soft is not None, "a guide has made the examples"
    soft = sent(batch.soft, joint.logits)
    logs = joint.logits.log_softmax(1)
    no_term, term = logs[:, 0], logs[:, 1:].logsumexp(1)
    sentiment = logs[:, 1:] - term[:, None]
    said = soft.any(1)
    loss = -(soft[:, 0] * no_term + (1 - soft[:, 0]) * said * term).sum()
    loss = loss - (soft[:, 1:] * sentiment).sum()
    cases = len(batch.targets)
    if not batch.right.size:
        return (loss, loss.new_zeros([])), (cases, 0)
    parsing = model.encoder.judge(joint.choices, joint.free, torch.from_numpy(batch.right))
    return (loss, parsing.loss), (cases, parsing.cases)
