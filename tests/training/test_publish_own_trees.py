"""A recipe of a model that parses, from its data to its bundle."""

import json
from pathlib import Path

import pytest
import tiny_recipe
from rich.console import Console

import thinstack
from thinstack.bundle import open_bundle
from thinstack.measure.evaluation import evaluate_file
from thinstack.training.run_recipe import run_recipe

KIND = {"model": {"encoder": {"tracker": {"size": 3, "lookahead": 2, "feeds": False}}}}


@pytest.fixture(scope="module", params=["self", "balanced"])
def trained(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, Path, Path]:
    """The tree source of a model, the folder of its data, and that of its run."""
    data = tiny_recipe.write_data(tmp_path_factory.mktemp("data"))
    out = tmp_path_factory.mktemp("out")
    kind = {"model": {**KIND["model"], "tree_source": request.param}}
    recipe = tiny_recipe.recipe(**kind, epochs=2, sources=("self",), stop_on="dev")
    run_recipe(recipe, data=data, out=out, seeds=(1, 2), threads=None, console=Console(quiet=True))
    return request.param, data, out


def test_the_bundle_parses_and_its_figures_are_those_of_evaluate(
    trained: tuple[str, Path, Path],
) -> None:
    source, data, out = trained
    bundle = open_bundle(out / "model-best")
    assert bundle.config.parses
    assert bundle.config.tree_source == source
    predictor = thinstack.load(bundle.path)
    shipped = bundle.manifest.metrics["development"]
    for name in ("gold", "auto"):
        assert evaluate_file(predictor, data / "dev.txt", source=name) == pytest.approx(
            shipped[name], abs=1e-3
        )
    own = evaluate_file(predictor, data / "dev.txt", source="self")
    seed = json.loads((out / "results.json").read_text())["seeds"][
        str(bundle.manifest.metrics["seed"])
    ]["dev"]
    for key in ("root_accuracy", "phrase_accuracy", "span_f1_with_root", "exact_trees"):
        assert own[key] == pytest.approx(seed["self"][key], abs=1e-3)
    assert (own == evaluate_file(predictor, data / "dev.txt", source="auto")) == (source == "self")


def test_the_card_names_the_trees_of_each_row_and_how_good_they_are(
    trained: tuple[str, Path, Path],
) -> None:
    source, _, out = trained
    card = (out / "model-best" / "README.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1].strip() for line in card.splitlines() if "| all seeds" in line]
    assert rows == (["gold", "auto"] if source == "self" else ["gold", "auto", "self"])
    figures = json.loads((out / "model-best" / "manifest.json").read_text())["metrics"][
        "development"
    ]["auto"]
    assert f"{figures['span_f1']:.2f}%" in card
    assert f"{figures['exact_trees']:.2f}%" in card


def test_every_epoch_is_watched_over_both_trees(trained: tuple[str, Path, Path]) -> None:
    _, _, out = trained
    records = [
        json.loads(line)
        for line in (out / "seeds" / "1" / "metrics.jsonl").read_text().splitlines()
    ]
    assert [set(record["watched"]) for record in records] == [{"gold", "self"}] * 2
    assert all(record["parsing_loss"] > 0 for record in records)
