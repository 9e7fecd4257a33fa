"""Steps of training on a pretended device, beside the same steps on the CPU."""

import copy
from contextlib import nullcontext
from typing import NamedTuple

import numpy as np
import torch
from pretended_device import PretendedDevice, held

from thinstack.core import transitions as shapes
from thinstack.core.forest import join
from thinstack.export.samples import sample_trees
from thinstack.plugins.heads.similarity import Similarity
from thinstack.training import task
from thinstack.training.examples.example import Minibatch
from thinstack.training.loop.learner import Learner, process_settings
from thinstack.training.loop.losses import joint_losses
from thinstack.training.recipe import TrainingConfig

TREES = [shapes.left(4), shapes.left(1), shapes.balanced(6), shapes.left(2)]


class Step(NamedTuple):
    """A step of training.

    Attributes:
        counts: what was sent, fetched and waited for, by phase and name; only what there was.
        loss: of the task and of a parser.
        grads: dense, by the name of the weight.
        moved: how far the step moved each weight, by its name.
    """

    counts: dict[str, dict[str, int]]
    loss: list[float]
    grads: dict[str, torch.Tensor]
    moved: dict[str, torch.Tensor]


def batch_of(model, **changes):
    """A minibatch of a few trees with targets that suit the head; four trees, or four pairs."""
    forest = join(sample_trees(model, TREES, np.random.default_rng(0)))
    trees, reads = len(forest.sizes), model.head.reads
    rows = {"nodes": int(forest.sizes.sum()), "pairs": trees // 2}.get(reads, trees)
    targets = np.arange(rows) % model.head.classes
    if isinstance(model.head, Similarity):
        targets = targets.astype(np.float32) + 1
    if reads == "candidates":  # of two sentences, and one tree is left out
        targets = np.array([[0, 0], [0, 1], [1, 0], [-1, -1]])
    elif model.head.gives == "vectors":
        targets = np.eye(model.head.classes, dtype=np.float32)[targets]
    counts = forest.sizes if reads == "nodes" else np.full(rows, 1)
    batch = Minibatch(
        forest=forest,
        targets=targets,
        right=forest.transitions if model.parses else np.zeros(0, np.int64),
        trees=np.full(trees, 1),
        size=trees,
        counts=counts,
        whole=np.cumsum(counts) - 1,
        soft=None,
    )
    return batch._replace(**changes)


def step(model, batch, config, loss=joint_losses, device=None):
    """One step of a copy of the model in training mode, on the device if there is one."""
    place = copy.deepcopy if device is None else device.copy_of
    counts = {}

    def counted(phase):
        if device is not None and (found := device.counted()):
            counts[phase] = found

    model = place(model)
    with process_settings(), nullcontext() if device is None else device:
        learner = Learner(model, config)
        before = {name: _copy(held(value)) for name, value in model.named_parameters()}
        model.train()
        torch.manual_seed(0)
        counted("start")
        losses, _ = loss(task.Step(model, batch, config))
        counted("forward")
        learner.learn(losses[0] + losses[1])
        counted("backward")
        known = {name: held(w.grad) for name, w in model.named_parameters() if w.grad is not None}
        grads = {name: _copy(grad.to_dense()) for name, grad in known.items()}
        learner.step()
        counted("step")
        learner.update_average(0.5)
        counted("average")
        moved = {name: held(w).detach() - before[name] for name, w in model.named_parameters()}
    return Step(counts, [float(held(each).detach()) for each in losses], grads, moved)


def _copy(values):
    return values.detach().clone()


def both(model, batch, config=None, *, may_wait=False, atol=1e-5, **options):
    """The counts of a step on a pretended device, once loss and gradients are those of the CPU and
    the weights have moved."""
    config = config or TrainingConfig()
    device = PretendedDevice(may_wait=may_wait)
    here = step(model, batch, config, **options)
    there = step(model, batch, config, device=device, **options)
    np.testing.assert_allclose(there.loss, here.loss, rtol=0, atol=atol)
    assert there.grads.keys() == here.grads.keys()
    for name, grad in here.grads.items():
        torch.testing.assert_close(there.grads[name], grad, rtol=0, atol=atol)
    assert any(bool(way.any()) for way in there.moved.values())
    return there.counts
