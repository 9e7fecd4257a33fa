"""A table whose labels are sets of the classes of the start: what is learnt, shown and kept."""

import io
import json

import numpy as np
import pytest
import tiny_texts
from one_export import shorten_samples
from rich.console import Console

import thinstack
from thinstack.core.scale import FIVE
from thinstack.errors import ConfigError
from thinstack.training.examples.datasets import load_datasets
from thinstack.training.examples.example import minibatch
from thinstack.training.loop.losses import text_losses
from thinstack.training.recipe import Recipe
from thinstack.training.task import Step
from thinstack.training.text_recipe import TableOptions
from thinstack.training.train_texts import train_table

SETS = {"down": FIVE[:2], "up": FIVE[3:]}
HEAD = {"name": "node_classifier.v1"}


def recipe_of(folder):
    tiny_texts.table(folder / "texts.csv")
    tiny_texts.start(folder / "start", labels=FIVE)
    model = {"labels": FIVE, "class_sets": SETS, "head": HEAD}
    return tiny_texts.recipe(folder / "start", model=model)


def test_the_loss_compares_the_masses_of_the_sets(tmp_path):
    recipe = recipe_of(tmp_path)
    datasets, model = load_datasets(recipe, tmp_path), tiny_texts.drawn(recipe).eval()
    examples = datasets.train[:4]
    batch = minibatch(examples, ["gold"] * 4)
    (loss, _), _ = text_losses(Step(model, batch, recipe.training))
    expected = 0.0
    for text, example in zip(datasets.items[0][:4], examples, strict=True):
        forest = example.gold.forest
        roots = model(model.inputs(forest))["root_scores"].detach().numpy()
        five = forest.lengths @ roots / forest.lengths.sum()
        both = {"down": five[0] + five[1], "up": five[3] + five[4]}
        expected -= np.log(both[text.label] / (both["down"] + both["up"]))
    assert float(loss.detach()) == pytest.approx(expected, rel=1e-5)
    figures, answers = recipe.task.measure(model, datasets.train, "self", ("down", "up"))
    assert figures["texts"] == len(datasets.train)
    assert set(answers.gold.tolist()) == {0, 1}


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sets")
    tiny_texts.start(folder / "start", labels=FIVE)
    table = tiny_texts.table(folder / "t.csv", 60)
    text = table.read_text("utf-8").replace(",up", ",good").replace(",down", ",bad")
    table.write_text(text, "utf-8")
    (folder / "test.csv").write_text(text, "utf-8")
    out, file = folder / "out", io.StringIO()
    options = TableOptions(test=folder / "test.csv", init=str(folder / "start"), epochs=3)
    with pytest.MonkeyPatch.context() as patch:
        shorten_samples(patch)
        advice = train_table(table, out, options, console=Console(file=file, width=200))
    return "\n".join([file.getvalue(), *advice]), out


def test_a_table_of_bad_and_good_keeps_phrases_and_classes(trained):
    printed, out = trained
    assert "bad is very negative or negative; good is positive or very positive" in printed
    assert "--no-scale" in printed
    assert "not their phrases" not in printed
    config = json.loads((out / "model-best" / "config.json").read_text("utf-8"))
    assert (config["schema_version"], config["labels"]) == (1, list(FIVE))
    assert config["class_sets"] == {"bad": list(FIVE[:2]), "good": list(FIVE[3:])}
    model = thinstack.load(out / "model-best")
    result = model("The film is good. The plot is dull.")
    assert (model.labels, set(result.scores)) == (("bad", "good"), {"bad", "good"})
    assert len(result.phrases) == 2 * 5 * 2 - 2
    five = thinstack.load(out / "model-best", classes=5)("The film is good.").sentences[0]
    both = model("The film is good.").sentences[0]
    heavy, light = config["class_weights"]
    bad = heavy * five.node_scores[:, :2].sum(1)
    good = light * five.node_scores[:, 3:].sum(1)
    np.testing.assert_allclose(both.node_scores[:, 1], good / (bad + good), rtol=1e-5)
    assert both.polarity == pytest.approx(
        float(both.node_scores[-1] @ np.array([-0.75, 0.75])), rel=1e-5
    )


def test_figures_of_the_test_file_stand_by_themselves(trained):
    printed, out = trained
    results = json.loads((out / "results.json").read_text("utf-8"))
    (figures,) = results["seeds"]["1"]["test"].values()
    assert figures["texts"] == 60
    assert results["test"]["self"]["accuracy"]["mean"] == figures["accuracy"]
    curve = [epoch["traced"]["self"]["accuracy"] for epoch in results["seeds"]["1"]["epochs"]]
    assert len(curve) == 3
    card = (out / "model-best" / "README.md").read_text("utf-8")
    assert "held-out data" in card
    assert "bad is very negative or negative" in card
    assert "95% interval" in card
    assert "95% interval" in printed


def test_sets_of_other_classes_are_refused(tmp_path):
    raw = recipe_of(tmp_path).model_dump(mode="json", exclude_defaults=True)
    raw["model"]["class_sets"] = {"a": ["good"], "b": ["positive"]}
    with pytest.raises(ConfigError, match=r"class_sets.*'good'"):
        Recipe.parse(raw, source="test")


def test_a_table_of_these_labels_is_evaluated_as_it_stands(trained, cli, tmp_path):
    bundle = trained[1] / "model-best"
    figures = cli("evaluate", bundle, trained[1].parent / "test.csv", "--json").json
    assert figures["texts"] == 60
    results = json.loads((trained[1] / "results.json").read_text("utf-8"))
    measured = results["seeds"]["1"]["test"]["self"]["accuracy"]
    assert figures["accuracy"] == pytest.approx(measured, abs=2)
    five = cli("predict", "--model", bundle, "--classes", 5, "The film is good.")
    assert (five.code, "very positive" in five.out) == (0, True)
    own = cli("predict", "--model", bundle, "The film is good.")
    assert (own.err, "very" in own.out) == ("", False)
    suite = cli("evaluate", bundle, "--suite", "polarity", "--json")
    assert suite.code == 0
