"""A parser of distances, learnt beside the model that it makes trees for."""

import numpy as np
import pytest
import tiny_recipe
import torch
from runs import fresh, gone_on, parser_loss, run, same, weights
from trained import train

from thinstack.bundle.weights import load_model
from thinstack.core.transitions import left
from thinstack.errors import ConfigError
from thinstack.training.examples.datasets import load_datasets
from thinstack.training.examples.example import minibatch
from thinstack.training.loop import epochs as loop
from thinstack.training.loop.epochs import fit_parser
from thinstack.training.loop.learner import build_optimizers, set_rates
from thinstack.training.recipe import Recipe

PARSER = {"name": "distances.v1", "options": {"width": 6, "lstm": 5, "hidden": 7}}


def recipe_of(**settings):
    settings = {"sources": ("self",), "parser_learning_rate": 0.02, **settings}
    return tiny_recipe.recipe(model={"parser": PARSER}, **settings)


def test_it_learns_and_a_stopped_run_goes_on_as_if_it_never_had(data, tmp_path):
    recipe = recipe_of(epochs=4)
    whole = run(recipe, data, tmp_path / "whole")
    losses = [record["parsing_loss"] for record in whole[1]]
    assert losses[-1] < losses[0]
    assert same(whole, gone_on(recipe, data, tmp_path / "stopped", epoch=2))


def test_it_learns_from_the_treebank_whatever_trees_are_taken(data):
    recipe = recipe_of()
    datasets = load_datasets(recipe, data)
    examples = datasets.train[:5]
    for example in examples:
        lefts = [left(int(words)) for words in example.gold.forest.lengths]
        example.trees["self"] = example.gold.over(np.concatenate(lefts))
    batch = minibatch(examples, ["self"] * 5, fresh(recipe, datasets).oracle)
    gold = [torch.from_numpy(example.gold.forest.transitions) for example in examples]
    assert batch.right.tolist() == torch.cat(gold).tolist()


def test_its_weights_have_adam_and_a_rate_that_falls_in_a_line(data):
    recipe = recipe_of(epochs=4)
    model = fresh(recipe, load_datasets(recipe, data))
    optimizers = build_optimizers(model, recipe.training)
    held = {
        name: {id(weight) for group in each.param_groups for weight in group["params"]}
        for name, each in optimizers.items()
    }
    assert held["parser"] == {id(weight) for weight in model.encoder.parser.parameters()}
    assert not held["parser"] & held["model"]
    assert type(optimizers["parser"]) is torch.optim.Adam
    for epochs, rate in [(0, 0.02), (1, 0.015), (3.5, 0.0025)]:
        set_rates(optimizers, recipe.training, epochs)
        (group,) = optimizers["parser"].param_groups
        assert group["lr"] == pytest.approx(rate)
    assert optimizers["model"].param_groups[0]["lr"] == recipe.training.learning_rate


def test_the_parser_alone_is_trained_over_the_words_that_are_kept(data, tmp_path):
    before, _ = run(recipe_of(epochs=2), data, tmp_path / "before")
    recipe = recipe_of(epochs=2, parser_epochs=3)
    after, history = run(recipe, data, tmp_path / "after")
    changed = {name for name, value in before.items() if not np.array_equal(value, after[name])}
    assert changed == {name for name in before if name.startswith("encoder.parser.")}
    assert len(history) == 2
    assert same((after, history), gone_on(recipe, data, tmp_path / "stopped"))
    losses = [parsing_loss(recipe, data, values) for values in (before, after)]
    assert losses[1] < losses[0]


@pytest.mark.usefixtures("short_samples")
def test_the_parser_of_a_bundle_is_trained_alone(data, tmp_path):
    first = recipe_of(epochs=1, seeds=(1,))
    bundle = train(first, data, tmp_path / "first").bundle.path
    parts = ["embedding", "encoder", "parser", "head"]
    fields = first.model_dump() | {"init": {"bundle": str(bundle), "parts": parts, "frozen": []}}
    fields["training"] |= {"epochs": 0, "parser_epochs": 3}
    recipe = Recipe.parse(fields, source="test")
    before = weights(load_model(bundle))
    after, history = run(recipe, data, tmp_path / "alone")
    changed = {name for name, value in before.items() if not np.array_equal(value, after[name])}
    assert changed == {name for name in before if name.startswith("encoder.parser.")}
    assert history == []
    assert parsing_loss(first, data, after) < parsing_loss(first, data, before)
    assert load_model(train(recipe, data, tmp_path / "second").bundle).parses


@pytest.mark.parametrize("settings", [{"epochs": 0}, {"epochs": 0, "parser_epochs": 2}])
def test_no_epochs_without_a_bundle_are_refused(settings):
    with pytest.raises(ConfigError, match=r"training.epochs: .* found 0; .* \[init\]"):
        recipe_of(**settings)


def parsing_loss(recipe, data, values):
    """Over all training sentences, in evaluation mode."""
    datasets = load_datasets(recipe, data)
    model = fresh(recipe, datasets).eval()
    model.load_state_dict({name: torch.from_numpy(value) for name, value in values.items()})
    return parser_loss(model, datasets.train, "static").loss.item()


def test_its_own_epochs_have_its_dropout_alone_and_the_whole_line_of_rates(data, monkeypatch):
    recipe = recipe_of(epochs=2, parser_epochs=4, buckets=1)  # the short minibatch comes last
    datasets = load_datasets(recipe, data)
    model, modes, rates = fresh(recipe, datasets), set(), []

    def lower(optimizers, *settings):
        set_rates(optimizers, *settings)
        rates.append(optimizers["parser"].param_groups[0]["lr"])

    def look(*_):
        modes.add((model.encoder.parser.training, model.embedding.training))

    monkeypatch.setattr(loop, "set_rates", lower)
    fit_parser(model, datasets.train, recipe.training, 1, look)
    assert modes == {(True, False)}
    assert not model.encoder.parser.training
    starts = np.arange(0, 30, 4) / 30  # of the minibatches of an epoch
    expected = [0.02 * (1 - (epoch + start) / 4) for epoch in range(4) for start in starts]
    assert rates == pytest.approx(expected)


def test_epochs_of_no_parser():
    with pytest.raises(ConfigError, match="parser_epochs"):
        tiny_recipe.recipe(parser_epochs=1)
