"""The pages of `lab/results/` are what their JSON prints."""

import json

import pytest
from pages import ROOT

from reproduce.markdown import markdown
from reproduce.table import Table

TABLES = ("sentiment", "teng", "relatedness", "entailment", "questions")


@pytest.mark.parametrize("name", [*TABLES, "reranking"])
def test_a_page_is_what_its_figures_print(name):
    report = json.loads((ROOT / "lab" / "results" / f"{name}.json").read_text(encoding="utf-8"))
    page = (ROOT / "lab" / "results" / f"{name}.md").read_text(encoding="utf-8")
    assert page == markdown(report, [f"{name}-{curve}.svg" for curve in report["curves"]])


@pytest.mark.parametrize("name", TABLES)
def test_every_comparison_of_a_table_is_made(name):
    report = json.loads((ROOT / "lab" / "results" / f"{name}.json").read_text(encoding="utf-8"))
    table = Table.read(ROOT / "lab" / "recipes" / "tables" / f"{name}.toml")
    made = [(found["a"], found["b"], found["key"]) for found in report["comparisons"]]
    assert made == [(pair.a, pair.b, pair.key) for pair in table.compare]
