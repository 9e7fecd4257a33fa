"""docs/recipes.md: the reference that `scripts/recipe_reference.py` writes."""

import re
import tomllib
from pathlib import Path
from runpy import run_path
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

import thinstack.core.config
import thinstack.training.recipe
from thinstack.core.config import Strict
from thinstack.training.recipe import Recipe

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "recipes.md"


@pytest.fixture(scope="module")
def script() -> dict[str, Any]:
    return run_path(str(ROOT / "scripts" / "recipe_reference.py"))


def test_the_page_is_what_the_script_writes(script: dict[str, Any]) -> None:
    command = "python scripts/recipe_reference.py docs/recipes.md"
    assert PAGE.read_text(encoding="utf-8") == script["page"](), f"out of date, run: {command}"


def test_every_field_has_a_description_and_a_row() -> None:
    modules = thinstack.core.config, thinstack.training.recipe
    named = [getattr(module, name) for module in modules for name in module.__all__]
    models = [each for each in named if isinstance(each, type) and issubclass(each, Strict)]
    rows = PAGE.read_text(encoding="utf-8").splitlines()
    assert Recipe in models
    for model in models:
        for name, field in model.model_fields.items():
            if not field.exclude:
                assert field.description, f"{model.__name__}.{name} has no description"
                end = f"| {field.description} |"
                assert any(row.startswith(f"| `{name}` |") and row.endswith(end) for row in rows)


def test_the_recipe_at_its_top_is_whole() -> None:
    found = re.search(r"```toml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert found
    assert Recipe.parse(tomllib.loads(found[1]), source="docs/recipes.md").data.dev == "dev.txt"


class Inner(BaseModel):
    """An inner model."""

    rate: Annotated[float, Field(ge=0, lt=1)] = Field(0.5, description="A\nrate.")


class Outer(BaseModel):
    """An outer model."""

    count: int = Field(gt=0, description="How many | which.")
    names: tuple[str, ...] = Field((), min_length=2)
    kind: Literal["a", "b"] = "a"
    inner: Inner | Literal["none"] | None = None
    again: Inner = Inner()
    gone: int = Field(1, exclude=True)


def test_what_stands_in_its_tables(script: dict[str, Any]) -> None:
    heads = "| field | values | default | what it does |\n| --- | --- | --- | --- |\n"
    assert list(script["sections"](Outer, "")) == [
        "## The top of the file\n\nAn outer model.\n",
        heads + "| `count` | integer, > 0 | required | How many \\| which. |\n"
        "| `names` | list of strings, at least 2 | `[]` |  |\n"
        '| `kind` | `"a"`, `"b"` | `"a"` |  |\n'
        '| `inner` | section or `"none"` | none |  |\n'
        "| `again` | section | its defaults |  |\n",
        "## `[inner]`\n\nAn inner model.\n",
        heads + "| `rate` | number, >= 0 and < 1 | `0.5` | A rate. |\n",
    ]


def test_a_type_without_words_is_refused(script: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match=r"expected a type of TOML, found <class 'complex'>"):
        script["allowed"](complex)
