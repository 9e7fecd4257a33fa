"""The loss of terms and of the sentiment of every phrase."""

import torch
from torch import Tensor

from thinstack.core.model.model import Model
from thinstack.training.examples.example import Minibatch
from thinstack.training.loop.precision import joint_of
from thinstack.training.recipe import TrainingConfig
from thinstack.training.task import Losses


def aspect_losses(model: Model, batch: Minibatch, training: TrainingConfig) -> Losses:
    """The losses of the nodes and of a parser, each summed, and the numbers of cases in each sum.

    Class 0 says that a node is no term, and its probability is learnt apart from that of the other
    classes among themselves. So a node that is no term may have a sentiment too. The soft labels
    (t, C) of the minibatch say how much each part counts: column 0 for "no term", the others for
    the sentiment. Where the target is a class above 0, the node is a term.
    """
    joint = joint_of(model, model.inputs(batch.forest), training)
    device = joint.logits.device
    assert batch.soft is not None
    counts = torch.from_numpy(batch.soft).to(device)
    is_term = torch.from_numpy(batch.targets > 0).to(device)
    logs = joint.logits.log_softmax(1)
    some = logs[:, 1:].logsumexp(1)  # that it is a term
    loss = -(counts[:, 0] * logs[:, 0]).sum() - some[is_term].sum()
    loss = loss - (counts[:, 1:] * (logs[:, 1:] - some[:, None])).sum()
    cases = len(batch.targets)
    if not batch.right.size:
        return (loss, loss.new_zeros([])), (cases, 0)
    parsing = model.encoder.judge(joint.choices, joint.free, torch.from_numpy(batch.right))
    return (loss, parsing.loss), (cases, parsing.cases)
