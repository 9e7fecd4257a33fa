"""`thinstack themes`: from a table to themes."""

import csv
import json

import pandas as pd
import pytest

import thinstack

ROWS = [
    *(("awful plot", "Leeds"), ("awful awful plot", "Bath"), ("", "Leeds")),
    *[("awful plot", "Bath"), ("awful awful plot", "Bath")] * 4,
    ("=awful awful plot", None),
]


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "reviews.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=";").writerows([("review", "store"), *ROWS])
    return path


@pytest.fixture
def themes(cli, vector_folder, table):
    def call(*args, source=table, code=0, **more):
        answer = cli("themes", source, "--model", vector_folder, "--text", "review", *args, **more)
        assert answer.code == code, answer.err
        return answer

    return call


@pytest.fixture(scope="module")
def expected(vector_folder):
    frame = pd.DataFrame(ROWS, columns=["review", "store"])
    return thinstack.themes(frame, "review", by="store", model=vector_folder)


def test_lines_are_those_of_the_frame(themes, expected):
    answer = themes("--by", "store", "--quotes", "1")
    lines = answer.out.splitlines()
    assert lines[0].startswith("Themes of 11 texts of reviews.csv")
    for theme in expected:
        (place,) = [place for place, line in enumerate(lines) if f"  {theme.title} (" in line]
        share = f"{100 * theme.share.value:.1f}%"
        assert lines[place].split()[:2] == [share, str(theme.figures.texts)]
        shares = [f"{part.name} {100 * part.share.value:.1f}%" for part in theme.groups]
        assert lines[place + 1].strip() == f"by store: {', '.join(shares)}"
        assert lines[place + 2].strip().startswith(f"“{theme.quotes[0].text}” (line ")
    assert "of 12 rows, 1 have no text; the first is line 4" in answer.err


def quoted(cell):
    """A cell that a spreadsheet does not read as a formula."""
    return f"'{cell}" if cell.startswith("=") else cell


def test_json_page_and_rows(themes, expected, tmp_path):
    page, out = tmp_path / "themes.html", tmp_path / "rows.csv"
    data = json.loads(themes("--by", "store", "--json", "--html", page, "--out", out).out)
    wanted = json.loads(expected.to_json())
    assert [one["title"] for one in data["themes"]] == [one["title"] for one in wanted["themes"]]
    assert [one["groups"] for one in data["themes"]] == [one["groups"] for one in wanted["themes"]]
    assert "What people complain about" in page.read_text(encoding="utf-8")
    with out.open(encoding="utf-8", newline="") as file:
        rows = [*csv.reader(file)]
    assert rows[0] == ["row", "theme", "phrase", "similarity"]
    assert rows[1:] == [
        [f"line {row + 2}", match.theme, quoted(match.phrase), str(match.similarity)]
        for row in range(len(ROWS))
        for match in expected.of(row)
    ]


def test_themes_that_are_named(themes):
    answer = themes("--name", "plot=awful plot,the plot", "--name", "plot=a plot", "--json")
    (theme,) = json.loads(answer.out)["themes"]
    assert (theme["title"], theme["examples"]) == ("plot", ["awful plot", "the plot", "a plot"])
    named = ("--name", "plot=awful plot,the plot,a plot", "--json", "--threshold")
    strict, loose = (json.loads(themes(*named, least).out)["themes"][0] for least in (1, 0.45))
    assert strict["texts"] < loose["texts"] == theme["texts"]


def test_few_texts_have_no_theme(themes, tmp_path):
    few = tmp_path / "few.csv"
    few.write_text("review\nawful plot\n", encoding="utf-8")
    assert "no theme is in enough texts" in themes(source=few).out
