"""Tasks: each is known by its own code alone, and recipes choose it by its name."""

import pytest
from training import tiny_recipe

from thinstack.errors import ConfigError
from thinstack.training.recipe import Recipe


@pytest.mark.parametrize(
    ("task", "problem"),
    [
        ({"name": "parsing.v1"}, "unknown task 'parsing.v1'; known: .*phrases.v1"),
        (
            {"name": "relatedness.v1", "format": "table.v1", "neighbours": 0.1},
            "no setting neighbours",
        ),
        ({"name": "texts.v1", "root_weight": 0.1}, "texts.v1 has no setting root_weight"),
        (
            {"name": "entailment.v1", "format": "table.v1", "relabel": {"a": ""}},
            "no setting relabel",
        ),
        ({"name": "entailment.v1"}, "format: Field required"),
        ({"name": "phrases.v1", "span_group": "sc"}, "phrases.v1 has no setting span_group"),
    ],
)
def test_settings_of_another_task_are_refused(task, problem):
    raw = tiny_recipe.recipe().model_dump(mode="json", exclude_defaults=True) | {"task": task}
    with pytest.raises(ConfigError, match=f"^r.toml: task.*{problem}"):
        Recipe.parse(raw, source="r.toml")


@pytest.mark.parametrize("change", [{"schema": 2}, {"task": {}}, {"task": "texts"}, {"task": None}])
def test_what_is_no_recipe(change):
    raw = tiny_recipe.recipe().model_dump(mode="json")
    with pytest.raises(ConfigError, match=rf"^r.toml: {next(iter(change))}"):
        Recipe.parse(raw | change, source="r.toml")
