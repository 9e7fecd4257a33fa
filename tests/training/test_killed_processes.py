"""Training by command on two processes: who writes and prints, and what is left when one dies."""

import json

import numpy as np
import pytest
import tiny_recipe
import tomli_w
from safetensors.numpy import load_file
from test_team import HERE, launched

import thinstack


@pytest.fixture(scope="module")
def recipe(data, tmp_path_factory):
    found = tiny_recipe.recipe(epochs=4, stop_on="held", export={"inference_only": True})
    path = tmp_path_factory.mktemp("recipe") / "recipe.toml"
    path.write_text(tomli_w.dumps(found.model_dump(mode="json", exclude_none=True)), "utf-8")
    return path


def checkpoint(out):
    return load_file(out / "seeds" / "1" / "checkpoint.safetensors")


@pytest.fixture(scope="module")
def whole(recipe, data, tmp_path_factory):
    """The weights of a run that nothing stops."""
    out = tmp_path_factory.mktemp("whole")
    done = launched("thinstack", "train", recipe, "--data", data, "--out", out)
    assert done.returncode == 0, done.stderr
    for epoch in range(1, 5):
        assert done.stdout.count(f"seed 1, epoch {epoch}: loss") == 1
    assert done.stdout.count("2 processes, each with minibatches of 4") == 1
    assert json.loads((out / "results.json").read_text(encoding="utf-8"))["processes"] == 2
    assert thinstack.load(out / "model-best").labels == tiny_recipe.LABELS
    return checkpoint(out)


@pytest.mark.parametrize("victim", [0, 1])
def test_a_killed_process_ends_the_run_which_goes_on_bit_by_bit(
    victim, recipe, data, tmp_path, whole
):
    command = "train", recipe, "--data", data, "--out", tmp_path
    killed = launched(HERE / "killed_program.py", victim, *command)
    assert killed.returncode != 0
    said = "error: a process of this run has died, or was stopped; start the same command again"
    assert killed.stderr.count(said) == 1
    assert f"{said}, and it goes on after epoch 2 of seed 1\n" in killed.stderr
    assert "exitcode  : 2 (pid" in killed.stderr
    assert not (tmp_path / "model-best").exists()
    again = launched("thinstack", *command)
    assert again.returncode == 0, again.stderr
    assert "seed 1, epoch 2" not in again.stdout
    found = checkpoint(tmp_path)
    assert found.keys() == whole.keys()
    assert all(np.array_equal(value, whole[name]) for name, value in found.items())


def test_processes_that_the_launcher_starts_again_go_on_bit_by_bit(recipe, data, tmp_path, whole):
    command = "train", recipe, "--data", data, "--out", tmp_path
    done = launched(HERE / "killed_program.py", 1, *command, restarts=1)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("error: ") == 1
    found = checkpoint(tmp_path)
    assert all(np.array_equal(value, whole[name]) for name, value in found.items())


def test_an_error_of_all_processes_is_told_once(recipe, tmp_path):
    done = launched("thinstack", "train", recipe, "--data", tmp_path, "--out", tmp_path / "out")
    assert done.returncode != 0
    assert done.stderr.count("error: ") == 1
    assert "train.txt" in done.stderr
