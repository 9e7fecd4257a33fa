"""Where learning from a table starts unless a user names a bundle."""

import pytest
import tiny_texts

from thinstack.bundle import open_bundle
from thinstack.plugins.manager import manager
from thinstack.training import text_recipe as recipes
from thinstack.training.recipe import DataConfig
from thinstack.training.train_texts import start_line

TOPICS = ("delivery", "payment", "product")
SENTIMENT = ("negative", "neutral", "positive")
RATINGS = tuple("12345")
LINE = (
    "training starts from {}; {} is usually better for such labels "
    "(pip install ./models/thinstack-{} in a clone"
)


def task(name, **settings):
    kind = manager().find("task", f"{name}.v1").plugin
    more = {"format": "table.v1"} if name in ("relatedness", "entailment") else {}
    return kind.parse(more | settings, source="test")


@pytest.mark.parametrize(
    ("name", "labels", "installed", "start", "better"),
    [
        ("texts", TOPICS, (), "sentiment", "sentiment-context"),
        ("texts", TOPICS, ("vectors",), "vectors", "sentiment-context"),
        ("texts", TOPICS, ("vectors", "sentiment-context"), "sentiment-context", None),
        ("texts", SENTIMENT, ("vectors", "sentiment-context"), "sentiment", None),
        ("spans", TOPICS, ("vectors", "sentiment-context"), "sentiment", None),
        ("relatedness", RATINGS, (), "sentiment", "vectors"),
        ("entailment", TOPICS, ("vectors", "sentiment-context"), "vectors", None),
        ("aspects", SENTIMENT, ("vectors",), "aspects", None),
    ],
)
def test_the_best_start_that_is_installed(monkeypatch, name, labels, installed, start, better):
    monkeypatch.setattr(recipes, "is_installed", {"sentiment", *installed}.__contains__)
    learnt = task(name)
    assert recipes.default_start(learnt, labels, None) == start
    line = start_line(learnt, start, labels, None)
    if better is None:
        assert line == f"training starts from {start}"
    else:
        assert line.startswith(LINE.format(start, better, better))


@pytest.mark.parametrize(
    ("name", "keeps"), [("relatedness", True), ("entailment", True), ("texts", False)]
)
def test_pairs_alone_keep_the_vectors_of_the_start(tmp_path, name, keeps):
    vectors = {"name": "vector.v1", "options": {"size": 6}}
    start = open_bundle(tiny_texts.start(tmp_path / "start", vectors=vectors))
    files, more = DataConfig(train="t.csv", dev_share=0.1), {"texts": 100, "start": start}
    recipe = recipes.text_recipe("t", files, task(name), RATINGS, init="start", **more)
    assert (recipe.model.vectors is not None) == keeps
    assert ("vectors" in recipe.init.parts) == keeps
    assert recipe.model.labels == RATINGS
