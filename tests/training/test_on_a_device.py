"""Training on a pretended GPU: what a step sends there, fetches and waits for, forwards, backwards
and in the optimiser; and that it learns what the CPU does."""

import copy
from contextlib import nullcontext
from functools import partial

import numpy as np
import pytest
import tiny_recipe
import torch
from core.configured import build
from core.test_transfers import plans
from pretended_device import PretendedDevice, held
from registered_models import registered_models
from steps_there import batch_of, both
from torch import nn

from thinstack.training.examples.datasets import load_datasets
from thinstack.training.loop.losses import aspect_losses, joint_losses, text_losses
from thinstack.training.loop.seeds import train_seed
from thinstack.training.tasks.vectors import VectorsOfPhrases
from thinstack.training.tasks.vectors.learning import mean_losses, vector_losses

PIECES, DISTANCES = {"kind": "wordpieces", "size": 3}, {"name": "distances.v1"}
ROOTS = {"name": "root_classifier.v1"}


def made(*settings, **fields):
    torch.manual_seed(0)
    return build(*settings, entries=60, **fields)


def test_every_registered_model():
    """What it reads, its trees and the targets go there; nothing comes back, and nothing waits. A
    transformer's tokens are found on the host, which knows how many there are."""
    for name, model, config in registered_models():
        sent = len(model.embedding.index_names) + plans(model) + 1
        sent -= model.embedding.lookup == "context"
        if config.parser is not None:  # its gaps and their right answers
            sent += 2
        elif model.parses:  # a tracker beside the trees has plans of its own
            sent += 1 if model.encoder.feeds else 4
        assert both(model, batch_of(model)) == {"forward": {"sent": sent}}, name


def soft_labels(model):
    draw, rows = np.random.default_rng(1), len(batch_of(model).targets)
    labels = draw.dirichlet(np.ones(3), rows).astype(np.float32)
    labels[1] = 0
    return labels


def soft(model):
    """A teacher's labels; weights of roots; groups; and a root that has one of two classes."""
    return batch_of(
        model, soft=soft_labels(model), groups=np.array([0, 0, -1, 1]), sets=np.array([3])
    )


def of_texts(model):
    """Two texts of two sentences each."""
    return batch_of(model, targets=np.array([0, 1]), trees=np.array([2, 2]), size=2)


def texts(step):
    """With neighbours, sets of classes, and phrases held to the start."""
    model, initial = step.model, copy.deepcopy(step.model).eval()
    with torch.no_grad():
        initial.head.linear.weight.mul_(2)
    model.class_sets = torch.eye(3)[:2]
    options = {"neighbours": 0.2, "penalty": 1.0}
    return text_losses(step._replace(initial=initial), **options)


BESIDE = {"name": "mean_beside.v1", "options": {"reads": "state"}}
VECTORS = {"vectors": {"name": "vector.v1", "options": {"size": 4}}, "parser": DISTANCES}


def phrases(model):
    """Phrases whose vectors are learnt: each third node has the next of the teacher's."""
    batch = batch_of(model, soft=soft_labels(model))
    numbers = np.arange(len(batch.targets))
    return batch._replace(targets=np.where(numbers % 3, -1, numbers // 3))


def vectors(step, losses):
    count = int((step.batch.targets >= 0).sum())
    teacher = torch.nn.functional.normalize(torch.arange(4.0 * count).cos().reshape(count, 4))
    return losses(step, teacher, VectorsOfPhrases(encoder="", short=2))


LOSSES = {
    "vectors": (VECTORS, (BESIDE,), phrases, partial(vectors, losses=vector_losses), 7),
    "means": (VECTORS, (BESIDE,), phrases, partial(vectors, losses=mean_losses), 3),
    "treebank": ({}, (), soft, partial(joint_losses, root_weight=0.2, group_weight=0.5), 7),
    "texts, phrases": ({}, (), of_texts, texts, 10),
    "texts, roots": ({}, (None, ROOTS), of_texts, texts, 9),
    "aspects": (
        {"parser": DISTANCES},
        (),
        lambda model: batch_of(model, soft=soft_labels(model)),
        aspect_losses,
        5,
    ),
}


@pytest.mark.parametrize("name", LOSSES)
def test_losses_of_tasks(name):
    fields, settings, batch, loss, sent = LOSSES[name]
    model = made(*settings, **fields)
    assert both(model, batch(model), loss=loss) == {"forward": {"sent": sent}}


def watched(monkeypatch):
    """A pretended device on which every module is that is moved anywhere."""
    device = PretendedDevice(may_wait=True)
    monkeypatch.setattr(nn.Module, "to", lambda module, *where, **how: device.copy_of(module))
    return device


RUNS = {
    "trees": ({}, {"sent": 3}),
    "own trees": ({"model": {"parser": DISTANCES}, "sources": ("self",)}, {"sent": 5}),
    "AdaGrad of rows": ({"vector_rule": "adagrad"}, {"sent": 3, "waits: _coalesce": 1}),
    "adamw": ({"rule": "adamw", "clip": 1.0}, {"sent": 3}),
}


def run(recipe, datasets, folder, device, look):
    """The weights to keep, and the losses of all epochs."""
    with nullcontext() if device is None else device:
        calls = {"on_batch": look, "on_epoch": look}
        best, history = train_seed(recipe, datasets, 1, folder, **calls)
    weights = {key: held(value) for key, value in best.state_dict(keep_vars=True).items()}
    return weights, [record["loss"] for record in history]


@pytest.mark.parametrize("name", RUNS)
def test_a_run(name, tmp_path, monkeypatch):
    """Steps follow one another without a look at the device. At the end of an epoch the host takes
    the losses, whether all weights are finite, and the checkpoint."""
    settings, step_counts = RUNS[name]
    recipe = tiny_recipe.recipe(epochs=2, **settings)
    datasets = load_datasets(recipe, tiny_recipe.write_data(tmp_path, train=10, dev=4))
    here = run(recipe, datasets, tmp_path / "here", None, lambda *_: None)
    device, counts = watched(monkeypatch), []

    def note(*done):
        counts.append((done[0] if len(done) == 3 else 0, device.counted()))

    there = run(recipe, datasets, tmp_path / "there", device, note)
    assert there[1] == pytest.approx(here[1], rel=1e-6)
    for key, value in here[0].items():
        torch.testing.assert_close(there[0][key], value.detach(), rtol=0, atol=1e-5)
    steps = [found for epoch, found in counts if epoch][1:]
    expected = [step_counts] * 5
    if name == "own trees":  # all examples are parsed before the second epoch
        expected[2] = {"sent": 2 + step_counts["sent"], "fetched": 1}
    assert steps == expected
    # A look at the losses, one at the weights, three models of six weights, AdaGrad's five sums.
    if name == "trees":
        found = [found for epoch, found in counts if not epoch]
        assert found == [{"fetched": 2 + 3 * 6 + 5}] * 2
