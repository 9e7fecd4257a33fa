"""Which epochs run, and which weights are kept: early stopping and the running average."""

import errno
import json
import os
import signal
from dataclasses import replace

import numpy as np
import pytest
import tiny_recipe
import tomli_w
from runs import run, same_weights, stopped, weights
from safetensors.numpy import load_file

from thinstack.data.files import writing as files
from thinstack.errors import DataError
from thinstack.training import run_recipe
from thinstack.training.examples.datasets import load_datasets
from thinstack.training.loop import epochs, seeds
from thinstack.training.loop.learner import save_checkpoint
from thinstack.training.loop.seeds import SeedResult, run_seed, summary, train_seed
from thinstack.training.tasks.treebanks import Phrases


def train_watching(values, data, folder, **settings):
    """Train while the accuracy on what is watched is made up, an epoch after the other."""
    made_up = {"root_binary_accuracy": None, "phrase_accuracy": 0.0}
    found = iter([(made_up | {"root_accuracy": value}, None) for value in values])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Phrases, "measure", lambda *_: next(found, (made_up, None)))
        return run(tiny_recipe.recipe(epochs=8, sources=(), **settings), data, folder)


def saved(folder):
    """The weights that training goes on from."""
    found = load_file(folder / "checkpoint.safetensors").items()
    return {name[6:]: value for name, value in found if name.startswith("model/")}


@pytest.mark.parametrize("stop_on", ["held", "dev"])
def test_it_stops_when_nothing_got_better_and_keeps_the_first_best(data, tmp_path, stop_on):
    kept, history = train_watching(
        [10, 30, 30, 20, 29, 99, 99, 99], data, tmp_path / "a", stop_on=stop_on, patience=3
    )
    assert [record["selection"] for record in history] == [10, 30, 30, 20, 29]
    recipe = tiny_recipe.recipe(epochs=8, sources=(), stop_on=stop_on)
    stopped(recipe, data, tmp_path / "b", epoch=2)
    assert same_weights(kept, saved(tmp_path / "b"))


def test_getting_better_slowly_is_enough_to_go_on(data, tmp_path):
    values = [1, 0, 2, 1, 3, 2, 4, 3]
    _, history = train_watching(values, data, tmp_path, stop_on="held", patience=2)
    assert len(history) == 8


def test_without_early_stopping_all_epochs_run_and_the_last_is_kept(data, tmp_path):
    kept, history = run(tiny_recipe.recipe(epochs=6, patience=1, learning_rate=0.5), data, tmp_path)
    assert [record["epoch"] for record in history] == [1, 2, 3, 4, 5, 6]
    assert {tuple(record["watched"]) for record in history} == {()}
    assert same_weights(kept, saved(tmp_path))


def test_what_is_kept_is_the_running_average(data, tmp_path):
    epochs = []
    recipe = tiny_recipe.recipe(epochs=4, average=0.6)
    kept, _ = run(recipe, data, tmp_path, on_epoch=lambda _: epochs.append(saved(tmp_path)))
    for name, value in kept.items():
        mean = np.mean([epochs[0][name], epochs[1][name]], axis=0, dtype=np.float64)
        for later in epochs[2:]:
            mean = 0.6 * mean + 0.4 * later[name]
        np.testing.assert_allclose(value, mean, atol=1e-6)
        assert not np.allclose(value, epochs[-1][name], atol=1e-4)


def test_the_records_are_figures_on_what_is_watched(data, tmp_path):
    recipe = tiny_recipe.recipe(stop_on="dev", epochs=2)
    result = run_seed(recipe, load_datasets(recipe, data), 1, tmp_path)
    best = max(result.history, key=lambda record: record["selection"])
    assert best["watched"] == result.dev
    keys = ("root_accuracy", "root_binary_accuracy", "phrase_accuracy")
    expected = sum(figures[key] for figures in result.dev.values() for key in keys)
    assert best["selection"] == pytest.approx(expected)
    assert result.selection == best["selection"]


# -- examples that are measured after each epoch and choose nothing


@pytest.mark.parametrize("stop_on", ["held", "nothing"])
def test_traced_examples_are_noted_and_choose_nothing(data, tmp_path, stop_on):
    recipe = tiny_recipe.recipe(stop_on=stop_on, average=0.5, epochs=3)
    datasets = load_datasets(recipe, data)
    traced = replace(datasets, traced={"gold": datasets.dev})
    model, history = train_seed(recipe, traced, 1, tmp_path / "traced")
    plain, expected = train_seed(recipe, datasets, 1, tmp_path / "plain")
    for name, value in plain.state_dict().items():
        assert value.equal(model.state_dict()[name]), name
    assert all("traced" not in record for record in expected)
    figures = ("loss", "watched", "selection")
    for record, other in zip(history, expected, strict=True):
        assert [record[name] for name in figures] == [other[name] for name in figures]
    if stop_on == "nothing":  # the averaged weights of the last epoch are kept
        labels = recipe.model.labels
        last = recipe.task.measure(model, datasets.dev, "gold", labels)[0]
        assert history[-1]["traced"] == {"gold": last}


# -- what comes of a seed: figures of the development file, which stays unseen, and their mean


@pytest.fixture
def own_data(tmp_path):
    return tiny_recipe.write_data(tmp_path / "own_data")


@pytest.mark.parametrize(("stop_on", "source"), [("held", "left"), ("nothing", "balanced")])
def test_the_development_file_is_not_looked_at(own_data, tmp_path, stop_on, source):
    settings = {"stop_on": stop_on, "sources": (source,), "model": {"tree_source": source}}
    settings |= {"epochs": 4, "patience": 1, "learning_rate": 0.5}
    recipe = tiny_recipe.recipe(vectors="words.txt", **settings)
    first = run_seed(recipe, load_datasets(recipe, own_data), 1, tmp_path / "a")
    tree = "(0 (0 lovely) (2 (2 unheard-of) (0 lovely)))\n"
    (own_data / "dev.txt").write_text(tree * 7, encoding="utf-8")
    datasets = load_datasets(recipe, own_data)
    second = run_seed(recipe, datasets, 1, tmp_path / "b")
    assert first.dev != second.dev
    assert "unheard-of" not in datasets.vocabulary.entries
    assert same_weights(weights(first.model), weights(second.model))
    watched = [[record["watched"] for record in run.history] for run in (first, second)]
    assert watched[0] == watched[1]


def test_a_development_file_without_a_case_is_no_obstacle(own_data, tmp_path):
    (own_data / "dev.txt").write_text("(1 (1 the) (1 film))\n", encoding="utf-8")
    recipe = tiny_recipe.recipe(epochs=1, stop_on="dev")
    result = run_seed(recipe, load_datasets(recipe, own_data), 1, tmp_path)
    gold = result.dev["gold"]
    assert (gold["root_binary_accuracy"], gold["binary_roots"]) == (None, 0)
    for line in (tmp_path / "metrics.jsonl").read_text(encoding="utf-8").splitlines():
        json.loads(line, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert summary([result])["gold"]["root_binary_accuracy"] == {"mean": None, "std": None}


def test_the_summary_is_mean_and_standard_deviation_over_the_seeds():
    results = [
        SeedResult(seed, None, [], {"gold": {"root_accuracy": value}}, {})
        for seed, value in enumerate([50.0, 52.0, 57.0])
    ]
    figures = summary(results)["gold"]["root_accuracy"]
    assert figures["mean"] == pytest.approx(53.0)
    assert figures["std"] == pytest.approx(np.std([50, 52, 57], ddof=1))
    assert summary(results[:1])["gold"]["root_accuracy"] == {"mean": 50.0, "std": None}


@pytest.mark.parametrize(
    ("selections", "epoch"),
    [([3.0, 5.0, 4.0], 2), ([5.0, 5.0, 4.0], 1), ([None, None], 2)],
    ids=["best", "first best", "last"],
)
def test_the_epoch_that_was_kept(selections, epoch):
    history = [
        {"selection": value or 0.0, "watched": {} if value is None else {"gold": {}}}
        for value in selections
    ]
    assert SeedResult(1, None, history, {}, {}).epoch == epoch


# -- runs that are stopped, or meet a full disk or an odd checkpoint: one message, and they go on


@pytest.mark.parametrize("records", [[], [{"seed": 2}]])
def test_a_checkpoint_of_another_seed_stops_the_run(data, tmp_path, monkeypatch, records):
    monkeypatch.setattr(seeds, "save_checkpoint", lambda *args: save_checkpoint(*args[:3], records))
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

    check_stopped(train, (epochs, "set_rates", stop), code, "stopped;", tmp_path)


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
