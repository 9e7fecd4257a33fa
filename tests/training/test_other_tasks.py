"""Training dependency trees and sequences, up to the bundle."""

import json

import tiny_dependencies
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
