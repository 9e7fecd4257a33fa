"""What users import: modules that list their names, which the pages of the API show."""

import ast
import re
from importlib import import_module

import pytest
from pages import ROOT

API = "\n".join(path.read_text(encoding="utf-8") for path in ROOT.glob("docs/api/*.md"))
SHOWN = re.findall(r"^::: (\S+)$", API, re.MULTILINE)
PUBLIC = {
    "thinstack",
    "thinstack.errors",
    "thinstack.integrations.corpora",
    "thinstack.integrations.spacy",
    "thinstack.integrations.spark",
    "thinstack.plugins",
    "thinstack.runtime",
    "thinstack.sklearn",
    "thinstack.testing",
}
NAME = re.compile(r"\bthinstack(?:\.[A-Za-z_]\w*)+")
IMPORT = re.compile(r"from (thinstack(?:\.[\w.]*)?) import \(?([\w, \n]+)")


def inside(text):
    """What a text names or imports of thinstack and is not public."""
    names = set(NAME.findall(text))
    for home, imported in IMPORT.findall(text):
        names |= {f"{home}.{name.strip()}" for name in imported.split("\n")[0].split(",")}
    return sorted(name for name in names if not is_public(name))


def is_public(name):
    """Whether this is a public module, or begins with a name of one, such as a class."""
    home = max((each for each in PUBLIC if f"{name}.".startswith(f"{each}.")), key=len)
    first, *_ = name.removeprefix(home).strip(".").split(".")
    return name in PUBLIC or first in import_module(home).__all__


@pytest.mark.parametrize("module", sorted(PUBLIC))
def test_public_names_are_there_and_shown(module):
    home = import_module(module)
    for name in home.__all__:
        assert not isinstance(getattr(home, name), type(home)), name
    assert SHOWN.count(module) == 1


def test_completion_lists_public_names():
    for module in PUBLIC:
        home = import_module(module)
        if hasattr(home, "__getattr__"):
            assert dir(home) == sorted(home.__all__)
    assert {"score_frame", "report", "load", "Result", "Phrase"} <= {
        *dir(import_module("thinstack"))
    }


def test_the_help_of_the_package_shows_what_the_model_says():
    thinstack = import_module("thinstack")
    text, label, polarity = re.search(
        r"model\(\"(.*)\"\)\n.*# '(.*)', (-?[0-9.]+):", thinstack.__doc__
    ).groups()
    result = thinstack.load(threads=1)(text)
    assert (result.label, round(result.polarity, 2)) == (label, float(polarity))


def test_nothing_else_is_shown():
    assert set(SHOWN) == PUBLIC | {"thinstack.plugins.kinds"}


PAGES = [ROOT / "README.md", *ROOT.glob("examples/**/*.py"), *ROOT.glob("docs/*.md")]


@pytest.mark.parametrize("page", sorted(PAGES), ids=lambda page: page.name)
def test_pages_and_examples_name_public_things(page):
    assert inside(page.read_text(encoding="utf-8")) == []


def test_messages_name_public_things():
    for path in ROOT.glob("thinstack/**/*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Raise | ast.Return | ast.Assign):
                texts = [x.value for x in ast.walk(node) if isinstance(x, ast.Constant)]
                told = [x for x in texts if isinstance(x, str) and " " in x and "import " not in x]
                assert inside("\n".join(told)) == [], path
