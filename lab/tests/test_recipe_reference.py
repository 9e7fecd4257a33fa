"""The reference of recipes that `scripts/recipe_reference.py` writes into the site."""

from runpy import run_path
from types import SimpleNamespace

from pages import ROOT

from thinstack.core import config
from thinstack.core.config import Strict
from thinstack.training import recipe
from thinstack.training.recipe import Recipe


def test_every_field_has_a_description_and_a_row_on_the_site():
    hook = run_path(str(ROOT / "scripts" / "site_pages.py"))["on_page_markdown"]
    page = SimpleNamespace(file=SimpleNamespace(src_uri="recipes.md"))
    settings = SimpleNamespace(extra={"repository": "https://example.org"})
    text = hook("# Recipes\n", page=page, config=settings)
    names = [getattr(module, name) for module in (config, recipe) for name in module.__all__]
    models = [each for each in names if isinstance(each, type) and issubclass(each, Strict)]
    assert Recipe in models
    for model in models:
        for name, field in model.model_fields.items():
            if not field.exclude:
                assert field.description, f"{model.__name__}.{name} has no description"
                assert f"\n| `{field.alias or name}` |" in text
