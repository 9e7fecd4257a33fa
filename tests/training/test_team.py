"""Training on several processes: what they learn together, who writes, and what is refused."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import team_program
import tiny_recipe
import tiny_texts
import torch
from runs import run

import thinstack
from thinstack.data.files.lock import LOCK, locked
from thinstack.errors import ConfigError, InputError
from thinstack.training import run_recipe
from thinstack.training.examples.inputs import Inputs
from thinstack.training.loop.team import ALONE, Team, joined

HERE = Path(__file__).parent
NOISE = {"encoder.parser.left.bias": 2e-2}
"""Where the gradient is 0 but for rounding, Adam moves by its whole rate: a hidden unit that is at
work at every gap shifts all distances alike, which no cut depends on."""


def launched(program, *args, restarts=0):
    """What `torchrun` comes to, on two processes."""
    paths = os.pathsep.join(map(str, (HERE, HERE.parent, HERE.parents[1])))
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    command += [f"--max-restarts={restarts}", *(["-m"] if program == "thinstack" else [])]
    return subprocess.run(
        [*command, str(program), *map(str, args)],
        env={**os.environ, "PYTHONPATH": paths, "CUDA_VISIBLE_DEVICES": ""},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def test_two_processes_learn_as_one_with_minibatches_twice_as_large(tmp_path):
    data, out = team_program.write_data(tmp_path / "data"), tmp_path / "out"
    out.mkdir()
    done = launched(HERE / "team_program.py", data, out)
    assert done.returncode == 0, done.stderr
    for name, recipe in team_program.recipes(data, 4).items():
        expected, history = run(recipe, data, tmp_path / name)
        first, second = (np.load(out / f"{name}-{rank}.npz") for rank in (0, 1))
        assert len(history) > 1
        for key, value in expected.items():
            assert np.array_equal(first[key], second[key])
            atol = NOISE.get(key, 1e-5)
            np.testing.assert_allclose(
                first[key], value, atol=atol, rtol=0, err_msg=f"{name}, {key}"
            )


# -- one process of several


class OfTwo(Team):
    size = 2


@pytest.mark.parametrize("size", [None, "1"])
def test_without_a_launcher_a_process_is_alone(size, monkeypatch):
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    if size is not None:
        monkeypatch.setenv("WORLD_SIZE", size)
    with joined() as team:
        assert team is ALONE


@pytest.mark.parametrize("found", [{"RANK": "0"}, {"RANK": "x", "MASTER_PORT": "1"}])
def test_a_launcher_that_says_too_little_is_refused(found, monkeypatch):
    for name, value in {"WORLD_SIZE": "2", "MASTER_ADDR": "localhost", **found}.items():
        monkeypatch.setenv(name, value)
    with (
        pytest.raises(ConfigError, match=rf"found RANK={found['RANK']}.*unset WORLD_SIZE"),
        joined(),
    ):
        pass


def test_more_processes_than_gpus_are_refused(monkeypatch):
    found = {"WORLD_SIZE": "2", "RANK": "1", "MASTER_ADDR": "localhost", "MASTER_PORT": "1"}
    for name, value in {**found, "LOCAL_RANK": "1"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    with (
        pytest.raises(ConfigError, match=r"found 1 for process 1 .* CUDA_VISIBLE_DEVICES="),
        joined(),
    ):
        pass


def test_a_run_goes_on_with_as_many_processes_as_began_it(data, tmp_path):
    recipe = tiny_recipe.recipe()
    run_recipe._claim(tmp_path, recipe, Inputs(data), OfTwo())
    (tmp_path / "seeds").mkdir()
    run_recipe._claim(tmp_path, recipe, Inputs(data), OfTwo())
    with pytest.raises(ConfigError, match=r"expected as many .* began this run, 2, .* found 1; "):
        run_recipe._claim(tmp_path, recipe, Inputs(data), ALONE)


# -- one run in a folder


def test_a_run_that_an_older_version_began_goes_on(data, tmp_path):
    """Its note lacks the settings that came later, and has those that went to tables of papers."""
    recipe, note = tiny_recipe.recipe(), tmp_path / "recipe.json"
    run_recipe._claim(tmp_path, recipe, Inputs(data), ALONE)
    (tmp_path / "seeds").mkdir()
    begun = json.loads(note.read_text())
    for name in ("rate_factor", "rate_epochs"):
        del begun["recipe"]["training"][name]
    begun["recipe"]["training"] |= {"init": "own", "decoupled_decay": False, "labels": "all"}
    note.write_text(json.dumps(begun))
    run_recipe._claim(tmp_path, recipe, Inputs(data), ALONE)
    assert json.loads(note.read_text())["recipe"]["training"]["rate_factor"] == 1
    for text in (json.dumps(begun | {"data": {}}), json.dumps({"recipe": 3}), "[]", "{"):
        note.write_text(text)
        with pytest.raises(ConfigError, match="name another folder"):
            run_recipe._claim(tmp_path, recipe, Inputs(data), ALONE)
    note.write_text(json.dumps(begun))
    with pytest.raises(ConfigError, match="work of another recipe"):
        run_recipe._claim(tmp_path, tiny_recipe.recipe(rate_factor=0.5), Inputs(data), ALONE)


@pytest.mark.parametrize("file", ["recipe.toml", "texts.csv"])
def test_a_run_over_a_folder_in_use_is_refused(file, cli, tmp_path):
    tiny_texts.table(tmp_path / "texts.csv")
    (tmp_path / "recipe.toml").write_text(RECIPE, encoding="utf-8")
    out = tmp_path / "out"
    with locked(out):
        answer = cli("train", tmp_path / file, "--out", out)
        assert answer.code == 2
        whose = f"process {os.getpid()} on "
        assert f"{out}: another run writes there ({whose}" in answer.err.replace("\n", "")
        assert [path.name for path in out.iterdir()] == [LOCK]


def test_rows_are_not_written_to_a_folder_in_use(tmp_path):
    rows = [{"text": "good", "label": "up"}]
    with locked(tmp_path), pytest.raises(InputError, match="another run writes there"):
        thinstack.train_texts(rows, out=tmp_path)


@pytest.mark.parametrize("written", [False, True])
def test_a_folder_that_was_made_for_nothing_goes_again(tmp_path, written):
    out = tmp_path / "a" / "b"

    def fail():
        with locked(out):
            if written:
                (out / "file").touch()
            raise InputError("refused")

    for _ in range(2):
        with pytest.raises(InputError, match="refused"):
            fail()
        assert out.exists() == written


def test_where_there_are_no_locks_none_is_held(tmp_path, monkeypatch):
    fcntl = pytest.importorskip("fcntl")

    def refuse(*_):
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with locked(tmp_path), locked(tmp_path):
        assert (tmp_path / LOCK).read_text(encoding="utf-8").startswith("process ")


RECIPE = """
name = "tiny"
data = { train = "train.txt", dev = "dev.txt" }

[model]
labels = ["bad", "good"]
embedding = { kind = "words", size = 2 }
cell = { name = "nary_lstm.v1", hidden_size = 3 }
head = { name = "node_classifier.v1" }
"""
