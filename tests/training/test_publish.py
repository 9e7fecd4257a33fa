"""`thinstack train` from a recipe to the bundle, on thirty trees."""

import json
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
import tiny_recipe
import torch
from rich.console import Console

import thinstack
from thinstack.bundles import Bundle, open_bundle
from thinstack.config import Recipe
from thinstack.data.treebank import read_labelled
from thinstack.errors import ConfigError
from thinstack.evaluation import evaluate_file
from thinstack.models import load_model, weights_of
from thinstack.training import command
from thinstack.training.recipe import SeedResult

TORCH_FILES = {"model.safetensors", "torchscript/model.pt"}


@dataclass
class Trained:
    recipe: Recipe
    data: Path
    out: Path
    printed: str

    @property
    def bundle(self) -> Bundle:
        return open_bundle(self.out / "model-best")


def train(recipe: Recipe, data: Path, out: Path) -> Trained:
    console = Console(file=StringIO(), width=200)
    command.run(recipe, data=data, out=out, seeds=recipe.training.seeds, threads=None, console=console)
    return Trained(recipe, data, out, console.file.getvalue())  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_recipe.write_data(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def words(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Trained:
    recipe = tiny_recipe.recipe(vectors="words.txt", stop_on="held", seeds=(1, 2), epochs=2)
    return train(recipe, data, tmp_path_factory.mktemp("words"))


@pytest.fixture(scope="module")
def pieces(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    """Trained on data whose development file has no sentence but neutral ones, so no binary case."""
    data = tiny_recipe.write_data(tmp_path_factory.mktemp("neutral"))
    (data / "dev.txt").write_text("(1 (1 the) (1 film))\n(1 (1 is) (1 film))\n", encoding="utf-8")
    export = {"inference_only": True, "quantize": "int8"}
    model = {"tree_source": "distances"}
    recipe = tiny_recipe.recipe(
        "wordpieces", vectors="pieces.txt", epochs=2, sources=("distances",), model=model, export=export
    )
    return train(recipe, data, tmp_path_factory.mktemp("pieces"))


def test_the_bundle_scores_as_its_torch_model_does(words: Trained) -> None:
    predictor, model = thinstack.load(words.out / "model-best"), load_model(words.bundle)
    treebank = read_labelled(words.data / "dev.txt", words.recipe.model.labels)
    found = predictor.predict_trees([tree for tree, _ in treebank])
    for (tree, _), prediction in zip(treebank, found, strict=True):
        with torch.no_grad():
            nodes, _ = model(torch.tensor(predictor.vocabulary.ids(tree.words)), torch.tensor(tree.transitions.tolist()))
        np.testing.assert_allclose(prediction.scores, nodes.numpy(), atol=1e-5)


def test_the_bundle_is_that_of_the_best_seed(words: Trained) -> None:
    results = json.loads((words.out / "results.json").read_text(encoding="utf-8"))
    selections = {seed: max(record["selection"] for record in found["epochs"]) for seed, found in results["seeds"].items()}
    assert set(selections) == {"1", "2"}
    assert selections[str(results["best_seed"])] == max(selections.values())
    assert words.bundle.manifest.metrics["seed"] == results["best_seed"]
    assert results["recipe"] == words.recipe.model_dump(mode="json")
    best = evaluate_file(thinstack.load(words.out / "model-best"), words.data / "dev.txt")
    assert best == pytest.approx(results["seeds"][str(results["best_seed"])]["dev"]["gold"])


@pytest.mark.parametrize("kind", ["words", "pieces"])
def test_manifest_and_card_say_what_evaluate_says(kind: str, request: pytest.FixtureRequest) -> None:
    trained: Trained = request.getfixturevalue(kind)
    metrics = trained.bundle.manifest.metrics
    card = (trained.out / "model-best" / "README.md").read_text(encoding="utf-8")
    predictor = thinstack.load(trained.out / "model-best")
    for source in ("gold", "auto"):
        figures = evaluate_file(predictor, trained.data / "dev.txt", source=source)
        assert metrics["development"][source] == figures
        keys = ("root_accuracy", "root_binary_accuracy", "phrase_accuracy")
        assert (
            f"| {source} | this file | {' | '.join('-' if figures[key] is None else f'{figures[key]:.2f}' for key in keys)} |"
            in card
        )
    assert "Made up." in card
    assert trained.bundle.manifest.data == "Made up."


def test_figures_over_no_case_are_null_in_json(pieces: Trained) -> None:
    results = json.loads((pieces.out / "results.json").read_text(encoding="utf-8"), parse_constant=pytest.fail)
    assert results["dev"]["gold"]["root_binary_accuracy"] == {"mean": None, "std": None}
    assert pieces.bundle.manifest.metrics["development"]["gold"]["root_binary_accuracy"] is None


def test_an_inference_only_bundle_has_no_torch_files(words: Trained, pieces: Trained) -> None:
    common = {"config.json", "vocabulary.txt", "onnx/model.onnx", "verification.json", "cases.json", "README.md"}
    assert set(words.bundle.manifest.files) == common | TORCH_FILES
    assert set(pieces.bundle.manifest.files) == common | {"distances.json"}
    report = json.loads(pieces.bundle.read("verification.json"))
    assert (report["quantization"], report["max_deviation"] > 0) == ("int8", True)


@pytest.mark.filterwarnings("ignore:`torch.jit.load` is:DeprecationWarning")
def test_the_scripted_model_answers_as_the_bundle_does(words: Trained) -> None:
    predictor = thinstack.load(words.out / "model-best")
    scripted = torch.jit.load(str(words.out / "model-best" / "torchscript" / "model.pt"))
    sentence = ["the", "film", "is", "never", "dull"]
    steps = predictor.tree_maker()(sentence)
    nodes, _ = scripted(torch.tensor(predictor.vocabulary.ids(sentence)), torch.tensor(steps.tolist()))
    np.testing.assert_allclose(nodes.numpy(), predictor.node_scores([sentence], [steps])[0], atol=1e-5)


def test_what_is_printed_is_the_final_table(words: Trained) -> None:
    results = json.loads((words.out / "results.json").read_text(encoding="utf-8"))
    assert "words" not in results
    for source in ("gold", "balanced"):
        found = results["dev"][source]["phrase_accuracy"]
        values = [results["seeds"][seed]["dev"][source]["phrase_accuracy"] for seed in ("1", "2")]
        assert found["mean"] == pytest.approx(np.mean(values))
        assert f"{found['mean']:.2f} ± {found['std']:.2f}" in words.printed
        assert all(f"{value:.2f}" in words.printed for value in values)


def test_a_second_call_trains_nothing_and_gives_the_same(words: Trained, monkeypatch: pytest.MonkeyPatch) -> None:
    before = (words.out / "results.json").read_bytes()
    published: list[SeedResult] = []
    monkeypatch.setattr(command, "publish", lambda recipe, vocabulary, best, figures, **_: published.append(best))
    assert "epoch" not in train(words.recipe, words.data, words.out).printed
    assert (words.out / "results.json").read_bytes() == before
    assert weights_of(published[0].model) == words.bundle.read("model.safetensors")


def test_the_folder_of_another_recipe_is_refused(words: Trained) -> None:
    other = tiny_recipe.recipe(vectors="words.txt", stop_on="held", seeds=(1, 2), epochs=3)
    before = {path: path.read_bytes() for path in words.out.rglob("*") if path.is_file()}
    with pytest.raises(ConfigError, match="holds the work of another recipe"):
        train(other, words.data, words.out)
    assert {path: path.read_bytes() for path in words.out.rglob("*") if path.is_file()} == before


def test_a_recipe_that_could_not_start_may_be_mended_in_place(data: Path, tmp_path: Path) -> None:
    with pytest.raises(thinstack.ThinstackError):
        train(tiny_recipe.recipe(vectors="nowhere.txt"), data, tmp_path)
    with pytest.raises(thinstack.ThinstackError, match="unknown cell"):
        train(tiny_recipe.recipe(cell={"name": "magic.v1"}), data, tmp_path)
