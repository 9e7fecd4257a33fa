"""The temperature of a published model."""

import json
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import tiny_recipe
import tiny_texts
import torch
from runs import drawn, weights
from scipy.special import log_softmax, softmax
from torch import nn
from trained import check_scores, train

from thinstack.bundle.weights import load_model
from thinstack.core import Forest
from thinstack.errors import ExportError
from thinstack.evaluate.accuracy import calibration_error
from thinstack.training.examples.datasets import load_datasets
from thinstack.training.examples.example import Example
from thinstack.training.examples.labelled import LabelledForest
from thinstack.training.loop.measuring import scores_of
from thinstack.training.loop.seeds import run_seed
from thinstack.training.publish.calibrate import (
    Cases,
    calibrate,
    calibrated,
    fit_temperature,
    tempered,
)
from thinstack.training.tasks.texts import Texts


def cases(logits, gold):
    scores = softmax(logits, axis=1)
    return Cases(lambda t: tempered(scores, t), gold, np.arange(len(gold)) % 2)


def drawn_cases(sureness, count=4000):
    """Cases whose classes were drawn from the softmax of logits that are so many times as
    large as they should be."""
    draw = np.random.default_rng(0)
    logits = draw.normal(0, 1, (count, 3))
    gold = np.array([draw.choice(3, p=row) for row in softmax(logits, axis=1)])
    return cases(sureness * logits, gold)


@pytest.mark.parametrize("sureness", [0.5, 1.0, 3.0])
def test_the_temperature_of_drawn_classes_is_found(sureness):
    assert fit_temperature([drawn_cases(sureness)]) == pytest.approx(sureness, rel=0.1)


def test_kinds_count_the_same_however_many_cases_they_have():
    few, many = drawn_cases(0.5, 400), drawn_cases(2.0)

    def loss(temperature):
        found = 0.0
        for one in (few, many):
            logs = log_softmax(np.log(one.at(1.0)) / temperature, axis=1)
            found -= logs[np.arange(len(logs)), one.gold].mean()
        return found

    best = least(loss, np.linspace(0.3, 3, 2701))
    assert fit_temperature([few, many]) == pytest.approx(best, abs=2e-3)


def least(loss, tried):
    return tried[np.argmin([loss(each) for each in tried])]


def test_a_text_is_fitted_by_the_mean_of_its_sentences(monkeypatch):
    draw = np.random.default_rng(1)
    targets, counts = draw.integers(3, size=(300, 1)), [2, 1, 3] * 100
    logits = np.split(draw.normal(0, 4, (600, 3)), np.cumsum(counts)[:-1])
    scores = [softmax(rows, axis=1) for rows in logits]
    monkeypatch.setattr("thinstack.training.loop.measuring.scores_of", lambda *_, **__: scores)
    examples = []
    for count, target in zip(counts, targets, strict=True):
        forest = Forest(sizes=np.ones(count, int), lengths=np.ones(count, int))
        examples.append(Example({"gold": LabelledForest(forest, target, 0)}))
    (kind,) = Texts().cases(SimpleNamespace(class_sets=None), examples, "gold").values()

    def loss(temperature):
        means = [softmax(rows / temperature, axis=1).mean(0) for rows in logits]
        return -float(np.mean([np.log(mean[y]) for mean, y in zip(means, targets, strict=True)]))

    assert fit_temperature([kind]) == pytest.approx(
        least(loss, np.linspace(0.2, 10, 491)), abs=0.05
    )


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    data = tiny_recipe.write_data(tmp_path_factory.mktemp("data"), dev=61)
    recipe = tiny_recipe.recipe(vectors="words.txt", seeds=(1, 2), learning_rate=0.5)
    return train(recipe, data, tmp_path_factory.mktemp("out"))


@pytest.mark.filterwarnings("ignore:`torch.jit.load` is:DeprecationWarning")
def test_every_file_of_the_bundle_has_the_temperature_and_the_classes_stay(tiny):
    check_scores(tiny)
    datasets = load_datasets(tiny.recipe, tiny.data)
    seed = run_seed(tiny.recipe, datasets, 1, tiny.out / "seeds" / "1")  # from its checkpoint
    temperature = tiny.results["seeds"]["1"]["calibration"]["temperature"]
    assert abs(temperature - 1) > 0.05
    head, published = seed.model.head, load_model(tiny.bundle).head
    rows = torch.randn(50, 5)
    with torch.no_grad():
        logits = head(rows)
        torch.testing.assert_close(published(rows), logits / temperature)
        assert torch.equal(published.scores(rows).argmax(1), logits.argmax(1))


def test_what_is_reported_is_cross_fitted(tiny):
    """Each half was not seen by the temperature that it is scored with."""
    datasets = load_datasets(tiny.recipe, tiny.data)
    model = run_seed(tiny.recipe, datasets, 1, tiny.out / "seeds" / "1").model
    found = tiny.results["seeds"]["1"]["calibration"]
    examples = [wrong(one) if n % 2 == 0 else one for n, one in enumerate(datasets.dev)]
    changed = calibrate(model, examples, tiny.recipe)
    assert changed.of_halves[1] == pytest.approx(found["of_halves"][1])
    assert changed.of_halves[0] != pytest.approx(found["of_halves"][0], rel=1e-2)
    assert changed.temperature != pytest.approx(found["temperature"], rel=1e-2)
    assert found["cases"] == 61
    given = [example.trees["balanced"] for example in datasets.dev]
    rows = scores_of(model, datasets.dev, "balanced")
    others = [found["of_halves"][1 - number % 2] for number in range(61)]
    after = [
        softmax(np.log(each[one.whole]) / other)
        for each, one, other in zip(rows, given, others, strict=True)
    ]
    gold = np.array([one.targets[one.whole] for one in given])
    error = found["errors"]["root_calibration_error"]["after"]
    assert calibration_error(np.stack(after), gold) == pytest.approx(error, abs=1e-3)
    assert set(found["errors"]) == {"root_calibration_error", "phrase_calibration_error"}


def wrong(example):
    """The same with other classes."""
    trees = example.trees.items()
    return Example({name: one._replace(targets=(one.targets + 1) % 3) for name, one in trees})


@pytest.mark.parametrize(
    ("dev", "export", "reason"),
    [
        (49, {}, "there are 49 examples with a class, expected 50"),
        (60, {"calibrate": False}, "the recipe has export.calibrate = false"),
    ],
)
def test_without_a_temperature_the_model_stays_and_the_card_says_why(tmp_path, dev, export, reason):
    data = tiny_recipe.write_data(tmp_path / "data", dev=dev)
    recipe = tiny_recipe.recipe(epochs=1, export=export)
    done = train(recipe, data, tmp_path / "out")
    assert f"No temperature was fitted: {reason}.\n" in done.card
    found = done.results["seeds"]["1"]["calibration"]
    assert (found["temperature"], found["reason"]) == (None, reason)
    before = found["errors"]["root_calibration_error"]["before"]
    assert f"| sentences | {before:.2f} | - |" in done.card
    seed = run_seed(recipe, load_datasets(recipe, data), 1, tmp_path / "out" / "seeds" / "1")
    published = weights(load_model(done.bundle))
    assert all(np.array_equal(part, published[key]) for key, part in weights(seed.model).items())


class Shifts(nn.Module):
    """Parts of heads of third parties."""

    def __init__(self, head: Any, *, scales: bool):
        super().__init__()
        self.inner, self.scales, self.reads = head, scales, head.reads

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        return self.inner(rows) + torch.tensor([1.0, 0.0, 0.0])

    def scores(self, rows: torch.Tensor) -> torch.Tensor:
        return torch.softmax(self(rows), 1)

    def scale_logits(self, factor: float) -> bool:
        return self.scales and self.inner.scale_logits(factor)


def test_heads_that_do_not_scale_are_left_and_those_that_do_it_wrongly_refused(tmp_path):
    data = tiny_recipe.write_data(tmp_path, dev=60)
    recipe = tiny_recipe.recipe()
    datasets = load_datasets(recipe, data)
    model = drawn(recipe, datasets)
    head, before = model.head, weights(model)
    model.head = Shifts(head, scales=False)
    left = calibrate(model, datasets.dev, recipe)
    assert left.reason == "the head node_classifier.v1 has no scale_logits"
    assert calibrated(model, left, datasets.dev) is model
    model.head = Shifts(head, scales=True)
    found = calibrate(model, datasets.dev, recipe)
    with pytest.raises(ExportError, match="Shifts"):
        calibrated(model, found, datasets.dev)
    model.head = head
    assert all(np.array_equal(part, before[key]) for key, part in weights(model).items())


def test_texts_have_theirs(tmp_path):
    tiny_texts.table(tmp_path / "texts.csv", 240)
    tiny_texts.start(tmp_path / "start")
    recipe = tiny_texts.recipe(tmp_path / "start")
    datasets = load_datasets(recipe, tmp_path)
    found = calibrate(tiny_texts.drawn(recipe), datasets.dev, recipe)
    assert (found.trees, found.cases) == ("self", len(datasets.dev))
    assert found.temperature
    assert set(found.errors) == {"calibration_error"}
    json.dumps(found.errors)


def test_a_temperature_divides_logits():
    logits = np.random.default_rng(1).normal(0, 3, (20, 5))
    found = tempered(softmax(logits, axis=1), 1.7)
    np.testing.assert_allclose(found, softmax(logits / 1.7, axis=1), atol=1e-12)
    certain = tempered(np.array([[1, 0, 0]], np.float32), 0.1)
    np.testing.assert_allclose(certain, [[1, 0, 0]], atol=1e-12)
