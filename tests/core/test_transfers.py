"""Nothing waits for a GPU while a forest is composed: the host sends its schedule at once."""

from functools import partial

import numpy as np
import pytest
import torch
from core.configured import SPINN, build
from pretended_device import PretendedDevice, held

from thinstack.core import transitions as shapes
from thinstack.core.forest import join, without_trees
from thinstack.export.samples import sample_trees
from thinstack.plugins.encoders.spinn import StackEncoder

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
