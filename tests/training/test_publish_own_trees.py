"""A recipe of a model that parses, from its data to its bundle."""

import json

import pytest
import tiny_recipe
from trained import train

import thinstack
from thinstack.evaluate.treebank_evaluation import evaluate_file

TRACKER = {"encoder": {"tracker": {"size": 3, "lookahead": 2, "feeds": False}}}


@pytest.fixture(scope="module", params=["self", "balanced"])
def trained(request, tmp_path_factory):
    """A model that parses, of either tree source."""
    data = tiny_recipe.write_data(tmp_path_factory.mktemp("data"))
    settings = {"epochs": 2, "sources": ("self",), "stop_on": "dev", "seeds": (1, 2)}
    recipe = tiny_recipe.recipe(model={**TRACKER, "tree_source": request.param}, **settings)
    return train(recipe, data, tmp_path_factory.mktemp("out"))


def test_the_bundle_parses_and_its_figures_are_those_of_evaluate(trained):
    bundle, source = trained.bundle, trained.recipe.model.tree_source
    assert bundle.config.parses
    assert bundle.config.tree_source == source
    predictor, file = thinstack.load(bundle.path), trained.data / "dev.txt"
    shipped = bundle.manifest.metrics["development"]
    for name in ("gold", "auto"):
        found = evaluate_file(predictor, file, source=name)
        assert found == pytest.approx(shipped[name], abs=1e-3)
    own = evaluate_file(predictor, file, source="self")
    seed = trained.results["seeds"][str(bundle.manifest.metrics["seed"])]["dev"]
    for key in ("root_accuracy", "phrase_accuracy", "span_f1_with_root", "exact_trees"):
        assert own[key] == pytest.approx(seed["self"][key], abs=1e-3)
    assert (own == evaluate_file(predictor, file, source="auto")) == (source == "self")


def test_every_epoch_is_watched_over_both_trees(trained):
    lines = (trained.out / "seeds" / "1" / "metrics.jsonl").read_text().splitlines()
    records = list(map(json.loads, lines))
    assert [set(record["watched"]) for record in records] == [{"gold", "self"}] * 2
    assert all(record["parsing_loss"] > 0 for record in records)
