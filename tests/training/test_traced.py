"""Examples that are measured after each epoch and choose nothing."""

from dataclasses import replace

import pytest
import tiny_recipe

from thinstack.training.examples.datasets import load_datasets
from thinstack.training.loop.seeds import train_seed


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


def test_a_run_that_goes_on_keeps_what_was_traced(data, tmp_path):
    recipe = tiny_recipe.recipe(stop_on="nothing", epochs=3)
    short = tiny_recipe.recipe(stop_on="nothing", epochs=2)
    datasets = load_datasets(recipe, data)
    datasets = replace(datasets, traced={"gold": datasets.dev})
    _, whole = train_seed(recipe, datasets, 1, tmp_path / "whole")
    train_seed(short, datasets, 1, tmp_path / "parts")
    _, gone_on = train_seed(recipe, datasets, 1, tmp_path / "parts")
    assert [at["traced"] for at in gone_on] == [at["traced"] for at in whole]
