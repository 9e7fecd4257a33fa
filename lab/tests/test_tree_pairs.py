"""Training on pairs of sentences with trees: examples, figures, runs and bundles."""

from itertools import chain

import numpy as np
import pytest
import tiny_tree_pairs
import torch
from runs import drawn, gone_on, of_one, run, same
from scipy.stats import rankdata
from tiny_dependencies import heads_of
from tiny_tree_pairs import CLASSES
from trained import check_scores, train

from thinstack.core.transitions import right
from thinstack.errors import ConfigError
from thinstack.training.examples.datasets import load_datasets
from thinstack.training.publish.calibrate import calibrate
from thinstack_lab.tree_pairs import source_tables

TRAIN, DEV = tiny_tree_pairs.pairs(12, seed=1), tiny_tree_pairs.pairs(6, seed=2)
NARROW = {"name": "entailment.v1", "options": {"width": 16}}
PARSED = {"model": {**tiny_tree_pairs.TRACKED, "head": NARROW}, "sources": ("self",)}
RECIPES = {
    "ratings": (("relatedness", "dependency"), {"rule": "adagrad"}),
    "classes": (("entailment",), {**PARSED, "snli": True, "rule": "rmsprop"}),
}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return tiny_tree_pairs.write_data(tmp_path_factory.mktemp("data"))


def words_of(found, examples):
    known = ["?", *found.vocabulary.entries]
    return [[known[row] for row in example.gold.forest.token_ids] for example in examples]


def targets_of(examples):
    return [example.gold.targets.tolist() for example in examples]


def structure_of(pair, trees):
    """What a model is told of the trees of a pair, made anew."""
    sentences = (pair.first, pair.second)
    if trees == "binary":
        return {"transitions": [step for words in sentences for step in right(len(words)).tolist()]}
    if trees == "sequence":
        return {"lengths": [len(words) for words in sentences]}
    offset, parents, slots = 0, [], []
    for words in sentences:
        for place, head in enumerate(heads_of(words)):
            parents.append(head if head < 0 else head + offset)
            right_of_root = place > head == len(words) // 2 > 0
            slots.append(int(right_of_root))
        offset += len(words)
    return {"parents": parents, "slots": slots, "kinds": [1] * offset}


@pytest.mark.parametrize("trees", ["binary", "dependency", "sequence"])
@pytest.mark.parametrize("task", ["relatedness", "entailment"])
def test_pairs_of_a_sick_folder(data, task, trees):
    found = load_datasets(tiny_tree_pairs.recipe(task, trees, stop_on="dev"), data)
    train, dev = ([[*pair.first, *pair.second] for pair in part] for part in (TRAIN, DEV))
    assert set(found.vocabulary.entries) == set(chain.from_iterable(train))
    assert (words_of(found, found.train), words_of(found, found.dev)) == (train, dev)
    assert found.watched is found.dev
    for pair, example in zip((*TRAIN, *DEV), (*found.train, *found.dev), strict=True):
        gold = example.gold
        for name, part in structure_of(pair, trees).items():
            assert getattr(gold.forest, name).tolist() == part
        expected = np.float32(pair.rating) if task == "relatedness" else CLASSES.index(pair.label)
        assert gold.targets.tolist() == [expected]
        assert example.gold.forest.lengths.tolist() == [len(pair.first), len(pair.second)]


@pytest.mark.parametrize("trees", ["binary", "sequence"])
def test_pairs_of_snli_are_those_of_sick(data, trees):
    first, second = (
        load_datasets(tiny_tree_pairs.recipe("entailment", trees, snli=snli), data)
        for snli in (True, False)
    )
    assert first.vocabulary.entries == second.vocabulary.entries
    for one, other in zip((*first.train, *first.dev), (*second.train, *second.dev), strict=True):
        assert one.gold.targets.tolist() == other.gold.targets.tolist()
        assert all(map(np.array_equal, one.gold.forest, other.gold.forest))


def test_tables_beside_folders_of_sick_are_among_the_data(data):
    tables = ["SICK_train.txt", "SICK_trial.txt"]
    assert source_tables(tiny_tree_pairs.recipe("entailment"), data) == tables
    assert source_tables(tiny_tree_pairs.recipe("entailment", snli=True), data) == []


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"sources": ("balanced",)}, r"'balanced'"),
        ({"sources": ("self", "left"), "model": tiny_tree_pairs.TRACKED}, r"'left'"),
        ({"trees": "dependency", "sources": ("left",)}, r"'dependency'"),
        ({"trees": "sequence", "sources": ("left",)}, r"'sequence'"),
    ],
)
def test_trees_that_are_made_of_words_are_not_for_pairs(settings, message):
    with pytest.raises(ConfigError, match=rf"training\.sources: .*{message}"):
        tiny_tree_pairs.recipe(**settings)


@pytest.mark.parametrize(
    ("size", "places"),
    [(1, [0]), (2, [0, 6]), (3, [0, 4, 8]), (5, [0, 2, 4, 7, 9]), (11, list(range(11)))],
)
def test_training_examples_from_all_over_are_reported_on(data, size, places):
    found = load_datasets(tiny_tree_pairs.recipe(data={"dev": None, "dev_size": size}), data)
    sentences = [[*pair.first, *pair.second] for pair in TRAIN]
    assert targets_of(found.dev) == [[np.float32(TRAIN[place].rating)] for place in places]
    rest = [words for place, words in enumerate(sentences) if place not in places]
    assert words_of(found, found.train) == rest


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"snli": True}, r"snli\.v1 have no target 'relatedness'"),
        ({"task": "entailment", "snli": True, "trees": "dependency"}, r"no trees 'dependency'"),
        (
            {"task": "entailment", "model": {"labels": ["contradiction", "entailment"]}},
            r"pair \d+: .* \(contradiction, entailment\), found 'neutral'",
        ),
        ({"model": {"labels": ["1", "2"]}}, r"pair \d+: .* from 1 to 2 .* found [2-5]\.\d"),
        (
            {"model": {"head": {"name": "root_classifier.v1"}}},
            r"^model\.head: .* relatedness_of_trees.v1 .* pairs; root_classifier\.v1 reads roots$",
        ),
        ({"data": {"relabel": {"neutral": ""}}}, r"relatedness_of_trees.v1 has no setting relabel"),
    ],
)
def test_pairs_that_do_not_fit_are_refused(data, settings, message):
    with pytest.raises(ConfigError, match=message):
        load_datasets(tiny_tree_pairs.recipe(**settings), data)


# -- figures


@torch.no_grad()
def answers(model, inputs, output):
    tensors = {name: torch.as_tensor(np.asarray(part, np.int64)) for name, part in inputs.items()}
    return model(tensors)[output].numpy()


def test_ratings_are_expectations(data):
    recipe = tiny_tree_pairs.recipe("relatedness", "dependency")
    found = load_datasets(recipe, data)
    model = drawn(recipe, found)
    predicted = []
    for example in found.train:
        (row,) = answers(model, of_one(example), "pair_scores")
        assert sum(row) == pytest.approx(1)
        predicted.append(sum(k * p for k, p in enumerate(row.tolist(), start=1)))
    gold = [pair.rating for pair in tiny_tree_pairs.pairs(12, seed=1)]
    figures, cases = recipe.task.measure(model, found.train, "gold", recipe.model.labels)
    assert cases.predicted.tolist() == pytest.approx(predicted, rel=1e-5)
    assert cases.gold.tolist() == pytest.approx(gold)
    assert cases.whole.all()
    assert cases.scores.sum(1) == pytest.approx(np.ones(12), rel=1e-5)
    errors = [one - other for one, other in zip(predicted, gold, strict=True)]
    assert figures["mse"] == pytest.approx(sum(error**2 for error in errors) / 12, rel=1e-5)
    assert figures["pearson"] == pytest.approx(np.corrcoef(predicted, gold)[0, 1], rel=1e-4)
    ranked = np.corrcoef(rankdata(predicted), rankdata(gold))[0, 1]
    assert figures["spearman"] == pytest.approx(ranked, rel=1e-4)


def test_pairs_over_the_trees_of_the_model_itself(data):
    head = {"name": "entailment.v1", "options": {"width": 16}}
    recipe = tiny_tree_pairs.recipe("entailment", model={**tiny_tree_pairs.TRACKED, "head": head})
    found = load_datasets(recipe, data)
    model = drawn(recipe, found)
    pairs = tiny_tree_pairs.pairs(12, seed=1)
    scores, parses, over_gold = [], [], []
    for example in found.train:
        given = of_one(example)
        words = {name: given[name] for name in ("token_ids", "lengths")}
        scores.append(answers(model, words, "pair_scores")[0])
        parses.append(answers(model, words, "parse").tolist())
        over_gold.append(answers(model, given, "pair_scores")[0])
    figures, cases = recipe.task.measure(model, found.train, "self", recipe.model.labels)
    gold = [CLASSES.index(pair.label) for pair in pairs]
    right = [row.argmax() == label for row, label in zip(scores, gold, strict=True)]
    assert figures == pytest.approx({"accuracy": 100 * np.mean(right), "pairs": 12})
    assert cases.gold.tolist() == gold
    assert cases.predicted.tolist() == [int(row.argmax()) for row in scores]
    assert cases.example.tolist() == list(range(12))
    likely = [row[label] for row, label in zip(scores, gold, strict=True)]
    assert cases.scores[range(12), gold].tolist() == pytest.approx(likely, rel=1e-5)
    assert [example.trees["self"].forest.transitions.tolist() for example in found.train] == parses
    # The trees of "gold" are still there.
    _, given = recipe.task.measure(model, found.train, "gold", recipe.model.labels)
    assert given.predicted.tolist() == [int(row.argmax()) for row in over_gold]
    assert given.predicted.tolist() != cases.predicted.tolist()


@pytest.mark.parametrize(
    ("task", "reason"), [("entailment", "examples with a class"), ("relatedness", "ratings")]
)
def test_few_classes_and_ratings_have_no_temperature(data, task, reason):
    recipe = tiny_tree_pairs.recipe(task)
    datasets = load_datasets(recipe, data)
    none = calibrate(drawn(recipe, datasets), datasets.dev, recipe)
    assert none.temperature is None
    assert reason in none.reason


# -- runs


@pytest.mark.parametrize("kind", RECIPES)
def test_a_run_stopped_between_epochs_goes_on_bit_by_bit(kind, data, tmp_path):
    task, settings = RECIPES[kind]
    recipe = tiny_tree_pairs.recipe(*task, epochs=2, stop_on="dev", average=0.5, **settings)
    whole = run(recipe, data, tmp_path / "whole")
    assert same(gone_on(recipe, data, tmp_path / "parts"), whole)


def test_the_onnx_file_of_a_bundle_scores_as_its_model_does(data, tmp_path):
    task, settings = RECIPES["ratings"]
    settings = {**settings, "export": {"inference_only": True}}
    recipe = tiny_tree_pairs.recipe(*task, epochs=1, stop_on="dev", **settings)
    trained = train(recipe, data, tmp_path)
    check_scores(trained)
    assert "shared words" not in trained.printed
