"""docs/papers.md: the page that `lab/scripts/papers_page.py` writes; nothing is left out."""

import re
import tomllib
from runpy import run_path

import pytest
from pages import ROOT

PAGE = ROOT / "docs" / "papers.md"
ITEMS = {  # how many figures and tables each paper has
    "Tai": (4, 4),
    "Bowman": (3, 3),
    "Zhu": (4, 3),
    "Teng": (6, 7),
}
TABLES = ("sentiment", "relatedness", "entailment", "questions", "teng")
NOT_OF_A_PAPER = {  # rows that no table of a paper has
    ("sentiment", "s-lstm-balanced"),
    ("sentiment", "spinn"),
}


@pytest.fixture(scope="module")
def script():
    return run_path(str(ROOT / "lab" / "scripts" / "papers_page.py"))


def papers():
    text = (ROOT / "lab" / "scripts" / "papers.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)["papers"]


def test_the_page_is_what_the_script_writes(script):
    command = "python lab/scripts/papers_page.py docs/papers.md"
    assert PAGE.read_text(encoding="utf-8") == script["page"](), f"out of date, run: {command}"


def test_every_table_and_figure_is_there():
    for paper in papers():
        names = [item["name"] for item in paper["items"]]
        figures, tables = next(counts for name, counts in ITEMS.items() if name in paper["title"])
        for kind, count in (("Figure", figures), ("Table", tables)):
            numbers = set()
            for name in names:
                for first, last in re.findall(rf"{kind}s? (\d)(?:[-, ]+(\d))?", name):
                    numbers |= set(range(int(first), int(last or first) + 1))
            assert numbers == set(range(1, count + 1)), (paper["title"], kind)


def test_every_row_of_the_tables_is_beside_its_paper(script):
    items = [item for paper in papers() for item in paper["items"] if "rows" in item]
    named = {(item["results"], row) for item in items for row in item["rows"]}
    tables = {name for name, _ in named}
    run = {(name, row["name"]) for name in tables for row in script["report_of"](name)["rows"]}
    rows = {(name, row) for name in TABLES for row in script["rows_of"](name)}
    assert tables == {*TABLES, "reranking"}
    rows |= {(name, row) for name, row in run if name == "reranking"}
    assert rows - NOT_OF_A_PAPER == named
    assert run <= rows


def test_every_curve_of_the_tables_is_beside_its_paper():
    items = [item for paper in papers() for item in paper["items"]]
    named = {(item["results"], item["curve"]) for item in items if "curve" in item}
    texts = (
        (ROOT / "lab" / "recipes" / "tables" / f"{name}.toml").read_text(encoding="utf-8")
        for name in TABLES
    )
    tables = [tomllib.loads(text) for text in texts]
    assert {(t["name"], curve["name"]) for t in tables for curve in t.get("curves", ())} == named


def test_every_item_has_figures_or_says_why_not():
    for item in (item for paper in papers() for item in paper["items"]):
        assert item.keys() & {"rows", "curve", "ours"}, item["name"]
        assert ("rows" in item) == bool(item.keys() & {"columns", "kind"}), item["name"]
