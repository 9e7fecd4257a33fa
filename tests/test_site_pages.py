"""The hook of the documentation site; `test_site.py` builds all of it."""

import re
import tomllib
from runpy import run_path
from types import SimpleNamespace

import pytest
from pages import ROOT

from thinstack.core import config
from thinstack.core.config import Strict
from thinstack.training import recipe
from thinstack.training.recipe import Recipe

HOST = "https://example.org/thinstack"


@pytest.fixture(scope="module")
def hook():
    return run_path(str(ROOT / "lab" / "scripts" / "site_pages.py"))


LINKS = [  # link, page of the site, what it becomes
    ("trees.md#formats", "models.md", "trees.md#formats"),
    ("results/README.md", "lab/figures.md", "results/README.md"),
    ("../lab/figures.md#aspects", "faq.md", "lab/figures.md#aspects"),
    ("../../docs/suite.md", "lab/results/sentiment-rivals.md", "../../suite.md"),
    ("sentiment-depth.svg", "lab/results/sentiment.md", "sentiment-depth.svg"),
    ("CONTRIBUTING.md", "changelog.md", "contributing.md"),
    ("data.sha256", "data.md", "data.sha256"),
    ("../lab/recipes", "training.md", f"{HOST}/tree/main/lab/recipes"),
    ("results/sentiment.json", "lab/figures.md", f"{HOST}/blob/main/lab/results/sentiment.json"),
]


@pytest.mark.parametrize(("target", "place", "expected"), LINKS)
def test_links(hook, target, place, expected):
    assert hook["link_of"](target, place, HOST) == expected


@pytest.mark.parametrize("target", ["gone.md", "../lab/recipes/gone.toml", "../../elsewhere"])
def test_a_link_to_nothing_is_refused(hook, target):
    with pytest.raises(FileNotFoundError, match=f"docs/trees.md: .* {target}, "):
        hook["link_of"](target, "trees.md", HOST)


PAGE = """[a](../lab/recipes) `[b](../gone)`

- one
  - [two](trees.md)

```python use.py
f["a"](x)  # [c](../gone)
  indented
```

```
  [d](../gone)
```
"""


def test_a_page(hook):
    page = SimpleNamespace(file=SimpleNamespace(src_uri="models.md"))
    config = SimpleNamespace(extra={"repository": HOST})
    text = hook["on_page_markdown"](PAGE, page=page, config=config, files=None)
    expected = PAGE.replace("(../lab/recipes)", f"({HOST}/tree/main/lab/recipes)")
    expected = expected.replace("  - [two]", "    - [two]")
    assert text == expected.replace("python use.py", 'python title="use.py"')


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
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    targets = [match[3].split("#")[0] for match in hook["LINK"].finditer(text) if match[3]]
    assert len(targets) > 15
    for target in targets:
        assert (ROOT / target).is_file(), target


def test_the_repository_is_that_of_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    site = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    addresses = re.findall(r"\b(?:repository|link): (\S+)", site)
    assert addresses == [project["urls"]["Repository"]] * 2


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
                assert field.description, f"{model.__name__}.{name} has no description"
                assert f"\n| `{field.alias or name}` |" in text
