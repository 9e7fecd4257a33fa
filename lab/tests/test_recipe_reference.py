"""docs/recipes.md: the reference that `lab/scripts/recipe_reference.py` writes."""

from pathlib import Path
from runpy import run_path

import pytest

from thinstack.core import config
from thinstack.core.config import Strict
from thinstack.training import recipe
from thinstack.training.recipe import Recipe

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "recipes.md"


@pytest.fixture(scope="module")
def script():
    return run_path(str(ROOT / "lab" / "scripts" / "recipe_reference.py"))


def test_the_page_is_what_the_script_writes(script):
    command = "python lab/scripts/recipe_reference.py docs/recipes.md"
    assert PAGE.read_text(encoding="utf-8") == script["page"](), f"out of date, run: {command}"


def test_every_field_has_a_description_and_a_row():
    named = [getattr(module, name) for module in (config, recipe) for name in module.__all__]
    models = [each for each in named if isinstance(each, type) and issubclass(each, Strict)]
    text = PAGE.read_text(encoding="utf-8")
    assert Recipe in models
    for model in models:
        for name, field in model.model_fields.items():
            if not field.exclude:
                assert field.description, f"{model.__name__}.{name} has no description"
                assert f"\n| `{field.alias or name}` |" in text
