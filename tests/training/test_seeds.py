"""What comes of a seed: figures of the development file, which stays unseen, and their mean."""

import json

import numpy as np
import pytest
import tiny_recipe
from runs import same_weights, weights

from thinstack.training.examples.datasets import load_datasets
from thinstack.training.loop.seeds import SeedResult, run_seed, summary


@pytest.fixture
def data(tmp_path):
    return tiny_recipe.write_data(tmp_path / "data")


@pytest.mark.parametrize(("stop_on", "source"), [("held", "left"), ("nothing", "balanced")])
def test_the_development_file_is_not_looked_at(data, tmp_path, stop_on, source):
    settings = {"stop_on": stop_on, "sources": (source,), "model": {"tree_source": source}}
    settings |= {"epochs": 4, "patience": 1, "learning_rate": 0.5}
    recipe = tiny_recipe.recipe(vectors="words.txt", **settings)
    first = run_seed(recipe, load_datasets(recipe, data), 1, tmp_path / "a")
    tree = "(0 (0 lovely) (2 (2 unheard-of) (0 lovely)))\n"
    (data / "dev.txt").write_text(tree * 7, encoding="utf-8")
    datasets = load_datasets(recipe, data)
    second = run_seed(recipe, datasets, 1, tmp_path / "b")
    assert first.dev != second.dev
    assert "unheard-of" not in datasets.vocabulary.entries
    assert same_weights(weights(first.model), weights(second.model))
    watched = [[record["watched"] for record in run.history] for run in (first, second)]
    assert watched[0] == watched[1]


def test_a_development_file_without_a_case_is_no_obstacle(data, tmp_path):
    (data / "dev.txt").write_text("(1 (1 the) (1 film))\n", encoding="utf-8")
    recipe = tiny_recipe.recipe(epochs=1, stop_on="dev")
    result = run_seed(recipe, load_datasets(recipe, data), 1, tmp_path)
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
