"""The recipe that is written for a table."""

import tomllib
from types import SimpleNamespace

import numpy as np
import pytest
import tiny_texts
from tiny_encoder import OPTIONS, WIDTH

from thinstack.bundle import open_bundle
from thinstack.errors import ConfigError, DataError, UnknownNameError
from thinstack.plugins.manager import manager
from thinstack.training import text_recipe as recipes
from thinstack.training.examples.inputs import Inputs
from thinstack.training.publish.calibrate import fit_weights
from thinstack.training.recipe import DataConfig, Recipe
from thinstack.training.run_recipe import SEEDS_FOLDER
from thinstack.training.tasks.texts import Texts
from thinstack.training.text_recipe import TableOptions, table_recipe, text_recipe
from thinstack.training.train_texts import _toml, _write_recipe, commented, start_line

FILES = DataConfig(train='a "b".csv', dev_share=0.1)
TASK = Texts(text_column="Überschrift\x7f")


def made(labels=("x", "y"), **settings):
    said = {name: settings.pop(name) for name in ("scale", "epochs") if name in settings}
    settings = {"texts": 5000, "init": "sentiment", "options": TableOptions(**said), **settings}
    return text_recipe("mine", FILES, TASK, labels, **settings)


@pytest.mark.parametrize("init", ["sentiment", "none"])
def test_what_is_written_is_the_recipe(tmp_path, init):
    recipe = made(init=init)
    (tmp_path / "r.toml").write_text(commented(recipe, first="How\nto run it"), encoding="utf-8")
    assert Recipe.read(tmp_path / "r.toml") == recipe
    lines = (tmp_path / "r.toml").read_text(encoding="utf-8").splitlines()
    assert lines[:2] == ["# How", "# to run it"]
    fields = [n for n, line in enumerate(lines) if " = " in line and not line.startswith("#")]
    assert fields
    assert all(lines[n - 1].startswith("# ") for n in fields)


def test_a_run_goes_on_with_other_comments_and_not_with_other_settings(tmp_path):
    text, note = commented(made(), first="How to run it"), tmp_path / "recipe.toml"
    (tmp_path / SEEDS_FOLDER).mkdir()
    note.write_text(text.replace("# ", "# Once: "), "utf-8")
    _write_recipe(tmp_path, text, tmp_path)
    assert note.read_text("utf-8") == text
    note.write_text(text.replace('name = "mine"', 'name = "other"'), "utf-8")
    with pytest.raises(ConfigError, match="an edited one"):
        _write_recipe(tmp_path, text, tmp_path)


def test_learning_starts_from_the_parts_of_the_bundle():
    recipe, start = made(), open_bundle("sentiment").config
    assert recipe.init.parts == ("embedding", "encoder", "parser")
    assert recipe.init.frozen == ("parser",)
    assert (start.aggregation, recipe.model.aggregation) == ("tree", "mean")
    assert (recipe.model.cell, recipe.model.parser) == (start.cell, start.parser)
    assert recipe.model.head.name == "root_classifier.v1"
    assert recipe.training.trees == ("self",)


def test_the_labels_of_the_bundle_keep_its_phrases():
    start = open_bundle("sentiment").config
    recipe = made(start.labels)
    assert "head" in recipe.init.parts
    assert recipe.model.head.name == start.head.name
    assert recipe.task.keeps_start
    assert recipe.model.class_sets == {}


def test_a_scale_of_sentiment_is_learnt_by_the_classes_of_the_bundle():
    start = open_bundle("sentiment").config
    recipe = made(("bad", "good"))
    assert recipe.model.aggregation == "mean"
    assert (recipe.model.labels, recipe.model.shown_labels) == (start.labels, ("bad", "good"))
    assert "head" in recipe.init.parts
    assert (recipe.task.keeps_start, recipe.task.neighbours) == (True, 0)
    for other in (made(("bad", "good"), scale=False), made(("bad", "good"), init="none")):
        assert (other.model.labels, other.model.class_sets) == (("bad", "good"), {})
        assert not other.task.keeps_start


def test_without_a_bundle_nothing_of_one_is_left():
    recipe = made(init="none")
    assert recipe.init is None
    assert (recipe.data.vectors, recipe.model.tree_source) == ("wordpieces", "balanced")
    assert recipe.training.trees == ("gold",)


@pytest.mark.parametrize(("texts", "epochs"), [(10, 20), (6000, 20), (12000, 10), (10**6, 4)])
def test_many_texts_take_fewer_epochs_and_enough_of_them_choose_one(texts, epochs):
    assert made(texts=texts).training.epochs == epochs
    assert made(texts=texts, epochs=7).training.epochs == 7
    for watched, stop_on in ((199, "nothing"), (200, "dev")):
        assert made(texts=texts, watched=watched).training.stop_on == stop_on


def test_texts_with_several_terms_count_once(tmp_path):
    places = [f"{k},{k + 4},{'positive' if k % 2 else 'negative'}" for k in range(4)]
    rows = [f"good {n} bad film,{place}\n" for n in range(600) for place in places]
    (tmp_path / "t.csv").write_text("text,start,end,label\n" + "".join(rows), "utf-8")
    options = TableOptions(task="aspects", init="sentiment")
    made = table_recipe(tmp_path / "t.csv", "mine", options, Inputs.of(tmp_path))
    assert made.training.stop_on == "nothing"
    assert DataConfig(train="t", dev=str(tmp_path / "d.csv")).reported == "d.csv"


def test_an_embedding_says_how_it_learns_on(tmp_path):
    embedding = {"kind": "wordpieces", "name": "transformer.v1", "size": WIDTH, "options": OPTIONS}
    bundle = str(tiny_texts.start(tmp_path / "b", embedding=embedding))
    found, own = made(init=bundle, texts=10), made(("bad", "so-so", "good"), init=bundle)
    assert (found.training.rule, found.training.epochs) == ("adamw", 12)
    assert (found.training.encoder_learning_rate, found.export.quantize) == (1e-4, "int8")
    assert own.training.encoder_learning_rate == 3e-5


def test_a_name_is_made_fit(tmp_path):
    names = {"my reviews!": "my-reviews", "...": "texts", "a.b": "a.b"}
    found = {text_recipe(name, FILES, TASK, "xy", texts=9, init="none").name for name in names}
    assert found == set(names.values())


def test_a_bundle_to_start_from_is_one_of_binary_trees(tmp_path):
    bundle = tiny_texts.start(tmp_path / "b", trees="constituency", parser=None)
    with pytest.raises(ConfigError, match="found constituency trees"):
        made(init=str(bundle))
    with pytest.raises(UnknownNameError, match="sentiment"):
        made(init="stt")


# -- corrections


def test_saved_corrections_are_read_as_they_were_written(tmp_path):
    settings = {"encoding": "cp1252", "separator": ";", "header": False}
    task = Texts(text_column="1", label_column="2", **settings)
    saved, own = tmp_path / "corrections.csv", tmp_path / "own.csv"
    saved.write_text("1,2\nDas café,bad\n", encoding="utf-8")
    own.write_text("Das café;bad\n", encoding="cp1252")
    for file in (saved, own):
        (row,) = task.for_corrections(file).rows(file)
        assert [*row.values.values()] == ["Das café", "bad"]
    with pytest.raises(DataError, match=r"lost\.csv: cannot be read: No such file"):
        list(task.for_corrections(tmp_path / "lost.csv").rows(tmp_path / "lost.csv"))


def test_a_label_that_is_corrected_away_is_no_class(tmp_path):
    rows = "".join(f"Film {n},{label}\n" for n, label in enumerate(["good", "bad"] * 5))
    (tmp_path / "t.csv").write_text(f"text,label\n{rows}Dull,badd\n", encoding="utf-8")
    (tmp_path / "more.csv").write_text("text,label\ndull,bad\n", encoding="utf-8")
    options = TableOptions(add=tmp_path / "more.csv", init="none")
    recipe = table_recipe(tmp_path / "t.csv", "t", options, Inputs(tmp_path))
    assert {*recipe.model.shown_labels} == {"good", "bad"}


def test_texts_of_one_class_are_refused_before_training():
    recipe = SimpleNamespace(data=SimpleNamespace(train="t.csv"))
    with pytest.raises(DataError, match=r"t\.csv: expected texts of at least two classes"):
        Texts().check_items(recipe, [SimpleNamespace(label="good")] * 3)


@pytest.mark.parametrize("name", ["\U0001f600", 'a "b"', "\x7f", "tab\t"])
def test_any_name_is_a_string_of_toml(name):
    assert tomllib.loads(f"x = {_toml({name: [name]})}") == {"x": {name: [name]}}


# -- where learning from a table starts unless a user names a bundle


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
    recipe = text_recipe("t", FILES, task(name), RATINGS, init="start", texts=100, start=start)
    assert (recipe.model.vectors is not None) == keeps
    assert ("vectors" in recipe.init.parts) == keeps
    assert recipe.model.labels == RATINGS


# -- how much labels weigh beside one another before anything is learnt


def test_weights_undo_other_shares_of_labels():
    draw = np.random.default_rng(0)
    masses = draw.dirichlet((1, 1, 1), 20_000)
    shifted = masses * np.array([0.2, 1.0, 5.0])
    shares = shifted / shifted.sum(1, keepdims=True)
    gold = (shares.cumsum(1) < draw.random((len(masses), 1))).sum(1)
    assert fit_weights(masses, gold) == pytest.approx([0.2, 1.0, 5.0], rel=0.08)


def test_even_labels_have_even_weights_and_an_absent_one_a_small_one():
    masses = np.full((100, 2), 0.5)
    assert fit_weights(masses, np.arange(100) % 2) == pytest.approx([1, 1], abs=1e-3)
    absent = fit_weights(masses, np.zeros(100, np.int64))
    assert np.isfinite(absent).all()
    assert absent[1] < 0.2
