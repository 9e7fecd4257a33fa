"""The contract suite notices each setting of torch that a plugin changes, and sets it back."""

import pytest
import torch

from thinstack.testing.judge import SETTINGS, public
from thinstack.testing.subject import CellSubject

CHANGED = {
    "the default type": torch.float64,
    "the default device": torch.device("meta"),
    "gradients": False,
    "the number of threads": 3,
    "deterministic algorithms": 2,
    "the precision of products": "medium",
    "detection of anomalies": True,
}


@pytest.mark.parametrize("name", CHANGED)
def test_a_changed_setting_is_told_and_set_back(name):
    setting = SETTINGS[name]
    before = setting.get()

    def check(subject):
        setting.put(CHANGED[name])

    assert SETTINGS.keys() == CHANGED.keys()
    assert before != CHANGED[name]
    with pytest.raises(AssertionError, match=f"for everybody: {name} was"):
        public(CellSubject, check)("rvnn.v1")
    assert setting.get() == before
    assert torch.zeros(1).device.type == "cpu"
