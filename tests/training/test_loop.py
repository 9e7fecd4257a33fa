"""The training loop: what an epoch does, resuming, early stopping, averaging."""

import json
from contextlib import suppress

import numpy as np
import pytest
import tiny_recipe
import torch
from runs import KilledError, fresh, gone_on, of_one, run, same

from thinstack.errors import ConfigError
from thinstack.training.examples.datasets import load_datasets
from thinstack.training.loop import epochs, seeds
from thinstack.training.loop.seeds import run_seed
from thinstack.training.recipe import Recipe

# -- one epoch


def test_an_epoch_takes_the_loss_a_tree_of_all_labelled_nodes(data, tmp_path):
    settings = {"epochs": 1, "batch_size": 30, "sources": ()}
    settings |= {"weight_decay": 0.0, "vector_learning_rate": 0.5}
    recipe = tiny_recipe.recipe(embedding={"dropout": 0.0}, **settings)
    model = recipe.model.model_dump() | {"head": {"name": "node_classifier.v1"}}  # no dropout
    recipe = Recipe.parse(recipe.model_dump() | {"model": model}, source="test")
    datasets = load_datasets(recipe, data)
    model = fresh(recipe, datasets)
    losses, nodes = [], 0
    for example in datasets.train:
        labels = example.gold.targets
        scores = model(of_one(example))["node_scores"]
        losses.append(-scores.log()[range(len(labels)), labels].sum())
        nodes += len(labels)
    (torch.stack(losses).sum() / len(losses)).backward()
    after, history = run(recipe, data, tmp_path)
    assert history[0]["loss"] == pytest.approx(torch.stack(losses).sum().item() / nodes, rel=1e-5)
    for name, value in model.named_parameters():
        gradient = value.grad.to_dense().numpy()
        scale = 0.5 if name == "embedding.table" else 0.05 / (np.abs(gradient) + 1e-10)
        step = scale * gradient
        # AdaGrad's first step is the sign of the gradient, which rounding may turn.
        kept = np.abs(gradient) > 1e-5
        np.testing.assert_allclose(
            after[name][kept], (value.detach().numpy() - step)[kept], atol=1e-5, err_msg=name
        )


@pytest.fixture
def drawn(monkeypatch):
    """Every example that is drawn, and its tree source."""
    seen = []
    minibatch = epochs.minibatch

    def watch(examples, sources, oracle):
        assert oracle is None
        seen.extend(zip(examples, sources, strict=True))
        return minibatch(examples, sources)

    monkeypatch.setattr(epochs, "minibatch", watch)
    return seen


def test_phrases_alone_are_drawn_anew_in_each_epoch(data, tmp_path, drawn):
    recipe = tiny_recipe.recipe(epochs=2, lessons=[{"name": "alone.v1", "share": 2.0}])
    datasets = load_datasets(recipe, data)
    own, totals = {*map(id, datasets.train)}, []
    run_seed(
        recipe, datasets, 1, tmp_path, on_batch=lambda epoch, done, total: totals.append(total)
    )
    parts = [
        [(one.words, source) for one, source in part if id(one) not in own]
        for part in (drawn[: totals[0]], drawn[totals[0] :])
    ]
    assert parts[0] != parts[1]
    assert {source for part in parts for _, source in part} == {"gold"}
    assert {totals[0], totals[-1]} == {30 + len(part) for part in parts}
    assert 5 < len(parts[0]) < 60


def test_every_epoch_sees_every_sentence_once_with_one_of_the_sources(data, tmp_path, drawn):
    datasets = load_datasets(tiny_recipe.recipe(), data)
    numbers = {id(example): number for number, example in enumerate(datasets.train)}
    progress = []
    recipe = tiny_recipe.recipe(epochs=2)
    run_seed(recipe, datasets, 1, tmp_path, on_batch=lambda *done: progress.append(done))
    first, second = drawn[:30], drawn[30:]
    for epoch in (first, second):
        assert sorted(numbers[id(one)] for one, _ in epoch) == list(range(30))
    assert [id(one) for one, _ in first] != [id(one) for one, _ in second]
    assert 5 < sum(source == "balanced" for _, source in first) < 25
    assert {source for _, source in drawn} == {"gold", "balanced"}
    assert progress[7::8] == [(1, 30, 30), (2, 30, 30)]


def test_a_head_of_roots_is_trained_on_the_roots_alone(data, tmp_path):
    head = {"name": "root_classifier.v1", "options": {"hidden": 6}}
    settings = {"epochs": 1, "batch_size": 30, "sources": (), "learning_rate": 1e-9}
    recipe = tiny_recipe.recipe(model={"head": head}, embedding={"dropout": 0.0}, **settings)
    datasets = load_datasets(recipe, data)
    model = fresh(recipe, datasets)
    losses = []
    for example in datasets.train:
        (label,) = example.gold.targets
        losses.append(-model(of_one(example))["root_scores"][0].log()[label].item())
    found = run_seed(recipe, datasets, 1, tmp_path)
    assert found.history[0]["loss"] == pytest.approx(np.mean(losses), rel=1e-5)
    # Its accuracy is over roots too: of phrases it was taught none.
    assert (found.dev["gold"]["phrases"], found.dev["gold"]["roots"]) == (0, 10)


def test_a_seed_gives_the_same_weights_and_another_gives_others(data, tmp_path):
    recipe = tiny_recipe.recipe(epochs=1)
    first = run(recipe, data, tmp_path / "a")
    assert same(first, run(recipe, data, tmp_path / "b"))
    assert not same(first, run(recipe, data, tmp_path / "c", seed=2))


@pytest.mark.parametrize(("rate", "batch_size"), [(1e38, 4), (1e300, 30)])
def test_training_that_diverges_is_an_error_and_leaves_no_checkpoint(
    data, tmp_path, rate, batch_size
):
    recipe = tiny_recipe.recipe(learning_rate=rate, batch_size=batch_size)
    with pytest.raises(ConfigError, match=r"diverged in epoch 1: .* training\.learning_rate"):
        run(recipe, data, tmp_path)
    assert list(tmp_path.iterdir()) == []


def flushes():
    return float(torch.tensor(1e-310, dtype=torch.float64) * 0.5) == 0


@pytest.mark.parametrize("rate", [0.05, 1e300])
def test_settings_of_the_process_are_put_back(data, tmp_path, rate):
    found = []
    checks = torch.sparse.check_sparse_tensor_invariants
    checks.enable()
    recipe = tiny_recipe.recipe(epochs=1, learning_rate=rate)

    def watch(*_):
        found.append(flushes() and not checks.is_enabled())

    try:
        with suppress(ConfigError):  # the greater rate diverges
            run(recipe, data, tmp_path, on_batch=watch)
        assert (flushes(), checks.is_enabled()) == (False, True)
        assert found
        assert all(found)
    finally:
        checks.disable()


# -- resuming

RESUMED = {"epochs": 4, "average": 0.6, "stop_on": "held", "patience": 4, "buckets": 2}
RESUMED |= {
    "rule": "adam",
    "learning_rate": 0.01,
    "vector_rule": "adagrad",
    "vector_learning_rate": 0.05,
}


@pytest.fixture(scope="module")
def uninterrupted(data, tmp_path_factory):
    return run(tiny_recipe.recipe(**RESUMED), data, tmp_path_factory.mktemp("whole"))


@pytest.mark.parametrize("epoch", [1, 4])
def test_a_run_stopped_after_an_epoch_goes_on_bit_by_bit(data, tmp_path, uninterrupted, epoch):
    assert same(gone_on(tiny_recipe.recipe(**RESUMED), data, tmp_path, epoch), uninterrupted)


@pytest.mark.parametrize("function", ["save_checkpoint", "write_atomically"])
def test_a_run_stopped_while_it_saves_loses_no_line(data, tmp_path, uninterrupted, function):
    original, calls = getattr(seeds, function), []

    def stop(*args):
        calls.append(1)
        if len(calls) == 4:  # in the last epoch
            raise KilledError
        original(*args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(seeds, function, stop)
        with pytest.raises(KilledError):
            run(tiny_recipe.recipe(**RESUMED), data, tmp_path)
    assert same(run(tiny_recipe.recipe(**RESUMED), data, tmp_path), uninterrupted)
    lines = (tmp_path / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    assert [{**json.loads(line), "seconds": 0} for line in lines] == uninterrupted[1]
