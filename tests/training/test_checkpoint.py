"""Checkpoints: round trip, damage, and no pickle."""

import pickle

import pytest
import torch
from bundle_folders import replaced
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from tiny_texts import start
from torch import nn

from thinstack.bundle import open_bundle
from thinstack.errors import BundleError, DataError
from thinstack.integrations.spacy_training.text_learner import TextLearner
from thinstack.training.loop.learner import load_checkpoint, save_checkpoint

HISTORY = [{"seed": 1, "epoch": 1, "loss": 0.1 + 0.2, "label": "né"}]


def parts(width=3, *, seed=0):
    torch.manual_seed(seed)
    model = nn.Linear(2, width)
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.1)
    model(torch.randn(4, 2)).sum().backward()
    optimizer.step()
    return {"model": model, "best": nn.Linear(2, width)}, {"model": optimizer}


def state_of(modules, optimizers):
    found = [
        (f"{name}.{key}", value.tolist())
        for name, part in modules.items()
        for key, value in part.state_dict().items()
    ]
    for name, optimizer in optimizers.items():
        for index, state in optimizer.state_dict()["state"].items():
            found += [(f"{name}.{index}.{key}", value.tolist()) for key, value in state.items()]
    return found


def test_a_checkpoint_gives_back_all_that_was_saved(tmp_path):
    path = tmp_path / "new" / "checkpoint.safetensors"
    saved, other = parts(seed=1), parts(seed=2)
    save_checkpoint(path, *saved, HISTORY)
    assert state_of(*saved) != state_of(*other)
    assert load_checkpoint(path, *other, 1) == HISTORY
    assert state_of(*saved) == state_of(*other)
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_weights_that_share_memory_are_saved_once(tmp_path):
    path = tmp_path / "checkpoint.safetensors"
    tied, fresh = (nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2)) for _ in range(2))
    for module in (tied, fresh):
        module[1].weight = module[0].weight
    save_checkpoint(path, {"model": tied}, {}, HISTORY)
    load_checkpoint(path, {"model": fresh}, {}, 1)
    assert torch.equal(fresh[0].weight, tied[0].weight)
    assert fresh[1].weight is fresh[0].weight
    assert not torch.equal(fresh[0].bias, fresh[1].bias)
    assert set(load_file(path)) == {"model/0.weight", "model/0.bias", "model/1.bias"}


def halved(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def pickled(path):
    torch.save({"a": torch.zeros(2)}, path)


def without_state(path):
    save_file(load_file(path), path)


def without_squares(path):
    with safe_open(path, framework="pt") as file:
        state = file.metadata()
    kept = {name: part for name, part in load_file(path).items() if not name.endswith("0.sum")}
    save_file(kept, path, state)


@pytest.mark.parametrize(
    "damage", [halved, pickled, without_state, without_squares, lambda path: path.write_bytes(b"")]
)
def test_a_damaged_checkpoint_is_refused(tmp_path, damage, monkeypatch):
    path = tmp_path / "checkpoint.safetensors"
    modules, optimizers = parts()
    save_checkpoint(path, modules, optimizers, HISTORY)
    damage(path)
    for name in ("load", "loads", "Unpickler"):
        monkeypatch.setattr(pickle, name, lambda *_: pytest.fail("a pickle was read"))
    with pytest.raises(DataError, match=r"checkpoint\.safetensors is not .*; delete it"):
        load_checkpoint(path, modules, optimizers, 1)


def test_any_changed_byte_is_noticed(tmp_path):
    path = tmp_path / "checkpoint.safetensors"
    modules, optimizers = parts()
    save_checkpoint(path, modules, optimizers, HISTORY)
    whole = path.read_bytes()
    for place in range(0, len(whole), 5):
        changed = bytearray(whole)
        changed[place] ^= 1
        path.write_bytes(changed)
        with pytest.raises(DataError, match=r"not a checkpoint .*; delete it to start afresh"):
            load_checkpoint(path, modules, optimizers, 1)


def test_a_checkpoint_of_another_model_is_refused(tmp_path):
    path = tmp_path / "checkpoint.safetensors"
    save_checkpoint(path, *parts(3), HISTORY)
    with pytest.raises(DataError, match="not a checkpoint of this recipe"):
        load_checkpoint(path, *parts(4), 1)


# -- a bundle that learning goes on from


@pytest.mark.parametrize(
    "content",
    [b"9" * 5000, b"[" * 100_000, b"\xff", b"", b"null", b'{"epochs": []}', b'{"\\u001b": 1}'],
    ids=["digits", "deep", "bytes", "empty", "null", "field", "escape"],
)
def test_how_it_learns(content, tmp_path):
    folder = start(tmp_path / "model")
    replaced("training.json", content)(folder)
    with pytest.raises(BundleError, match=r"training\.json: "):
        TextLearner.resume(open_bundle(folder), rates={}, average=0.5)
