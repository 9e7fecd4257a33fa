"""From a recipe to what is trained on: leaf tables, what is held out, and that the development file
stays unseen."""

import json
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
import tiny_recipe

from thinstack.data.vocabulary import WordVocabulary
from thinstack.data.wordpiece import WordpieceVocabulary
from thinstack.errors import ConfigError, DataError, TreeError, UnknownNameError
from thinstack.models import Model
from thinstack.training.datasets import load_datasets
from thinstack.training.examples import Example
from thinstack.training.seeds import SeedResult, run_seed, summary


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tiny_recipe.write_data(tmp_path / "data")


def vectors_of(path: Path) -> dict[str, list[float]]:
    rows = (line.split(" ") for line in path.read_text(encoding="utf-8").splitlines())
    return {word: [float(value) for value in values] for word, *values in rows}


def words_of(path: Path) -> set[str]:
    text = path.read_text(encoding="utf-8")
    return {part.split()[-1] for part in text.split(")") if part.strip()}


# -- leaf tables


def test_a_word_table_has_the_words_of_the_vectors_their_mean_and_others(data: Path) -> None:
    datasets = load_datasets(tiny_recipe.recipe(vectors="words.txt"), data)
    pretrained = vectors_of(data / "words.txt")
    unseen = words_of(data / "train.txt") - pretrained.keys()
    assert isinstance(datasets.vocabulary, WordVocabulary)
    assert set(datasets.vocabulary.entries) == pretrained.keys() | unseen
    assert datasets.table.shape == (1 + len(pretrained) + len(unseen), 4)
    vectors = np.array(list(pretrained.values()))
    found = datasets.table[datasets.vocabulary.ids(list(pretrained))]
    np.testing.assert_allclose(found, vectors, rtol=1e-6)
    np.testing.assert_allclose(datasets.table[0], vectors.mean(axis=0), atol=1e-6)
    drawn = datasets.table[datasets.vocabulary.ids(list(unseen))]
    assert len(np.unique(drawn, axis=0)) == len(unseen) > 3
    assert 0.02 < drawn.std() < 0.1


def test_words_are_looked_up_in_lower_case_before_they_count_as_unseen(data: Path) -> None:
    (data / "train.txt").write_text("(2 (1 The) (2 (2 Lovely) (1 LOVELY)))\n", encoding="utf-8")
    datasets = load_datasets(tiny_recipe.recipe(vectors="words.txt"), data)
    assert set(datasets.vocabulary.entries) - vectors_of(data / "words.txt").keys() == {"lovely"}


def test_without_vectors_every_word_is_drawn_and_the_unknown_one_is_zero(data: Path) -> None:
    datasets = load_datasets(tiny_recipe.recipe(), data)
    assert set(datasets.vocabulary.entries) == words_of(data / "train.txt")
    assert not datasets.table[0].any()
    assert datasets.table[1:].all()


def test_columns_are_cut_and_scaled(data: Path) -> None:
    pretrained = np.array(list(vectors_of(data / "words.txt").values()))[:, :3]
    settings = {"embedding": {"size": 3}, "data": {"vector_std": 0.25}}
    found = load_datasets(tiny_recipe.recipe(vectors="words.txt", **settings), data)
    expected = pretrained * 0.25 / pretrained.std()
    np.testing.assert_allclose(found.table[1 : len(pretrained) + 1], expected, rtol=1e-5)


def test_a_wordpiece_table_is_the_file_of_pieces(data: Path) -> None:
    datasets = load_datasets(tiny_recipe.recipe("wordpieces", vectors="pieces.txt"), data)
    pieces = vectors_of(data / "pieces.txt")
    assert isinstance(datasets.vocabulary, WordpieceVocabulary)
    assert datasets.vocabulary.entries == tuple(pieces)
    np.testing.assert_allclose(datasets.table, list(pieces.values()), rtol=1e-6)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"vectors": "words.txt", "embedding": {"size": 5}}, r"5 columns, but words\.txt has 4$"),
        ({"kind": "wordpieces"}, r"data\.vectors: .* pieces"),
    ],
)
def test_vectors_that_do_not_fit_the_model_are_refused(
    data: Path, settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        load_datasets(tiny_recipe.recipe(**settings), data)


def test_wordpieces_without_the_unknown_piece_are_refused(data: Path) -> None:
    with pytest.raises(DataError, match=r"needs the piece \[UNK\]"):
        load_datasets(tiny_recipe.recipe("wordpieces", vectors="words.txt"), data)


# -- what is trained on


def inputs(examples: list[Example]) -> list[tuple[list[int], list[int], list[int]]]:
    found = (example.gold for example in examples)
    return [
        (forest.token_ids.tolist(), forest.transitions.tolist(), targets.tolist())
        for forest, targets, *_ in found
    ]


def test_a_tenth_is_held_out_and_what_is_left_is_trained_on(data: Path) -> None:
    whole = inputs(load_datasets(tiny_recipe.recipe(), data).train)
    datasets = load_datasets(tiny_recipe.recipe(stop_on="held"), data)
    held, left = inputs(datasets.watched), inputs(datasets.train)
    assert (len(whole), len(held), len(left)) == (30, 3, 27)
    assert held == whole[::10]
    assert sorted(held + left) == sorted(whole)


def test_what_is_watched_is_what_the_recipe_says(data: Path) -> None:
    assert load_datasets(tiny_recipe.recipe(), data).watched == []
    on_dev = load_datasets(tiny_recipe.recipe(stop_on="dev"), data)
    assert inputs(on_dev.watched) == inputs(on_dev.dev)
    assert (len(on_dev.train), len(on_dev.dev)) == (30, 10)


@pytest.mark.parametrize(("stop_on", "source"), [("held", "distances"), ("nothing", "balanced")])
def test_the_development_file_is_not_looked_at(
    data: Path, tmp_path: Path, stop_on: str, source: str
) -> None:
    settings = {"stop_on": stop_on, "sources": (source,), "model": {"tree_source": source}}
    settings |= {"epochs": 4, "patience": 1, "learning_rate": 0.5}
    recipe = tiny_recipe.recipe(vectors="words.txt", **settings)
    first = run_seed(recipe, load_datasets(recipe, data), 1, tmp_path / "a")
    tree = "(0 (0 lovely) (2 (2 unheard-of) (0 lovely)))\n"
    (data / "dev.txt").write_text(tree * 7, encoding="utf-8")
    datasets = load_datasets(recipe, data)
    second = run_seed(recipe, datasets, 1, tmp_path / "b")
    assert first.dev != second.dev
    assert "unheard-of" not in datasets.vocabulary.entries
    weights = second.model.state_dict()
    for name, value in first.model.state_dict().items():
        assert bool((value == weights[name]).all())
    watched = [[record["watched"] for record in run.history] for run in (first, second)]
    assert watched[0] == watched[1]


def test_a_treebank_of_one_tree_cannot_be_held_out(data: Path) -> None:
    (data / "train.txt").write_text("(2 good)\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"train\.txt: all examples \(1\) are set aside"):
        load_datasets(tiny_recipe.recipe(stop_on="held"), data)


def test_a_tree_that_is_not_binary_is_named_with_its_file(data: Path) -> None:
    with (data / "dev.txt").open("a", encoding="utf-8") as file:
        file.write("(0 (1 the) (0 bad) (1 film))\n")
    with pytest.raises(TreeError, match=r"dev\.txt: tree 10: node 3 has 3 children"):
        load_datasets(tiny_recipe.recipe(), data)


def test_an_unknown_cell_is_refused_with_the_known_ones(data: Path, tmp_path: Path) -> None:
    recipe = tiny_recipe.recipe(cell={"name": "magic.v1"})
    with pytest.raises(UnknownNameError, match=r"unknown cell 'magic\.v1'; known: .*nary_lstm\.v1"):
        run_seed(recipe, load_datasets(recipe, data), 1, tmp_path)


def test_trees_of_another_kind_than_the_models_are_refused(data: Path) -> None:
    settings = {"cell": {"name": "child_sum_lstm.v1"}, "model": {"trees": "dependency"}}
    recipe = tiny_recipe.recipe(**settings, sources=())
    with pytest.raises(TreeError, match=r"train\.txt: tree \d+: .*dependency"):
        load_datasets(recipe, data)


@pytest.mark.parametrize(
    ("head", "reads"),
    [("similarity.v1", "pairs"), ("entailment.v1", "pairs"), ("tree_ranker.v1", "candidates")],
)
def test_a_head_whose_labels_no_treebank_file_holds_is_refused(
    data: Path, tmp_path: Path, head: str, reads: str
) -> None:
    recipe = tiny_recipe.recipe(model={"head": {"name": head}})
    with pytest.raises(ConfigError, match=rf"'phrases' .* nodes or roots; {head} reads {reads}$"):
        run_seed(recipe, load_datasets(recipe, data), 1, tmp_path)
    assert list(tmp_path.iterdir()) == [data]


# -- results


def test_a_development_file_without_a_case_is_no_obstacle(data: Path, tmp_path: Path) -> None:
    (data / "dev.txt").write_text("(1 (1 the) (1 film))\n", encoding="utf-8")
    recipe = tiny_recipe.recipe(epochs=1, stop_on="dev")
    result = run_seed(recipe, load_datasets(recipe, data), 1, tmp_path)
    gold = result.dev["gold"]
    assert (gold["root_binary_accuracy"], gold["binary_roots"]) == (None, 0)
    for line in (tmp_path / "metrics.jsonl").read_text(encoding="utf-8").splitlines():
        json.loads(line, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert summary([result])["gold"]["root_binary_accuracy"] == {"mean": None, "std": None}


def test_the_summary_is_mean_and_standard_deviation_over_the_seeds() -> None:
    model = cast(Model, None)
    results = [
        SeedResult(seed, model, [], {"gold": {"root_accuracy": value}}, {})
        for seed, value in enumerate([50.0, 52.0, 57.0])
    ]
    figures = summary(results)["gold"]["root_accuracy"]
    assert figures["mean"] == pytest.approx(53.0)
    assert figures["std"] == pytest.approx(np.std([50, 52, 57], ddof=1))
    assert summary(results[:1])["gold"]["root_accuracy"] == {"mean": 50.0, "std": 0.0}


@pytest.mark.parametrize(
    ("selections", "epoch"),
    [([3.0, 5.0, 4.0], 2), ([5.0, 5.0, 4.0], 1), ([None, None], 2)],
    ids=["best", "first best", "last"],
)
def test_the_epoch_that_was_kept(selections: list[float | None], epoch: int) -> None:
    history = [
        {"selection": value or 0.0, "watched": {} if value is None else {"gold": {}}}
        for value in selections
    ]
    assert SeedResult(1, cast(Model, None), history, {}, {}).epoch == epoch
