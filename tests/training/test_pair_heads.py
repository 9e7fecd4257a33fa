"""Heads of pairs that another package registers: trained, exported, and run without it."""

from importlib.metadata import EntryPoint

import numpy as np
import pytest
import tiny_texts
import torch
from torch import nn
from trained import train
from training.test_pair_tables import recipe_of, rows

import thinstack
from thinstack.errors import ConfigError
from thinstack.plugins import TaskHead, build
from thinstack.plugins.manager import PluginManager


class Apart(TaskHead):
    """Softmax of a linear function of |a - b|."""

    name = "apart.v1"

    def __init__(self, *, hidden_size: int, classes: int):
        super().__init__(hidden_size=hidden_size, classes=classes, reads="pairs")
        self.linear = nn.Linear(hidden_size, classes)

    def forward(self, rows):
        return self.linear((rows[:, : self.hidden_size] - rows[:, self.hidden_size :]).abs())

    def scores(self, rows):
        return torch.softmax(self.forward(rows), 1)

    def loss(self, logits, labels):
        return nn.functional.cross_entropy(logits, labels, reduction="sum")


class Rated(Apart):
    """The same, of ratings."""

    name = "rated.v1"
    rates = True

    def loss(self, logits, labels):
        means = torch.softmax(logits, 1) @ torch.arange(1.0, self.classes + 1)
        return ((means - labels) ** 2).sum()


@pytest.fixture
def package(monkeypatch):
    names = ("Apart", "Rated")
    points = [EntryPoint(name, f"{__name__}:{name}", "thinstack") for name in names]
    plugins = PluginManager(entry_points=points)
    monkeypatch.setattr(build, "manager", lambda: plugins)
    return monkeypatch


def recipe(folder, task, head):
    tiny_texts.write_table(folder / "pairs.csv", rows())
    start = tiny_texts.start(folder / "start", aggregation="tree")
    model = {"head": {"name": head}, "aggregation": "tree"}
    settings = {
        "model": model,
        "training": {"epochs": 12, "seeds": (1,)},
        "data": {"dev_share": 0.1},
    }
    return recipe_of(folder, task, start, **settings)


@pytest.mark.usefixtures("short_samples")
@pytest.mark.parametrize(
    ("task", "head"), [("entailment", "apart.v1"), ("relatedness", "rated.v1")]
)
def test_trained_and_run_without_its_package(tmp_path, package, task, head):
    bundle = train(recipe(tmp_path, task, head), tmp_path, tmp_path / "out").bundle
    package.undo()
    assert (bundle.config.head.name, bundle.reads_pairs) == (head, True)
    model, table = thinstack.load(bundle.path, threads=1), rows()
    results = model.pairs(*([row[side] for row in table] for side in ("text_a", "text_b")))
    if task == "entailment":
        right = [one.label == row["label"] for one, row in zip(results, table, strict=True)]
        assert (np.mean(right) > 0.7, {one.rating for one in results}) == (True, {None})
        return
    ratings = np.array([one.rating for one in results])
    means = [sum(int(step) * share for step, share in one.scores.items()) for one in results]
    np.testing.assert_allclose(ratings, means, rtol=0, atol=1e-5)
    assert {one.label for one in results} == {None}
    assert np.corrcoef(ratings, [row["score"] for row in table])[0, 1] > 0.7


@pytest.mark.parametrize(
    ("task", "head"), [("entailment", "rated.v1"), ("relatedness", "apart.v1")]
)
def test_a_head_that_learns_something_else_is_refused(tmp_path, package, task, head):
    with pytest.raises(ConfigError, match=rf"needs a head with rates = .*{head} has"):
        train(recipe(tmp_path, task, head), tmp_path, tmp_path / "out")
