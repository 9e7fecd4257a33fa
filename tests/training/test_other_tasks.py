"""Training dependency trees and sequences, up to the bundle."""

import json

import pytest
import tiny_dependencies
import tiny_recipe
from trained import check_scores, train

import thinstack
from thinstack.evaluate.treebank_evaluation import evaluate_file


def test_the_onnx_file_of_a_bundle_scores_as_its_model_does(data, tmp_path):
    settings = {"seeds": (1, 2), "export": {"inference_only": True}}
    recipe = tiny_dependencies.recipe("dependency", epochs=2, stop_on="dev", **settings)
    trained = train(recipe, data, tmp_path)
    check_scores(trained)
    report = json.loads(trained.bundle.read("verification.json"))
    assert [part["trees"] for part in report["onnx"]["development"]] == [10, 10]


def test_a_bundle_of_plain_sentences_is_measured_as_it_runs(data, tmp_path):
    done = train(tiny_dependencies.recipe("sequence", epochs=1, stop_on="dev"), data, tmp_path)
    predictor = thinstack.load(done.out / "model-best")
    figures = evaluate_file(predictor, data / (done.recipe.data.dev or ""))
    shipped = done.bundle.manifest.metrics["development"]
    assert (shipped["gold"], list(shipped)) == (figures, ["gold", "text"])
    seed = done.results["seeds"]["1"]["dev"]["gold"]
    assert figures["root_accuracy"] == seed["root_accuracy"]
    assert "Trees of raw words: none, it reads `sequence`." in done.card
    assert "| gold | this file |" in done.card


# -- models that parse


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
