"""Tasks: each is known by its own code alone, and recipes choose it by its name."""

import json
import re
from pathlib import Path

import pytest
from training import tiny_recipe

from thinstack.errors import ConfigError
from thinstack.plugins.manager import manager
from thinstack.training.recipe import Recipe

ROOT = Path(__file__).parents[2]
ASKS = re.compile(
    r"from_table|PAIR_TASKS|data\.task|task(\.name)? (==|!=|in|not in) |isinstance\(.*task"
)
OWN = ROOT / "thinstack" / "training" / "tasks"
TASKS = ("aspects", "entailment", "phrases", "relatedness", "sentences", "spans", "texts")


def test_nobody_asks_which_task_it_is():
    files = [path for name in ("thinstack", "reproduce") for path in (ROOT / name).rglob("*.py")]
    asking = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path in files
        if not path.is_relative_to(OWN) and "tests" not in path.parts
        for line in path.read_text(encoding="utf-8").splitlines()
        if ASKS.search(line)
    ]
    assert asking == []


def test_the_built_in_tasks():
    assert [spec.name for spec in manager().specs("task")][: len(TASKS)] == [
        f"{name}.v1" for name in TASKS
    ]


def old(data, **training):
    """A recipe of schema 1."""
    raw = tiny_recipe.recipe().model_dump(mode="json", exclude_defaults=True)
    del raw["task"]
    raw["data"] |= data
    raw["training"] |= {"sources": [], **training}
    return raw


@pytest.mark.parametrize(
    ("data", "training", "task"),
    [
        ({}, {}, {"name": "phrases.v1"}),
        ({}, {"root_weight": 0.2}, {"name": "phrases.v1", "root_weight": 0.2}),
        (
            {"task": "sentences", "format": "questions.v1", "relabel": {"a": "b"}},
            {},
            {"name": "sentences.v1", "format": "questions.v1", "relabel": {"a": "b"}},
        ),
        (
            {"task": "texts", "format": "table.v1", "separator": ";", "header": False},
            {"neighbours": 0.2, "phrase_penalty": 0.0, "root_weight": 0.0},
            {"name": "texts.v1", "separator": ";", "header": False, "neighbours": 0.2},
        ),
        (
            {"task": "texts", "spans": True, "span_group": "sc"},
            {},
            {"name": "spans.v1", "span_group": "sc"},
        ),
        (
            {"task": "entailment", "format": "snli.v1", "score_column": "x"},
            {},
            {"name": "entailment.v1", "format": "snli.v1"},
        ),
        (
            {"task": "relatedness", "format": "table.v1", "pair_columns": ["a", "b"]},
            {},
            {"name": "relatedness.v1", "format": "table.v1", "pair_columns": ["a", "b"]},
        ),
    ],
)
def test_a_recipe_of_schema_1_is_converted(data, training, task):
    recipe = Recipe.parse(old(data, **training), source="old")
    assert recipe.model_dump(mode="json", exclude_defaults=True)["task"] == task
    whole = recipe.model_dump(mode="json")
    assert whole["schema"] == 2
    assert Recipe.parse(json.loads(json.dumps(whole)), source="new") == recipe


@pytest.mark.parametrize(
    ("data", "training", "problem"),
    [
        ({"task": "parsing"}, {}, "unknown task 'parsing.v1'; known: .*phrases.v1"),
        (
            {"task": "relatedness", "format": "sick.v1"},
            {"neighbours": 0.1},
            "no setting neighbours",
        ),
        ({"task": "texts"}, {"root_weight": 0.1}, "texts.v1 has no setting root_weight"),
        ({"task": "entailment", "format": "sick.v1", "relabel": {"a": ""}}, {}, "setting relabel"),
        ({"task": "entailment"}, {}, "format: Field required"),
        ({"span_group": "sc"}, {}, "phrases.v1 has no setting span_group"),
    ],
)
def test_settings_of_another_task_are_refused(data, training, problem):
    with pytest.raises(ConfigError, match=f"^r.toml: task.*{problem}"):
        Recipe.parse(old(data, **training), source="r.toml")


@pytest.mark.parametrize("change", [{"schema": 3}, {"task": {}}, {"task": "texts"}, {"task": None}])
def test_what_is_no_recipe_of_schema_2(change):
    raw = tiny_recipe.recipe().model_dump(mode="json")
    with pytest.raises(ConfigError, match=rf"^r.toml: {next(iter(change))}"):
        Recipe.parse(raw | change, source="r.toml")
