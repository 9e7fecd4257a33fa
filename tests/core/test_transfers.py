"""Nothing waits for a GPU while a forest is composed: its schedule is made on the host, and sent at
once."""

from functools import partial
from operator import attrgetter
from pathlib import Path

import numpy as np
import pytest
import torch
from core.configured import SPINN, build
from pretended_device import PretendedDevice, held

from thinstack.core import transitions as shapes
from thinstack.core.forest import join, without_trees
from thinstack.export.samples import sample_trees
from thinstack.plugins.encoders.spinn.stack_encoder import StackEncoder

TRACKER = {"size": 5, "parses": True}
MODELS = {
    "by depth": build,
    "distances": partial(build, parser={"name": "distances.v1"}),
    "tracker that feeds": partial(build, SPINN, encoder={"tracker": TRACKER}),
    "tracker beside": partial(build, encoder={"tracker": TRACKER | {"feeds": False}}),
}


def forest_of(model):
    trees = [shapes.left(4), shapes.left(1), shapes.balanced(6)]
    return join(sample_trees(model, trees, np.random.default_rng(0)))


def equal(found, expected):
    for name, wanted in expected.items():
        torch.testing.assert_close(held(found[name]), wanted, rtol=0, atol=1e-6)


def plans(model):
    """How many transfers the trees are."""
    encoder = model.encoder
    by_step = isinstance(encoder, StackEncoder) and encoder.feeds
    return (3 if by_step else 1) + (model.head.reads == "candidates")


def test_every_registered_model(monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "lab" / "benchmarks")
    from export_subjects import exportables

    tried = 0
    for one in exportables("", None, False):
        tried += 1
        forest, device = forest_of(one.model), PretendedDevice()
        with torch.no_grad():
            expected, there = one.model(one.model.inputs(forest)), device.copy_of(one.model)
            with device:
                equal(there(there.inputs(forest)), expected)
        sent = len(one.model.embedding.index_names) + plans(one.model)
        assert (device.sent, device.fetched) == (sent, 0), one.name
    assert tried > 40


@pytest.mark.parametrize("name", MODELS)
def test_training(name):
    """Forward and back; the table, whose gradient is sparse, apart."""
    model = MODELS[name]().eval()
    model.embedding.table.requires_grad_(False)
    device, forest = PretendedDevice(), forest_of(model)
    there = device.copy_of(model)

    def back(model):
        joint = model.joint(model.inputs(forest))
        (joint.logits.square().sum() + joint.choices.square().sum()).backward()

    back(model)
    weights = {key: value for key, value in model.named_parameters() if value.requires_grad}
    found = {key: attrgetter(key)(there) for key in weights}
    for weight in found.values():
        weight.requires_grad_()
    with device:
        back(there)
    assert device.fetched == 0
    for key, weight in weights.items():
        if weight.grad is not None:
            torch.testing.assert_close(held(found[key].grad), weight.grad, rtol=0, atol=1e-5)
    assert sum(weight.grad is not None for weight in weights.values()) > 4


@pytest.mark.parametrize("name", [name for name in MODELS if name != "by depth"])
def test_a_parser_is_judged(name):
    """By the right transitions, which lie on the host; how many were right stays there until the
    host asks."""
    model = MODELS[name]().eval()
    device, forest = PretendedDevice(), forest_of(model)
    wanted = torch.from_numpy(forest.transitions)

    def judge(model):
        joint = model.joint(model.inputs(forest))
        return model.encoder.judge(joint.choices, joint.free, wanted)

    with torch.no_grad():
        expected, there = judge(model), device.copy_of(model)
        with device:
            found = judge(there)
    assert (held(found.right), found.cases) == (expected.right, expected.cases)
    torch.testing.assert_close(held(found.loss), expected.loss)


@pytest.mark.parametrize("name", [name for name in MODELS if name != "by depth"])
def test_own_parse(name):
    """All distances come to the host at once; a tracker chooses step by step, and has the host wait
    at each."""
    model = MODELS[name]().eval()
    device, forest = PretendedDevice(may_wait=name != "distances"), without_trees(forest_of(model))
    with torch.no_grad():
        expected, there = model(model.inputs(forest)), device.copy_of(model)
        with device:
            equal(there(there.inputs(forest)), expected)
    assert (device.fetched, device.waits) == ((1, 0) if name == "distances" else (1, 11))


@pytest.mark.parametrize("name", MODELS)
def test_inputs_that_lie_on_the_device(name):
    model = MODELS[name]().eval()
    given = forest_of(model)
    for forest in (given, without_trees(given)) if model.parses else (given,):
        device = PretendedDevice(may_wait=True)
        with torch.no_grad():
            expected, there = model(model.inputs(forest)), device.copy_of(model)
            with device:
                inputs = {
                    key: value.to("meta", non_blocking=True)
                    for key, value in there.inputs(forest).items()
                }
                device.sent = 0
                equal(there(inputs), expected)
        assert (device.sent, device.fetched) == (0, 0)
