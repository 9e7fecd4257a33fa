"""Training pairs, dependency trees and sequences: from checkpoints, by every rule, and up to the
bundle."""

import json
from itertools import cycle

import pytest
import tiny_pairs
from runs import gone_on, run, same
from trained import check_scores, train

import thinstack
from thinstack.evaluate.treebank_evaluation import evaluate_file
from thinstack.training.recipe import Recipe

RULES = (
    {"rule": "adagrad"},
    {"rule": "rmsprop", "learning_rate": 0.01},
    {"rule": "adam", "learning_rate": 0.01, "vector_rule": "adagrad"},
)
NARROW = {"name": "entailment.v1", "options": {"width": 16}}
RECIPES = {
    "pairs": (tiny_pairs.recipe, ("relatedness", "dependency"), {}),
    "parsed pairs": (
        tiny_pairs.recipe,
        ("entailment",),
        {"model": {**tiny_pairs.TRACKED, "head": NARROW}, "sources": ("self",), "snli": True},
    ),
    "binary": (tiny_pairs.phrases_recipe, ("binary",), {}),
    "dependency": (tiny_pairs.phrases_recipe, ("dependency",), {}),
    "sequence": (tiny_pairs.phrases_recipe, ("sequence",), {"buckets": 2}),
}


def recipe_of(kind, **settings):
    make, given, own = RECIPES[kind]
    made = make(*given, **own, **settings)
    assert isinstance(made, Recipe)
    return made


@pytest.mark.parametrize(("kind", "rule"), [*zip(RECIPES, cycle(RULES))])
def test_a_run_stopped_between_epochs_goes_on_bit_by_bit(kind, rule, data, tmp_path):
    recipe = recipe_of(kind, epochs=2, stop_on="dev", average=0.5, **rule)
    whole = run(recipe, data, tmp_path / "whole")
    assert same(gone_on(recipe, data, tmp_path / "parts"), whole)


# -- bundles


@pytest.fixture(scope="module", params=["pairs", "dependency"])
def trained(request, data, tmp_path_factory):
    recipe = recipe_of(
        request.param, epochs=2, stop_on="dev", seeds=(1, 2), export={"inference_only": True}
    )
    return train(recipe, data, tmp_path_factory.mktemp("out"))


def test_the_onnx_file_of_a_bundle_scores_as_its_model_does(trained):
    check_scores(trained)
    report = json.loads(trained.bundle.read("verification.json"))
    trees = {"relatedness.v1": 12, "phrases.v1": 10}[trained.recipe.task.name]
    assert [found["trees"] for found in report["onnx"]["development"]] == [trees, trees]


def test_a_bundle_of_plain_sentences_is_measured_as_it_runs(data, tmp_path):
    done = train(recipe_of("sequence", epochs=1, stop_on="dev"), data, tmp_path)
    predictor = thinstack.load(done.out / "model-best")
    figures = evaluate_file(predictor, data / (done.recipe.data.dev or ""))
    shipped = done.bundle.manifest.metrics["development"]
    assert (shipped["gold"], list(shipped)) == (figures, ["gold", "text"])
    seed = done.results["seeds"]["1"]["dev"]["gold"]
    assert figures["root_accuracy"] == seed["root_accuracy"]
    assert "Trees of raw words: none, it reads `sequence`." in done.card
    assert "| gold | this file |" in done.card
