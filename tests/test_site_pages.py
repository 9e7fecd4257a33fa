"""The hook of the documentation site; `test_site.py` builds all of it."""

from runpy import run_path
from types import SimpleNamespace

import pytest
from pages import ROOT, read

from thinstack.core import config
from thinstack.core.config import Strict
from thinstack.core.config.base import descriptions
from thinstack.training import recipe
from thinstack.training.recipe import Recipe

HOST = "https://example.org/thinstack"


@pytest.fixture(scope="module")
def hook():
    return run_path(str(ROOT / "lab" / "scripts" / "site_pages.py"))


@pytest.mark.parametrize("target", ["gone.md", "../lab/recipes/gone.toml", "../../elsewhere"])
def test_a_link_to_nothing_is_refused(hook, target):
    with pytest.raises(FileNotFoundError, match=f"docs/trees.md: .* {target}, "):
        hook["link_of"](target, "trees.md", HOST)


def links_of(folder, hook):
    read = hook["place_in_site"]
    return [
        (match[3], read(path.relative_to(ROOT).as_posix()))
        for path in folder.rglob("*.md")
        for part in hook["FENCED"].split(path.read_text(encoding="utf-8"))[::2]
        for match in hook["LINK"].finditer(part)
        if match[3]
    ]


def test_every_link_of_every_page_leads_somewhere(hook):
    links = [*links_of(ROOT / "docs", hook), *links_of(ROOT / "lab" / "results", hook)]
    assert len(links) > 100
    for target, place in links:
        hook["link_of"](target, place, HOST)


def test_every_link_of_the_readme_leads_somewhere(hook):
    text = read("README.md")
    targets = [match[3].split("#")[0] for match in hook["LINK"].finditer(text) if match[3]]
    assert len(targets) > 15
    for target in targets:
        assert (ROOT / target).is_file(), target


def test_every_field_of_recipes_has_a_description_and_a_row(hook):
    page = SimpleNamespace(file=SimpleNamespace(src_uri="recipes.md"))
    settings = SimpleNamespace(extra={"repository": HOST})
    text = hook["on_page_markdown"]("# Recipes\n", page=page, config=settings, files=None)
    names = [*vars(config).values(), *(getattr(recipe, name) for name in recipe.__all__)]
    models = [kind for kind in names if isinstance(kind, type) and issubclass(kind, Strict)]
    assert Recipe in models
    for model in models:
        for name, field in model.model_fields.items():
            if not field.exclude:
                assert name in descriptions(model), f"{model.__name__}.{name} has no description"
                assert f"\n| `{field.alias or name}` |" in text
