"""Runs that are stopped, or meet a full disk or an odd checkpoint: one message, and they go on."""

import errno
import os
import signal

import pytest
import tiny_recipe
import tomli_w
from runs import run, stopped

from thinstack.data.files import writing as files
from thinstack.errors import DataError
from thinstack.training import run_recipe
from thinstack.training.loop import epochs as loop
from thinstack.training.loop.checkpoint import save_checkpoint


@pytest.mark.parametrize("records", [[], [{"seed": 2}]])
def test_a_checkpoint_of_another_seed_stops_the_run(data, tmp_path, monkeypatch, records):
    monkeypatch.setattr(loop, "save_checkpoint", lambda *args: save_checkpoint(*args[:3], records))
    stopped(tiny_recipe.recipe(), data, tmp_path)
    with pytest.raises(DataError, match="seed 1"):
        run(tiny_recipe.recipe(), data, tmp_path)


# -- by command


@pytest.fixture
def train(data, tmp_path, cli, monkeypatch):
    """`thinstack train` of three epochs in the folder `out`; nothing is published."""
    recipe = tiny_recipe.recipe().model_dump(mode="json", exclude_none=True)
    (tmp_path / "recipe.toml").write_text(tomli_w.dumps(recipe), "utf-8")
    monkeypatch.setattr(run_recipe, "_finish", lambda *_, **__: None)
    command = "train", tmp_path / "recipe.toml", "--data", data, "--out", tmp_path / "out"
    return lambda: cli(*command)


def check_stopped(train, patched, code, problem, tmp_path):
    """The command with what is patched ends with one message, and the same command goes on: the
    second and third epochs are done, and nothing half written is left."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(*patched)
        answer = train()
    said = "same command again, and training resumes after epoch 1 of seed 1\n"
    assert (answer.code, answer.err) == (code, f"error: {problem} run the {said}")
    answer, out = train(), tmp_path / "out"
    printed = [f"epoch {number}: " in answer.out for number in (1, 2, 3)]
    left = [path for path in out.rglob("*") if path.suffix == ".partial"]
    assert (answer.code, printed, left) == (0, [False, True, True], [])


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_training_with_one_message(train, tmp_path, number, code):
    def stop(optimizers, config, epochs):
        if epochs > 1.5:
            signal.raise_signal(number)

    check_stopped(train, (loop, "set_rates", stop), code, "stopped;", tmp_path)


@pytest.mark.parametrize("name", ["metrics.jsonl", "checkpoint.safetensors"])
def test_a_full_disk_is_one_message(train, tmp_path, name):
    sync, calls = files.sync, []

    def full(path):
        if path.name.startswith(name):
            calls.append(path)
        if len(calls) == 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        sync(path)

    file = tmp_path / "out" / "seeds" / "1" / name
    problem = f"[Errno 28] No space left on device: '{file}'; fix this and"
    check_stopped(train, (files, "sync", full), 2, problem, tmp_path)
