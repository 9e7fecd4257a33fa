"""`thinstack evaluate --suite`: its table, its data, and what it refuses."""

import csv

import pytest
from last_word_model import write_last_word_bundle

from thinstack.evaluate.suite import Case, halves, read_suite, suite_names

ROWS = [
    Case("a", "open", "no", "positive", "MFT", "-", "-", "No [red] good"),
    Case("b", "open", "no", "positive", "MFT", "-", "-", "No awful"),
    Case("c", "reported", "irony", "negative", "MFT", "-", "-", "So awful"),
    Case("d", "reported", "books", "negative", "MFT", "-", "-", "Rather awful"),
]


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    path = tmp_path_factory.mktemp("sides") / "model"
    return write_last_word_bundle(path, labels=("negative", "so-so", "positive")).path


@pytest.fixture
def mine(tmp_path):
    path = tmp_path / "mine.tsv"
    rows = [Case._fields, *ROWS]
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_the_reported_half_is_measured_unless_another_is_named(cli, bundle):
    cases = read_suite("polarity")
    for half, given in (("reported", ()), ("open", ("--half", "open")), ("all", ("--half", "all"))):
        found = cli("evaluate", bundle, "--suite", "polarity", "--json", *given).json
        counted = [case for case in halves(cases, half) if case.kind != "irony"]
        assert (found["suite"], found["half"], found["total"]) == ("polarity", half, len(counted))
        assert found["negated_negatives"] == found["kinds"]["negated_negatives"]["accuracy"]
        assert "wrong" not in found


def test_the_table_has_a_row_for_each_kind(cli, bundle, mine):
    shown = cli("evaluate", "--suite", mine, "--model", bundle, "--half", "all").out
    assert f"{bundle} on the suite {mine}, both halves" in shown
    rows = [line.strip("│ ").split("│") for line in shown.splitlines() if line.startswith("│")]
    cells = [[cell.strip() for cell in row] for row in rows]
    assert cells == [
        ["mine", "2", "3", "66.67", "-", "-", "-"],
        ["no", "1", "2", "50.00", "-", "-", "-"],
        ["books", "1", "1", "100.00", "-", "-", "-"],
        ["irony, in no total", "1", "1", "100.00", "-", "-", "-"],
    ]


def test_all_suites_are_one_table(cli, bundle):
    data = cli("evaluate", bundle, "--suite", "all", "--json").json
    assert (data["suite"], data["half"], [*data["suites"]]) == ("all", "reported", suite_names())
    alone = cli("evaluate", bundle, "--suite", "fairness", "--json").json
    assert alone == {"suite": "fairness", "half": "reported"} | data["suites"]["fairness"]
    shown = cli("evaluate", bundle, "--suite", "all").out
    assert f"{bundle} on all suites, reported half" in shown
    names = [line.split("│")[1].strip() for line in shown.splitlines() if line.startswith("│")]
    kinds = {kind.replace("_", " ") for each in data["suites"].values() for kind in each["kinds"]}
    assert {*suite_names(), *kinds} <= {*names}
    assert all(names.count(name) == 1 for name in suite_names())


def wrong_rows(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_what_is_wrong_of_all_suites_names_the_suite(cli, bundle, tmp_path):
    out = tmp_path / "wrong.csv"
    command = ("evaluate", bundle, "--suite", "all", "--half", "open", "--list-wrong", out)
    figures = cli(*command, "--json").json["suites"]
    rows = wrong_rows(out)
    assert {row["suite"] for row in rows} == {*suite_names()}
    cases = {(name, case.id): case for name in suite_names() for case in read_suite(name)}
    for row in rows:
        case = cases[row["suite"], row["id"]]
        assert (case.half, row["text"], row["label"]) == ("open", case.text, case.expected)
    polarity = [row for row in rows if row["suite"] == "polarity" and row["kind"] != "irony"]
    assert len(polarity) == figures["polarity"]["total"] - figures["polarity"]["right"]


def test_what_is_wrong_is_listed(cli, bundle, mine, tmp_path):
    out = tmp_path / "wrong.csv"
    command = ("evaluate", bundle, "--suite", mine, "--list-wrong", out)
    assert str(out) in cli(*command, "--half", "open").err
    row = {"suite": str(mine), "id": "b", "kind": "no", "text": "No awful", "label": "positive"}
    assert wrong_rows(out) == [row]


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ("one two --suite polarity", "at most one model, found one two"),
        ("one --suite polarity --model two", "at most one model, found one"),
        ("one two --model three", "at most one model, found one two"),
        ("", "a file and at most one model, found nothing"),
    ],
)
def test_too_many_or_too_few_names_are_wrong_usage(cli, monkeypatch, arguments, found):
    monkeypatch.setenv("COLUMNS", "200")
    answer = cli("evaluate", *arguments.split())
    assert answer.code == 2
    assert found in answer.err


def test_a_file_takes_the_model_by_either_way(cli, bundle, tmp_path):
    trees = tmp_path / "trees.txt"
    trees.write_text("(2 (1 film) (2 good))\n")
    by_option = cli("evaluate", trees, "--model", bundle, "--json")
    assert by_option == cli("evaluate", bundle, trees, "--json")
    assert by_option.code == 0
