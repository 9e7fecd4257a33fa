"""`thinstack train` from a recipe of trees, dependency trees or sequences to the bundle."""

import hashlib
import io
import json
import shutil
from pathlib import Path

import pytest
import tiny_dependencies
import tiny_recipe
import torch
from huggingface_hub import ModelCard
from safetensors.torch import load
from tokenizers import Tokenizer
from trained import check_scores, train

import thinstack
from thinstack.bundle import open_bundle
from thinstack.bundle.weights import weights_of
from thinstack.data.trees.treebank import read_trees
from thinstack.errors import ConfigError, ExportError
from thinstack.evaluate.suite import halves, read_suite, suite_names
from thinstack.evaluate.suite_evaluation import evaluate_suite
from thinstack.evaluate.treebank_evaluation import evaluate_file
from thinstack.training import run_recipe
from thinstack.training.publish import assembly

TORCH_FILES = {"model.safetensors", "torchscript/model.pt"}


@pytest.fixture(scope="module")
def words(data, tmp_path_factory):
    recipe = tiny_recipe.recipe(vectors="words.txt", stop_on="held", seeds=(1, 2), epochs=2)
    return train(recipe, data, tmp_path_factory.mktemp("words"))


@pytest.fixture(scope="module")
def pieces(tmp_path_factory):
    """Trained on data whose development file has no sentence but neutral ones, so no binary
    case."""
    data = tiny_recipe.write_data(tmp_path_factory.mktemp("neutral"))
    (data / "dev.txt").write_text("(1 (1 the) (1 film))\n(1 (1 is) (1 film))\n", encoding="utf-8")
    export = {"inference_only": True, "quantize": "int8-tables", "gpu": True}
    model = {"tree_source": "left"}
    settings = {"vectors": "pieces.txt", "seeds": (4, 2), "epochs": 2, "sources": ("left",)}
    recipe = tiny_recipe.recipe("wordpieces", **settings, model=model, export=export)
    return train(recipe, data, tmp_path_factory.mktemp("pieces"))


@pytest.fixture(params=["words", "pieces"])
def trained(request):
    """Either."""
    return request.getfixturevalue(request.param)


@pytest.mark.filterwarnings("ignore:`torch.jit.load` is:DeprecationWarning")
def test_the_files_of_a_bundle_score_as_its_model_does(trained):
    check_scores(trained)


def test_the_bundle_is_that_of_the_best_seed_or_of_the_first(words, pieces):
    assert (list(pieces.results["seeds"]), pieces.results["exported_seed"]) == (["4", "2"], 4)
    assert pieces.bundle.manifest.metrics["seed"] == 4
    results = words.results
    records = {seed: found["epochs"] for seed, found in results["seeds"].items()}
    best = {seed: max(record["selection"] for record in part) for seed, part in records.items()}
    assert set(best) == {"1", "2"}
    assert best[str(results["exported_seed"])] == max(best.values())
    assert words.bundle.manifest.metrics["seed"] == results["exported_seed"]
    assert results["recipe"] == words.recipe.model_dump(mode="json")
    found = evaluate_file(thinstack.load(words.out / "model-best"), words.data / "dev.txt")
    assert found == pytest.approx(results["seeds"][str(results["exported_seed"])]["dev"]["gold"])


def test_manifest_and_card_say_what_evaluate_says(trained):
    metrics = trained.bundle.manifest.metrics
    card = trained.card
    predictor = thinstack.load(trained.out / "model-best")
    keys = ("root_accuracy", "root_binary_accuracy", "phrase_accuracy")
    for name, title in (("gold", "gold"), ("auto", "auto"), ("text", "auto, raw text")):
        source = "gold" if name == "gold" else "auto"
        file = trained.data / "dev.txt"
        figures = evaluate_file(predictor, file, source=source, text=name == "text")
        assert metrics["development"][name] == figures
        shown = " | ".join("-" if figures[key] is None else f"{figures[key]:.2f}" for key in keys)
        assert f"| {title} | this file | {shown} |" in card
    index = ModelCard(card).data.eval_results
    assert {one.metric_name: one.metric_value for one in index} == {
        f"accuracy, {what}, {trees}": round(metrics["development"][source][key] / 100, 4)
        for source, trees in (("gold", "gold trees"), ("auto", "auto trees"), ("text", "raw text"))
        for what, key in zip(("sentences", "sentences, binary", "phrases"), keys, strict=True)
        if metrics["development"][source][key] is not None
    }
    assert "Made up." in card
    assert trained.bundle.manifest.data == "Made up."


def test_card_and_results_have_the_reported_halves_of_the_suites(trained):
    predictor = thinstack.load(trained.out / "model-best")
    figures = {
        name: evaluate_suite(predictor, halves(read_suite(name), "reported")).figures
        for name in suite_names()
    }
    assert trained.bundle.manifest.metrics["suites"] == figures
    assert trained.results["suites"] == figures
    assert f"| `polarity` | total | {figures['polarity']['right']} | 256 |" in trained.card


def test_a_model_of_other_classes_has_no_suite(data, tmp_path):
    recipe = tiny_recipe.recipe(epochs=1, model={"labels": ["<b>bad", "[so](so)", "good"]})
    done = train(recipe, data, tmp_path)
    assert done.bundle.manifest.metrics["suites"] == {}
    assert "suites" not in done.results
    assert "suite" not in done.card
    assert "Classes: &lt;b&gt;bad, \\[so\\](so), good." in done.card, "labels are plain text"


def test_a_bundle_knows_what_classes_of_the_file_were_called(data, tmp_path):
    relabel = {"0": "negative", "1": "", "2": "positive"}
    model = {"labels": ["negative", "positive"]}
    recipe = tiny_recipe.recipe(epochs=1, data={"relabel": relabel}, model=model)
    done = train(recipe, data, tmp_path)
    assert done.bundle.relabel() == relabel
    figures = evaluate_file(thinstack.load(done.out / "model-best"), data / "dev.txt")
    assert 0 < figures["roots"] < len(read_trees(data / "dev.txt"))
    assert done.bundle.manifest.metrics["development"]["gold"] == figures
    assert "`thinstack evaluate BUNDLE DATA/dev.txt`" in done.card


def test_an_inference_only_bundle_has_no_weights_twice(words, pieces):
    common = {"config.json", "vocabulary.txt", "onnx/model.onnx"}
    common |= {"verification.json", "cases.json", "README.md"}
    assert set(words.bundle.manifest.files) == common | TORCH_FILES
    more = {"model.safetensors", "tokenizer.json", "onnx/model.gpu.onnx"}
    assert set(pieces.bundle.manifest.files) == common | more
    tokenizer = Tokenizer.from_str(pieces.bundle.read("tokenizer.json").decode())
    vocabulary = pieces.bundle.vocabulary()
    assert tuple(map(tokenizer.id_to_token, range(len(vocabulary)))) == vocabulary.entries
    stored = load(pieces.bundle.read("model.safetensors")).keys()
    assert not {"embedding.table", "head.linear.weight"} & stored


def test_exports_were_verified_on_the_whole_development_file(trained):
    report = json.loads(trained.bundle.read("verification.json"))
    quantize = trained.recipe.export.quantize
    assert report["onnx"]["quantization"] == quantize
    assert (report["onnx"]["max_deviation"] > 0) == (quantize == "int8-tables")
    trees = read_trees(trained.data / "dev.txt")
    runtimes = [found["runtime"] for found in report["onnx"]["development"]]
    assert runtimes == ["onnxruntime", "onnx.reference"]
    for found in report["onnx"]["development"]:
        assert (found["trees"], found["nodes"]) == (len(trees), sum(map(len, trees)))
        assert found["max_error"] <= 1e-5
    if not trained.recipe.export.inference_only:
        assert report["torchscript"]["cases"] > 0
        assert report["torchscript"]["mean_error"] <= report["torchscript"]["max_error"] <= 1e-5
        assert report["torchscript"]["version"] == torch.__version__
    else:
        assert "torchscript" not in report


def test_a_model_that_cannot_be_scripted_keeps_its_bundle(words, tmp_path, monkeypatch):
    def refuse(model):
        raise ExportError("Magic cannot be scripted: na\u00efve [red] :bug:")

    written = []
    write = assembly.write_bundle

    def watch(path, files, **described):
        written.append((Path(path), set(files)))
        return write(path, files, **described)

    monkeypatch.setattr(assembly, "export_torchscript", refuse)
    monkeypatch.setattr(assembly, "write_bundle", watch)
    output = io.TextIOWrapper(io.BytesIO(), encoding="ascii", write_through=True)
    shutil.copytree(words.out / "seeds", tmp_path / "seeds")
    shutil.copy(words.out / "recipe.json", tmp_path)
    train(words.recipe, words.data, tmp_path, file=output)
    printed = output.buffer.getvalue().decode("ascii")
    assert "no TorchScript file: Magic cannot be scripted: na\\xefve [red] :bug:" in printed
    bundle = open_bundle(tmp_path / "model-best")
    assert set(bundle.manifest.files) == set(words.bundle.manifest.files) - {"torchscript/model.pt"}
    assert "torchscript" not in json.loads(bundle.read("verification.json"))
    # A bundle is written once, and has its card from the first.
    ((path, names),) = written
    assert path == tmp_path / "model-best"
    assert "README.md" in names


def test_a_second_call_trains_nothing_and_gives_the_same(words, monkeypatch):
    before = words.results
    published = []

    def publish(*given, **_):
        published.append(given[2])
        return words.bundle

    monkeypatch.setattr(run_recipe, "publish", publish)
    assert "epoch" not in train(words.recipe, words.data, words.out).printed
    assert words.results == before
    assert weights_of(published[0].model) == words.bundle.read("model.safetensors")


@pytest.mark.parametrize("name", ["train.txt", "dev.txt", "words.txt"])
def test_work_on_data_that_have_changed_is_refused(words, tmp_path, name):
    data, out = shutil.copytree(words.data, tmp_path / "data"), tmp_path / "out"
    shutil.copytree(words.out / "seeds", out / "seeds")
    note = shutil.copy(words.out / "recipe.json", out)
    content = (data / name).read_bytes()
    assert json.loads(Path(note).read_text())["data"][name] == hashlib.sha256(content).hexdigest()
    more = content.splitlines(keepends=True)[0].replace(b"good", b"fine")
    (data / name).write_bytes(content + more)
    with pytest.raises(ConfigError, match=f"{name} changed"):
        train(words.recipe, data, out)
    assert not (out / "results.json").exists()


def test_a_recipe_that_could_not_start_may_be_mended_in_place(data, tmp_path):
    with pytest.raises(thinstack.ThinstackError):
        train(tiny_recipe.recipe(vectors="nowhere.txt"), data, tmp_path)
    with pytest.raises(thinstack.ThinstackError, match="unknown cell"):
        train(tiny_recipe.recipe(cell={"name": "magic.v1"}), data, tmp_path)


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


TRACKER = {"encoder": {"tracker": {"size": 3, "lookahead": 2, "feeds": False}}}


@pytest.fixture(scope="module", params=["self", "balanced"])
def parsing(request, tmp_path_factory):
    """A model that parses, of either tree source."""
    data = tiny_recipe.write_data(tmp_path_factory.mktemp("data"))
    settings = {"epochs": 2, "sources": ("self",), "stop_on": "dev", "seeds": (1, 2)}
    recipe = tiny_recipe.recipe(model={**TRACKER, "tree_source": request.param}, **settings)
    return train(recipe, data, tmp_path_factory.mktemp("out"))


def test_the_bundle_parses_and_its_figures_are_those_of_evaluate(parsing):
    bundle, source = parsing.bundle, parsing.recipe.model.tree_source
    assert bundle.config.parses
    assert bundle.config.tree_source == source
    predictor, file = thinstack.load(bundle.path), parsing.data / "dev.txt"
    shipped = bundle.manifest.metrics["development"]
    for name in ("gold", "auto"):
        found = evaluate_file(predictor, file, source=name)
        assert found == pytest.approx(shipped[name], abs=1e-3)
    own = evaluate_file(predictor, file, source="self")
    seed = parsing.results["seeds"][str(bundle.manifest.metrics["seed"])]["dev"]
    for key in ("root_accuracy", "phrase_accuracy", "span_f1_with_root", "exact_trees"):
        assert own[key] == pytest.approx(seed["self"][key], abs=1e-3)
    assert (own == evaluate_file(predictor, file, source="auto")) == (source == "self")


def test_every_epoch_is_watched_over_both_trees(parsing):
    lines = (parsing.out / "seeds" / "1" / "metrics.jsonl").read_text().splitlines()
    records = list(map(json.loads, lines))
    assert [set(record["watched"]) for record in records] == [{"gold", "self"}] * 2
    assert all(record["parsing_loss"] > 0 for record in records)
