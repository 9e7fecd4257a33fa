"""Pairs of sentences from tables: what is read of them, what is learnt, and how the file is run."""

import json
import random
import re
import shlex
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
import tiny_texts
from runs import same_weights, weights
from tiny_texts import write_table

import thinstack
from thinstack.core import Tree
from thinstack.errors import ConfigError, DataError, ThinstackError
from thinstack.evaluate.accuracy import pearson
from thinstack.training.examples.datasets import load_datasets, read_items
from thinstack.training.examples.inputs import Inputs
from thinstack.training.examples.labels import find_scale
from thinstack.training.loop.initial import start_from
from thinstack.training.loop.measuring import own_trees
from thinstack.training.loop.seeds import run_seed
from thinstack.training.recipe import Recipe
from thinstack.training.tasks.pairs import Entailment, Pair, Relatedness
from thinstack.training.text_recipe import TableOptions, table_task

TRACKED = {"parser": None, "encoder": {"tracker": {"size": 3, "feeds": False}}}


def rows(count=40):
    """Pairs of films that are both good or both bad ("same", about 4.5 of 0 to 5), or not (0.5)."""
    draw, found = random.Random(0), []
    for _ in range(count):
        said = [draw.choice(("good", "fine", "bad", "dull")) for _ in "ab"]
        alike = (said[0] in ("good", "fine")) == (said[1] in ("good", "fine"))
        first, second = (f"The {draw.choice(('film', 'plot'))} is {word}." for word in said)
        score = (4.5 if alike else 0.5) + draw.choice((-0.5, 0, 0.5))
        label = "same" if alike else "other"
        found.append({"text_a": first, "text_b": second, "label": label, "score": score})
    return found


def data_and_task(path, **options):
    return table_task(path, TableOptions(**options), Inputs(path.parent))


def recipe_of(folder, name, start=None, **settings):
    """A recipe over `pairs.csv`, from balanced trees or from the bundle `start`."""
    rated = name == "relatedness"
    raw = tiny_texts.recipe(start).model_dump(mode="json", exclude_defaults=True)
    raw["data"] |= {"train": "pairs.csv"}
    raw["task"] = {"name": f"{name}.v1", "format": "table.v1"}
    raw["model"]["labels"] = list("012345") if rated else ["other", "same"]
    raw["model"]["head"] = {"name": "similarity.v1" if rated else "entailment.v1"}
    for part, given in settings.items():
        raw[part] |= given
    return Recipe.parse(raw, source="test")


def test_each_side_is_one_sentence_and_scores_become_ratings(tmp_path):
    row = {"text_a": "Dr. No? It isn't. ", "text_b": "Fine", "label": "same", "score": "0.25"}
    write_table(tmp_path / "pairs.csv", [row, *(row | {"text_b": f"Fine {n}"} for n in range(3))])
    for task, target in (("relatedness", 1.25), ("entailment", "same")):
        pair = read_items(recipe_of(tmp_path, task), tmp_path)[0][0]
        words = ["Dr.", "No", "?", "It", "is", "n't", "."]
        assert pair == Pair("2", (Tree.balanced(words), Tree.balanced(["Fine"])), target)


@pytest.mark.parametrize(
    ("task", "change", "problem"),
    [
        ("relatedness", {"score": "5.1"}, r"csv:3: expected a score from 0 to 5 .*'5\.1'.*labels"),
        ("relatedness", {"score": "high"}, r"csv:3: expected a score from 0 to 5 .*'high'"),
        ("relatedness", {"score": "inf"}, r"csv:3: .*'inf'"),
        ("relatedness", {"score": ""}, r"csv:3: .*'score'"),
        ("entailment", {"label": "Same"}, r"csv:3: expected one of .*other, same.*'Same'"),
        ("entailment", {"text_b": ""}, r"csv:3: .*'text_b'"),
        ("entailment", {"text_a": " \u2003"}, r"csv:3: .*'text_a'"),
    ],
)
def test_a_row_that_cannot_be_used_is_named_or_skipped(tmp_path, task, change, problem):
    found = rows(12)
    found[1] |= change
    write_table(tmp_path / "pairs.csv", found)
    with pytest.raises(DataError, match=problem):
        load_datasets(recipe_of(tmp_path, task), tmp_path)
    datasets = load_datasets(recipe_of(tmp_path, task, task={"skip_bad": True}), tmp_path)
    assert len(datasets.items[0]) + len(datasets.items[1]) == 11
    assert [re.search(problem, str(error)) is not None for error in datasets.skipped] == [True]


@pytest.mark.parametrize(
    ("scores", "scale"),
    [
        ("0.2 4.8 3", "0 1 2 3 4 5"),
        ("1 5 x inf", "1 2 3 4 5"),
        ("0 0.5 1", "0 1"),
        ("-1 1", "-1 0 1"),
        ("0 20", " ".join(map(str, range(21)))),
        ("0 100", "0 to 5, .* found 0 to 100; divide them"),
        ("0 21", "0 to 5, .* found 0 to 21; divide them"),
        ("3 3", "different numbers.*found only 3;"),
        ("x nan", "not a number"),
    ],
)
def test_the_scale_of_scores_is_found(scores, scale):
    if scale[0] in "-0123456789" and "to" not in scale:
        assert find_scale(scores.split(), "t.csv") == tuple(scale.split())
    else:
        with pytest.raises(DataError, match=f"t.csv: .*{scale}"):
            find_scale(scores.split(), "t.csv")


@pytest.mark.parametrize(
    ("columns", "texts", "settings", "task"),
    [
        ("text_a text_b label", (), {}, "entailment"),
        ("text_a text_b score", (), {}, "relatedness"),
        ("text_a text_b score label", (), {"score_column": "score"}, "relatedness"),
        ("text_a text_b score label", (), {"label_column": "label"}, "entailment"),
        ("s t stars", ("s", "t"), {"score_column": "stars"}, "relatedness"),
        ("text text_a text_b label", (), {}, "texts"),
        ("text_a label", (), {}, "entailment"),
        ("text_a stars", (), {}, r"found 'text_a', 'stars'; set the target column"),
        ("text_a text_b score label", (), {}, r"found both; .*--label or --score"),
        ("text_a text_b stars", (), {}, r"found 'text_a', 'text_b', 'stars'; "),
        ("a b c", ("a", "b", "c"), {}, "found 3"),
        ("text score", (), {"score_column": "score"}, "does not work with one column"),
        ("text_a text_b label", (), {"task": "spans"}, "--task: does not work with pairs"),
        ("a b label", ("a", "a"), {}, "two text columns .*found 'a', 'a' and 'label'; set the"),
        ("a label", ("a", "label"), {}, "two text columns .*found 'a', 'label' and 'label'"),
    ],
)
def test_columns_say_what_is_learnt(tmp_path, columns, texts, settings, task):
    path = write_table(tmp_path / "t.csv", [dict.fromkeys(columns.split(), "x")])
    if " " not in task:
        data, found = data_and_task(path, text_column=texts, **settings)
        assert (found.name, data.dev_share) == (f"{task}.v1", 0.1)
        assert task == "texts" or found.columns_read[:2] == [*(texts or ("text_a", "text_b"))]
    else:
        with pytest.raises(ThinstackError, match=task):
            data_and_task(path, text_column=texts, **settings)


def test_ratings_taken_for_classes_are_refused(tmp_path):
    _, task = data_and_task(write_table(tmp_path / "t.csv", rows(), "text_a", "text_b", "label"))
    with pytest.raises(DataError, match=r"t.csv, label: .*3\.8.*--score"):
        task.labels_of(["3.8", "1"], "t.csv", (), None)
    assert task.labels_of(["2", "1"], "t.csv", (), None) == ("1", "2")


@pytest.mark.parametrize(
    ("task", "settings", "problem"),
    [
        ("entailment", {"model": {"trees": "dependency"}}, "pairs have no trees.*'dependency'"),
        ("entailment", {"task": {"phrase_penalty": 1}}, "phrase_penalty"),
        ("entailment", {"task": {"relabel": {"a": "b"}}}, "relabel"),
        ("relatedness", {"model": {"labels": ["0", "2"]}}, "every whole number .*found 0, 2"),
        ("relatedness", {"model": {"labels": ["low", "high"]}}, "found low, high"),
    ],
)
def test_a_recipe_that_asks_for_what_a_table_has_not(tmp_path, task, settings, problem):
    write_table(tmp_path / "pairs.csv", rows())
    with pytest.raises(ConfigError, match=problem):
        load_datasets(recipe_of(tmp_path, task, **settings), tmp_path)


def test_a_share_of_every_class_or_of_all_scores_is_set_aside(tmp_path):
    found = rows(40)
    write_table(tmp_path / "pairs.csv", found)
    counts = Counter(row["label"] for row in found)
    share = {"data": {"dev_share": 0.25}}
    classes, scores = (
        load_datasets(recipe_of(tmp_path, task, **share), tmp_path).items
        for task in ("entailment", "relatedness")
    )
    assert Counter(pair.target for pair in classes[1]) == {
        label: round(count / 4) for label, count in counts.items()
    }
    assert (len(scores[0]), len(scores[1])) == (30, 10)


def test_a_parser_that_was_started_from_makes_the_trees_and_learns_nothing(tmp_path):
    write_table(tmp_path / "pairs.csv", rows(12))
    start = tiny_texts.start(tmp_path / "start", **TRACKED)
    found = []
    for alpha in (0.0, 9.0):
        settings = {"init": {"parts": ["embedding", "encoder"], "frozen": []}}
        settings |= {"model": TRACKED, "training": {"alpha": alpha, "epochs": 1}}
        recipe = recipe_of(tmp_path, "entailment", start, **settings)
        datasets, model = load_datasets(recipe, tmp_path), tiny_texts.drawn(recipe)
        start_from(model, recipe.init)
        parses = own_trees(model, datasets.train)
        result = run_seed(recipe, datasets, 1, tmp_path / str(alpha))
        for example, steps in zip(datasets.train, parses, strict=True):
            assert example.trees["self"].forest.transitions.tolist() == steps.tolist()
        found.append(weights(result.model))
        assert "parsing_loss" not in result.history[0]
    balanced = [example.gold.forest.transitions.tolist() for example in datasets.train]
    assert balanced != [steps.tolist() for steps in parses]
    assert same_weights(*found)


def test_the_rival_of_scores_is_a_line_and_of_classes_the_commonest():
    def pair(first, second, target):
        return Pair("", (Tree.left(first.split()), Tree.left(second.split())), target)

    train = [pair("a b", "A b", 5.0), pair("a b", "c d", 1.0), pair("a b c", "a d e", 2.0)]
    overlaps, dev = [1.0, 0.0, 0.2], [pair("a b", "b c", 4.0), pair("a", "b", 1.5)]
    slope, start = np.polyfit(overlaps, [5.0, 1.0, 2.0], 1)
    rated, classified = (kind(format="table.v1") for kind in (Relatedness, Entailment))
    _, found = rated.rival(SimpleNamespace(items=(train, dev)), ())
    errors = np.array([start + slope / 3 - 4.0, start - 1.5])
    assert found["mse"] == pytest.approx(np.mean(errors**2))
    assert found["pearson"] == pytest.approx(1)
    classes = [pair("a", "b", label) for label in "xyy"]
    _, found = classified.rival(SimpleNamespace(items=(classes, classes[:2])), ())
    assert found["accuracy"] == 50


@pytest.mark.parametrize(("column", "init"), [("label", "start"), ("score", "none")])
def test_from_a_table_to_what_the_model_says_of_pairs(tmp_path, cli, column, init):
    found, out = rows(), tmp_path / "out"
    path = write_table(tmp_path / "pairs.csv", found, "text_a", "text_b", column)
    vectors = {"name": "vector.v1", "options": {"size": 6}}
    tiny_texts.start(tmp_path / "start", aggregation="tree", vectors=vectors)  # as `vectors`
    start = "none" if init == "none" else tmp_path / "start"
    answer = cli("train", path, "--out", out, "--init", start)
    assert (answer.code, answer.err) == (0, "")
    (advice,) = re.findall(r"try it: thinstack (.*)", answer.out)
    assert cli(*shlex.split(advice)).code == 0
    assert "pairs that occur in several rows: " in answer.out
    assert "are also in the training data" not in answer.out
    assert ("baseline " in answer.out, "accuracies" in answer.out) == (True, column == "label")
    assert answer.out.count("as shipped, raw text: ") == 1
    results = json.loads((out / "results.json").read_text())
    assert list(results["dev"]) == ["self" if init == "start" else "gold"]
    model = thinstack.load(out / "model-best")
    assert (model.config.vectors is None) == (init == "none")
    said = model.pairs(*([row[side] for row in found] for side in ("text_a", "text_b")))
    if column == "label":
        right = [one.label == row["label"] for one, row in zip(said, found, strict=True)]
        assert np.mean(right) > 0.7
    else:
        assert model.labels == ("0", "1", "2", "3", "4", "5")
        given = np.array([row["score"] for row in found])
        own = np.array([one.rating for one in said])
        assert np.mean((own - given) ** 2) < 0.5 * given.var()
        assert (pearson(own, given) or 0) > 0.8


def test_a_pair_is_not_replaced_by_the_same_texts_the_other_way_round():
    dog, cat = (SimpleNamespace(words=words) for words in (["A", "dog"], ["no", "cat"]))
    one, other = (SimpleNamespace(trees=trees) for trees in ((dog, cat), (cat, dog)))
    task = Entailment(format="table.v1")
    assert task.replaced_by(one) != task.replaced_by(other)
    assert task.group_of(one) == task.group_of(other)
