"""Learning from texts: their loss, what starts from a bundle, and what stays as it is."""

import csv
from types import SimpleNamespace

import numpy as np
import pytest
import tiny_texts
import torch
from runs import run

import thinstack
from thinstack.bundle import open_bundle
from thinstack.bundle.weights import load_model, state_of
from thinstack.errors import ConfigError, DataError
from thinstack.training.examples.datasets import load_datasets
from thinstack.training.examples.example import minibatch
from thinstack.training.loop.initial import start_from
from thinstack.training.loop.losses import near_classes, text_losses
from thinstack.training.loop.measuring import take_own_trees
from thinstack.training.recipe import Recipe
from thinstack.training.task import Step


@pytest.fixture
def folder(tmp_path):
    tiny_texts.table(tmp_path / "texts.csv")
    tiny_texts.start(tmp_path / "start")
    return tmp_path


def recipe_of(folder, **settings):
    return tiny_texts.recipe(folder / "start", **settings)


@pytest.mark.parametrize("head", ["root_classifier.v1", "node_classifier.v1"])
def test_the_loss_is_of_the_mean_over_sentences_by_their_words(folder, head):
    recipe = recipe_of(folder, model={"head": {"name": head}})
    datasets, model = load_datasets(recipe, folder), tiny_texts.drawn(recipe).eval()
    take_own_trees(model, datasets.train)
    batch = minibatch(datasets.train[:5], ["self"] * 5)
    (loss, parsing), counts = text_losses(Step(model, batch, recipe.training))
    expected = 0.0
    for text, example in zip(datasets.items[0], datasets.train[:5], strict=False):
        scores = model(model.inputs(example.trees["self"].forest))["root_scores"].detach().numpy()
        weights = [len(words) for words in text.sentences]
        mean = sum(w * row for w, row in zip(weights, scores, strict=True)) / sum(weights)
        expected -= np.log(mean[recipe.model.labels.index(text.label)])
    assert len({len(text.sentences) for text in datasets.items[0][:5]}) > 1
    assert float(loss.detach()) == pytest.approx(expected, rel=1e-5)
    assert (float(parsing), counts) == (0, (5, 0))


def test_neighbours_of_a_class_get_a_share_of_its_target(folder):
    shares = near_classes(torch.tensor([0, 1, 3]), 4, 0.2)
    expected = [[0.8, 0.2, 0, 0], [0.1, 0.8, 0.1, 0], [0, 0, 0.2, 0.8]]
    assert torch.allclose(shares, torch.tensor(expected))
    recipe = recipe_of(folder)
    model, datasets = tiny_texts.drawn(recipe).eval(), load_datasets(recipe, folder)
    batch = minibatch(datasets.train[:4], ["gold"] * 4)
    losses = []
    for targets, share in ((batch.targets, 0.0), (1 - batch.targets, 0.0), (batch.targets, 0.2)):
        batch = batch._replace(targets=targets)
        found = text_losses(Step(model, batch, recipe.training), neighbours=share)
        losses.append(float(found[0][0].detach()))
    assert losses[2] == pytest.approx(0.8 * losses[0] + 0.2 * losses[1], rel=1e-5)


def test_the_penalty_is_the_divergence_from_the_start_over_phrases(folder):
    head = {"name": "node_classifier.v1"}
    recipe = recipe_of(folder, model={"head": head}, phrase_penalty=0.5)
    datasets, model = load_datasets(recipe, folder), tiny_texts.drawn(recipe).eval()
    other = type(model)(
        embedding=model.embedding, encoder=model.encoder, head=tiny_texts.drawn(recipe).head
    ).eval()
    with torch.no_grad():
        other.head.linear.weight.normal_(0, 9)
    batch = minibatch(datasets.train[:4], ["gold"] * 4)
    with_it, without = (
        recipe.task.loss(Step(model, batch, recipe.training, start))[0][0].item()
        for start in (other, None)
    )
    p, q = (
        each(each.inputs(batch.forest))["node_scores"].detach().numpy() for each in (other, model)
    )
    inner = np.delete(np.arange(len(p)), np.cumsum(batch.forest.sizes) - 1)
    divergence = (p * np.log(p / q)).sum(1)[inner].mean()
    assert divergence > 0.01
    assert with_it - without == pytest.approx(0.5 * 4 * divergence, rel=1e-4)


def test_it_starts_from_the_bundle_and_the_parser_stays(folder):
    recipe = recipe_of(folder)
    given, model = state_of(load_model(folder / "start")), tiny_texts.drawn(recipe)
    start_from(model, recipe.init)
    assert all(
        torch.equal(value, given[name]) == (not name.startswith("head."))
        for name, value in state_of(model).items()
    )
    weights = run(recipe, folder, folder / "out")[0]
    moved = {name for name, value in weights.items() if not np.array_equal(value, given[name])}
    parser = {name for name in weights if name.startswith("encoder.parser.")}
    assert parser
    assert moved == weights.keys() - parser


def test_figures_are_of_texts(folder):
    long = "The plot of the film the plot is the film the plot"
    tiny_texts.table(folder / "texts.csv", subjects=("It", long))
    recipe = recipe_of(folder)
    datasets, model = load_datasets(recipe, folder), tiny_texts.drawn(recipe).eval()
    with torch.no_grad():
        model.head.linear.weight.normal_(0, 99)  # so that sentences of a text disagree
    figures, answers = recipe.task.measure(model, datasets.train, "self", ("down", "up"))
    alike = 0
    for example, found in zip(datasets.train, answers.predicted, strict=True):
        forest = example.trees["self"].forest
        scores = model(model.inputs(forest))["root_scores"].detach().numpy()
        assert found == (forest.lengths @ scores).argmax()
        alike += found == scores.sum(0).argmax()
    assert alike < len(datasets.train)  # their words count
    assert figures["texts"] == len(datasets.items[0]) == len(answers.gold)
    gold = [recipe.model.labels.index(text.label) for text in datasets.items[0]]
    assert answers.gold.tolist() == gold
    assert figures["accuracy"] == 100 * np.mean(answers.predicted == gold)


def test_figures_of_a_bundle_are_of_the_labels_that_it_gives(folder, monkeypatch):
    recipe, best = recipe_of(folder), SimpleNamespace()
    datasets, labels = load_datasets(recipe, folder), recipe.model.labels
    gold = np.array([labels.index(text.label) for text in datasets.items[1]])
    monkeypatch.setattr(
        "thinstack.training.tasks.texts.text_scores", lambda *_: np.eye(2)[1 - gold]
    )
    predictor = SimpleNamespace(score_texts=lambda texts: [], view=best)
    for answer, accuracy in ((gold, 100), (1 - gold, 0)):
        best.best = lambda scores, answer=answer: answer
        figures = recipe.task.measure_bundle(predictor, recipe, datasets)["text"]
        assert figures["accuracy"] == accuracy


def test_without_a_bundle_vectors_of_thinstack_and_balanced_trees(folder):
    recipe = tiny_texts.recipe(None)
    datasets = load_datasets(recipe, folder)
    assert datasets.table.shape == (30522, 4)
    transitions = datasets.train[0].gold.forest.transitions.tolist()
    assert transitions[:5] in ([0, 0, 1, 0, 0], [0, 0, 1, 0, 1])
    run(recipe, folder, folder / "out")


@pytest.mark.parametrize(
    ("model", "init", "problem"),
    [
        ({"cell": {"name": "nary_lstm.v1", "hidden_size": 6}}, {}, "shape"),
        ({"cell": {"name": "s_lstm.v1", "hidden_size": 5}}, {}, "encoder of .*they differ in"),
        ({"embedding": {"kind": "words", "size": 4}}, {}, "embedding.kind = 'wordpieces'"),
        ({}, {"parts": ["encoder", "parser"]}, "add it"),
        ({}, {"parts": ["embedding", "encoder"]}, "cannot train a parser"),
    ],
)
def test_a_bundle_that_does_not_fit_is_refused(folder, model, init, problem):
    def use():
        raw = recipe_of(folder, model=model).model_dump(mode="json", exclude_defaults=True)
        raw["init"] |= init
        recipe = Recipe.parse(raw, source="test")
        load_datasets(recipe, folder)
        start_from(tiny_texts.drawn(recipe), recipe.init)

    with pytest.raises(ConfigError, match=problem):
        use()


# -- rows in memory, as those of a table


@pytest.mark.usefixtures("short_samples")
def test_rows_are_any_mappings(tmp_path):
    start = tiny_texts.start(tmp_path / "start")
    with tiny_texts.table(tmp_path / "t.csv", 12).open(encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    rows = [{"review": row["text"], "up": row["label"] == "up"} for row in table]
    out = tmp_path / "out"
    parts = {"dev": rows[:6], "add": iter([{"review": rows[0]["review"].upper(), "up": "odd"}])}
    settings = {"text": "review", "label": "up", "init": str(start)}
    predictor = thinstack.train_texts(iter(rows), out=out, **settings, **parts)
    labels = open_bundle(out / "model-best").config.labels
    assert labels == predictor.labels == ("false", "odd", "true")
    with pytest.raises(DataError, match=r"rows:1: .*|column 'text'"):
        thinstack.train_texts(rows, label="up", out=tmp_path / "other")
