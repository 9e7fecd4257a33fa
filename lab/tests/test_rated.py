"""Texts with labels, stars and ratings: which sets of classes they have, which texts are taken, and
what the loss of a set is."""

import json
import re
import tomllib

import numpy as np
import pytest
import tiny_recipe
from pages import blocks
from test_parser_training import PARSER

import thinstack
from thinstack.core import Tree
from thinstack.core.scale import FIVE
from thinstack.core.transitions import balanced, over
from thinstack.errors import ConfigError, DataError
from thinstack.training.examples.datasets import load_datasets, read_items
from thinstack.training.examples.inputs import data_digests
from thinstack.training.examples.set_aside import is_held_out
from thinstack.training.lesson import Treebank
from thinstack.training.loop.teaching import taught_trees
from thinstack.training.recipe import Recipe
from thinstack_lab.lessons.rated import Rated

ROWS = [
    ("It works.", "positive"),
    ("it  works.", "positive"),  # the same text to a reader
    ("It broke.", "negative"),
    ("A box.", "neutral"),
    ("The case is red.", "positive"),
    ("the case is red.", "negative"),
]
BANDS = [
    {"below": -1, "classes": ["very negative", "negative"]},
    {"at_least": -1, "below": 0.5, "classes": ["neutral"]},
    {"at_least": 2, "classes": ["positive", "very positive"]},
]


def table(folder, rows, name="rows.jsonl", columns=("text", "label")):
    lines = [json.dumps(dict(zip(columns, row, strict=True))) for row in rows]
    (folder / name).write_text("\n".join(lines), encoding="utf-8")


def lesson(rows, folder, *, labels=FIVE, texts=False, aside=(), seed=0, column="label", **settings):
    """The set of each text that the lesson takes, by its words, and what it says."""
    table(folder, rows, columns=("text", column))
    said = []
    treebank = Treebank(
        [],
        len(labels),
        aside=aside,
        folders=[folder],
        parse=lambda sentences: list(map(Tree.right, sentences)),
        labels=labels,
        joins=texts,
        say=said.append,
    )
    rated = Rated(tables=["rows.jsonl"], label_column=column, **settings)
    trees = rated.trees(treebank, np.random.default_rng(seed))
    assert all((tree.labels == -1).all() and tree.soft is None for tree in trees)
    return {" ".join(tree.tree.words): tree.root_set for tree in trees}, said[0]


# -- sets


def test_names_of_sides_are_sets_and_a_text_counts_once(tmp_path):
    sets, said = lesson(ROWS, tmp_path)
    assert sets == {"It works .": (3, 4), "It broke .": (0, 1), "A box .": (2,)}
    assert said == (
        "rated.v1: rows.jsonl: 1 very negative or negative, 1 neutral, 1 positive or very "
        "positive; left out: 1 with different labels"
    )


@pytest.mark.parametrize(
    ("column", "values", "settings", "expected"),
    [
        ("stars", [1, 2, 3, 4, 5], {}, [(0,), (1,), (2,), (3,), (4,)]),
        ("sentiment", [0, 1], {}, [(0, 1), (3, 4)]),
        ("label", ["bad", "good"], {}, [(0, 1), (3, 4)]),
        ("label", ["yes", "no"], {"sets": {"yes": FIVE[:1:-1], "no": ["negative"]}},
         [(2, 3, 4), (1,)]),
        ("label", ["yes", "no", "?"], {"sets": {"yes": FIVE[3:]}, "left_out": ["no", "?"]},
         [(3, 4)]),
        ("label", ["positive", "negative", "conflict"], {"left_out": ["conflict"]},
         [(3, 4), (0, 1)]),
        ("rating", [-4, -1, 0.49, 0.5, 1.99, 2, "2.5"], {"bands": BANDS},
         [(0, 1), (2,), (2,), None, None, (3, 4), (3, 4)]),
        ("rating", [3, "none"], {"bands": BANDS, "left_out": ["none"]}, [(3, 4), None]),
    ],
)  # fmt: skip
def test_sets_of_labels(tmp_path, column, values, settings, expected):
    rows = [(f"Text {'abcdefgh'[place]}", value) for place, value in enumerate(values)]
    sets, _ = lesson(rows, tmp_path, column=column, **settings)
    named = [sets.get(text) for text, _ in rows]
    assert named == [*expected, *[None] * (len(rows) - len(expected))]


def test_labels_may_be_the_classes_of_a_model_that_is_no_five(tmp_path):
    rows = [("a b", "dull"), ("c d", "fun"), ("e f", "dull")]
    sets, _ = lesson(rows, tmp_path, labels=("dull", "so-so", "fun"))
    assert [*sets.values()] == [(0,), (2,), (0,)]


# -- texts


def test_what_is_left_out_is_counted(tmp_path):
    rows = [
        ("It works.", 5),
        ("It WAS fine .", 5),  # kept for measuring
        ("a b c d e f g", 5),
        ("So good. So cheap.", 5),
        ("", 5),
        ("Fine", 9),
        ("Well", 7),
    ]
    sets = {"5": ["positive"], "9": ["neutral"]}
    settings = {"sets": sets, "max_words": 6, "skip_bad": True, "left_out": ["7"], "held_out": 10}
    (kept, said) = lesson(rows, tmp_path, aside=[["it", "was", "fine", "."]], **settings)
    assert "It works ." in kept
    assert "So good . So cheap ." not in kept
    assert "1 of several sentences" in said
    for part in ("1 kept for measuring", "1 longer than 6 words", "1 unusable", "1 of labels in"):
        assert part in said


def test_a_tenth_is_held_out_by_its_letters(tmp_path):
    # As md5sum says, modulo 10: "loved" has 0, "love" 8, "itworks" 1.
    assert [is_held_out(text, 10) for text in ("Loved!", "love", "It works.")] == [
        True,
        False,
        False,
    ]
    texts = [f"text q{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(600)]
    settings = {"sets": {"positive": FIVE[3:]}, "held_out": 10}
    taken, said = lesson([(text, "positive") for text in texts], tmp_path, **settings)
    held = [text for text in texts if is_held_out(text, 10)]
    assert {*texts} - {*taken} == {*held}
    assert f"{len(held)} held out" in said
    assert 40 < len(held) < 80
    assert all(is_held_out(f" {text.upper()}! 10", 10) == (text in held) for text in texts)


def test_a_share_of_the_texts_is_drawn(tmp_path):
    rows = [(f"text {chr(97 + n)}", "positive") for n in range(20)]
    settings = {"sets": {"positive": FIVE[3:]}, "share": 0.25}
    first, again, other = (
        [*lesson(rows, tmp_path, seed=seed, **settings)[0]] for seed in (1, 1, 2)
    )
    assert len(first) == 5
    assert first == again != other


# -- in recipes

RATED = {"name": "rated.v1", "tables": ["rows.jsonl"], "weight": 0.5}


TEXTS = {"parser": PARSER, "aggregation": "tree"}


def recipe_of(lesson, **settings):
    plain = tiny_recipe.recipe(**settings).model_dump()
    plain["model"]["labels"] = FIVE
    plain["lessons"] = [lesson]
    return Recipe.parse(plain, source="test")


@pytest.fixture
def rows(data):
    table(data, ROWS)
    return data


def test_texts_get_the_trees_of_the_parser(rows):
    recipe = recipe_of(RATED | {"parser": "sentiment"})
    train, held, dev = read_items(recipe, rows)
    _, (lesson, taught) = taught_trees(recipe, train, held + dev, rows)
    sst = thinstack.load("sentiment")
    for one, classes in zip(taught, [(3, 4), (0, 1), (2,)], strict=True):
        tree = one.tree
        (own,) = sst.trees_and_scores([tree.words], "self")
        assert tree.transitions.tolist() == own.transitions.tolist()
        assert one.root_set == classes
    assert not lesson.teaches_parser


def test_digests_name_the_parser_and_the_tables(rows):
    found = data_digests(recipe_of(RATED | {"parser": "sentiment"}), rows)
    assert {"rows.jsonl", "the bundle sentiment of the lesson rated.v1"} <= {*found}


def test_the_sentences_of_a_text_are_parsed_by_themselves(rows, tmp_path):
    table(rows, [("It broke.", "bad"), ("It works. So cheap! I like it very much.", "good")])
    recipe = recipe_of(RATED | {"parser": "sentiment"}, model=TEXTS, sources=("self",))
    datasets = load_datasets(recipe, rows)
    gold = datasets.train[-1].gold
    lengths = [3, 3, 6]
    assert gold.forest.lengths.tolist() == lengths
    words = [["It", "works", "."], ["So", "cheap", "!"], ["I", "like", "it", "very", "much", "."]]
    own = [each.transitions for each in thinstack.load("sentiment").trees_and_scores(words, "self")]
    assert gold.forest.transitions.tolist() == over(balanced(3), own).tolist()
    assert gold.soft[-1].tolist() == [0, 0, 0, 0.25, 0.25]
    assert not gold.soft[:-1].any()


def test_the_lesson_of_the_guide(tmp_path):
    """The first block is a lesson; the other two are settings of one."""
    blocks_of_it = [each for each in blocks("lab/teaching.md", "toml") if "rated.v1" in each]
    settings = [
        each for each in blocks("lab/teaching.md", "toml") if each.startswith(("sets", "bands"))
    ]
    (first,) = tomllib.loads(*blocks_of_it)["lessons"]
    with_stars = {"label_column": "stars", "held_out": None}
    rows = [("It works.", 5), ("It broke.", 1), ("A box.", 3)]
    for each in settings:
        known = {**first, **with_stars, **tomllib.loads(each), "weight": 0.5}
        del known["name"], known["tables"]
        sets, _ = lesson(rows, tmp_path, column=known.pop("label_column"), **known)
        assert sets["It works ."] == (3, 4)
    assert recipe_of(first).lessons[0].held_out == 10


# -- what is refused


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"tables": []}, "tables"),
        ({"sets": {"positive": []}}, "'positive'"),
        ({"sets": {"a": ["negative"]}, "bands": BANDS}, "sets or bands"),
        ({"bands": [{"classes": ["neutral"]}]}, "at_least"),
        ({"bands": [{"classes": [], "below": 0}]}, "classes"),
        ({"bands": [{"classes": ["neutral"], "below": 0, "at_least": 0}]}, "at_least < below"),
        ({"bands": [*BANDS, {"classes": ["neutral"], "at_least": 0.4, "below": 1}]}, "overlap"),
        ({"held_out": 1}, "held_out"),
        ({"share": 1.5}, "share"),
        ({"tables": ["dev.txt"]}, "'dev.txt'"),
    ],
)
def test_settings_that_are_refused(settings, named):
    with pytest.raises(ConfigError, match=re.escape(named)):
        recipe_of(RATED | settings)


@pytest.mark.parametrize(
    ("rows", "settings", "error", "named"),
    [
        (ROWS, {"sets": {"positive": ["good"]}}, ConfigError, "'neutral' (rows: 1)"),
        ([("a", "x")], {"sets": {"x": ["good"]}}, ConfigError, "'good'"),
        ([("a", "x")], {"sets": {"x": FIVE[1:], "y": ["bad"]}}, ConfigError, "'bad'"),
        ([("a", "x")], {"sets": {"x": FIVE}}, ConfigError, "all classes"),
        ([("a", 1)], {"bands": [{"below": 0, "classes": FIVE}]}, ConfigError, "all classes"),
        ([("a", 1)], {"bands": [{"below": 0, "classes": ["fine"]}]}, ConfigError, "'fine'"),
        ([("a", "x"), ("b", "x"), ("c", "y")], {}, ConfigError, "'x' (rows: 2), 'y' (rows: 1)"),
        ([("a", f"{n}.5") for n in range(9)], {}, ConfigError, "and 1 more"),
        (ROWS, {"text_column": "review"}, DataError, "text_column"),
        ([("a", 1), ("b", "x")], {"bands": BANDS}, DataError, "rows.jsonl:2: "),
        ([("a", 1)], {"bands": [{"below": 0, "classes": ["neutral"]}]}, DataError, "1 in no band"),
        ([("", "positive"), ("b", "negative")], {}, DataError, "rows.jsonl:1: "),
        ([("a b c", "good"), ("a b d", "bad")], {"max_words": 2}, DataError, "2 longer than 2"),
        (ROWS, {"labels": ("good", "bad")}, ConfigError, "the classes good, bad"),
        ([("a", "positive"), ("b", "neutral")], {}, ConfigError, "'positive' (rows: 1)"),
    ],
)  # fmt: skip
def test_tables_that_teach_nothing(tmp_path, rows, settings, error, named):
    with pytest.raises(error, match=re.escape(named)):
        lesson(rows, tmp_path, **settings)


@pytest.mark.parametrize(
    ("settings", "error", "named"),
    [
        ({}, ConfigError, "[teacher]"),
        ({"parser": "nobody"}, thinstack.ThinstackError, "nobody"),
        ({"parser": "sentiment", "tables": ["gone.csv"]}, DataError, "gone.csv"),
    ],
)
def test_lessons_without_a_parser_or_a_table(rows, settings, error, named):
    with pytest.raises(error, match=re.escape(named)):
        load_datasets(recipe_of(RATED | settings), rows)
