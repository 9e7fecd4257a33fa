"""`thinstack search` and `thinstack themes`: from a table to phrases and themes."""

import csv
import io
import json
import sys

import pandas as pd
import pytest

import thinstack
from thinstack.cli import main
from thinstack.integrations.search.phrase_index import PhraseIndex

ROWS = [
    ("Good film. The plot but the film.", "Leeds"),
    ("", "Leeds"),
    ("an awful plot", "Bath"),
    ("good film", "Bath"),
    ("the awful seats", None),
    ("GOOD FILM", "bath"),
]


def written(path, rows):
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=";").writerows([("review", "store"), *rows])
    return path


@pytest.fixture
def table(tmp_path):
    return written(tmp_path / "reviews.csv", ROWS)


@pytest.fixture
def search(cli, vector_folder, table):
    def call(query, *args, source=table, code=0, **more):
        answer = cli("search", source, query, "--model", vector_folder, *args, **more)
        assert answer.code == code, answer.err
        return answer

    return call


def lines_of(answer):
    return [json.loads(line) for line in answer.out.splitlines()]


def test_lines_are_the_hits_of_an_index(search, vector_folder):
    index = thinstack.PhraseIndex(vector_folder)
    index.add([text for text, _ in ROWS], [f"line {line}" for line in range(2, 8)])
    for options, settings in (
        ((), {}),
        (("--side", "negative", "--top", "2"), {"side": "negative", "top": 2}),
        (("--min-similarity", "0.9"), {"min_similarity": 0.9}),
    ):
        answer = search("good film", "--text", "review", "--json", *options)
        hits = index.search("good film", **settings)
        names = ("phrase", "similarity", "polarity", "count", "start", "end", "sentence", "text")
        assert lines_of(answer) == [
            {name: getattr(hit, name) for name in names} | {"row": hit.id} for hit in hits
        ]
        assert "rows not searched: 1; the first is line 3: no text" in answer.err


def test_a_table_shows_phrases_in_their_sentences(search):
    (hit,) = lines_of(search("good plot", "--text", "review", "--top", "1", "--json"))
    answer = search("good plot", "--text", "review", "--top", "1")
    assert answer.out.startswith("good plot in reviews.csv\n")
    sentence = hit["sentence"].replace(hit["phrase"], f"[{hit['phrase']}]")
    cells = [sentence, f"{hit['similarity']:.2f}", f"{hit['polarity']:+.2f}", str(hit["count"])]
    (row,) = [line for line in answer.out.splitlines() if "[" in line]
    assert [cell.strip() for cell in row.split("│")[1:-1]] == [*cells, hit["row"]]


def test_groups_are_searched_one_by_one(search, tmp_path):
    lines = lines_of(search("good film", "--text", "review", "--by", "store", "--json"))
    groups = [line["group"] for line in lines]
    assert groups == sorted(groups), "Bath, the larger one, first"
    good = {line["group"]: line for line in lines if line["phrase"].lower() == "good film"}
    assert {name: line["count"] for name, line in good.items()} == {"Bath": 2, "Leeds": 1}
    assert all("seats" not in line["text"] for line in lines)
    shown = search("good film", "--text", "review", "--by", "store")
    assert "good film in reviews.csv, store Bath" in shown.out
    assert "rows not searched, because they have no store: 1\n" in shown.err
    assert "no store" not in search("good film", "--text", "review").err
    many = written(tmp_path / "many.csv", [("good film", f"{n:02}") for n in range(52)])
    all_of = search("good film", "--text", "review", "--by", "store", "--json", source=many)
    assert (len(lines_of(all_of)), "2 smaller groups" in all_of.err) == (50, True)


def test_an_index_is_kept_until_the_table_changes(
    search, vector_folder, table, tmp_path, monkeypatch
):
    added, save = [], PhraseIndex.save
    monkeypatch.setattr(PhraseIndex, "save", lambda *args: added.append(save(*args)))
    kept = tmp_path / "reviews.index"
    options = ("--text", "review", "--json", "--index", kept)
    first = search("good film", *options)
    again = search("good film", *options)
    assert again.out == first.out
    assert "rows not searched: 1; the first is line 3: no text" in first.err
    assert "rows not searched: 1\n" in again.err
    assert len(added) == 1
    with table.open("a", encoding="utf-8") as file:
        file.write("good plot;Leeds\n")
    assert "good plot" in search("good plot", *options).out
    assert len(added) == 2
    other, saved = tmp_path / "x.txt", tmp_path / "saved.index"
    other.write_text("mine", encoding="utf-8")
    thinstack.PhraseIndex(vector_folder).save(saved)
    before = saved.read_bytes()
    for path, problem in (
        (table, "would replace"),
        (other, "not an index"),
        (saved, "index from PhraseIndex.save"),
    ):
        search("good", "--text", "review", "--index", path, code=2).check_refused(problem)
    assert (other.read_text(encoding="utf-8"), saved.read_bytes()) == ("mine", before)


@pytest.mark.filterwarnings("always::thinstack.errors.LanguageWarning")
def test_a_text_of_another_language_is_named_by_its_line(search, table):
    with table.open("a", encoding="utf-8") as file:
        file.write("фильм был очень плохой и скучный;Leeds\n")
    answer = search("good film", "--text", "review", "--json", "--top", "99")
    assert "line 8" in {line["row"] for line in lines_of(answer)}, "it is searched all the same"
    assert "warning: line 8: the model does not know 6 of the 6 words" in answer.err


SAID = [
    *(("awful plot", "Leeds"), ("awful awful plot", "Bath"), ("", "Leeds")),
    *[("awful plot", "Bath"), ("awful awful plot", "Bath")] * 4,
    ("=awful awful plot", None),
]


@pytest.fixture
def themes(cli, vector_folder, tmp_path):
    path = written(tmp_path / "reviews.csv", SAID)

    def call(*args, source=path, code=0, **more):
        answer = cli("themes", source, "--model", vector_folder, "--text", "review", *args, **more)
        assert answer.code == code, answer.err
        return answer

    return call


@pytest.fixture(scope="module")
def expected(vector_folder):
    frame = pd.DataFrame(SAID, columns=["review", "store"])
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
        for row in range(len(SAID))
        for match in expected.of(row)
    ]


def test_themes_that_are_named(themes):
    answer = themes("--name", "plot=awful plot,the plot", "--name", "plot=a plot", "--json")
    (theme,) = json.loads(answer.out)["themes"]
    assert (theme["title"], theme["examples"]) == ("plot", ["awful plot", "the plot", "a plot"])
    named = ("--name", "plot=awful plot,the plot,a plot", "--json", "--threshold")
    strict, loose = (json.loads(themes(*named, least).out)["themes"][0] for least in (1, 0.45))
    assert strict["texts"] < loose["texts"] == theme["texts"]


def test_rows_are_not_written_as_csv_into_another_file(themes, tmp_path):
    themes("--out", tmp_path / "rows.json", code=2).check_refused("a name that ends in .csv")
    assert not (tmp_path / "rows.json").exists()
    themes("--out", tmp_path / "rows")  # as /dev/stdout has no ending


def test_few_texts_have_no_theme(themes, tmp_path):
    few = tmp_path / "few.csv"
    few.write_text("review\nawful plot\n", encoding="utf-8")
    assert "no theme is in enough texts" in themes(source=few).out


@pytest.mark.parametrize("args", [("search", "good film"), ("themes", "--name", "film=good film")])
def test_an_output_of_ascii_only_holds_any_phrase(vector_folder, tmp_path, monkeypatch, args):
    table = written(tmp_path / "t.csv", [("good film 😀, naïve plot", "Leeds")])
    command, *rest = args
    options = ("--text", "review", "--model", vector_folder)
    monkeypatch.setattr(sys, "argv", ["thinstack", command, str(table), *rest, *map(str, options)])
    output = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(output, "ascii", write_through=True))
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code in (0, None)
    assert r"na\xefve" in output.getvalue().decode("ascii")
