"""Running rows of a table leaves the other rows of its report as they are, while they hold."""

import json
from pathlib import Path

import pytest
from table_command import written
from tiny_table import tiny, write

import reproduce.run
from thinstack.errors import DataError

PAIR = [{"a": "lstm", "b": "rvnn", "key": "root_accuracy"}]
CURVE = {"name": "length", "title": "By length", "x": "words", "last": 5, "rows": ["lstm", "rvnn"]}


def forget(command, row):
    """Leave nothing of the work on a row but what stands in the report."""
    for path in sorted((command.work / "tiny" / row).rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()


def rows(command):
    return {row["name"]: row for row in command.report()["rows"]}


def test_the_other_rows_are_kept(command):
    command.change(compare=PAIR)
    command()
    before = command.report()
    forget(command, "lstm")
    answer = command("--row", "rvnn")
    assert "kept of the report before: lstm" in answer.out
    assert command.report()["rows"] == before["rows"]
    assert command.report()["complete"]
    assert " --row " not in command.report()["command"]
    assert written(command) == {"tiny.json", "tiny.md"}


def test_a_new_row_takes_its_place_in_the_order_of_the_table(command):
    command("--row", "rvnn")
    assert written(command) == {"tiny-part.json", "tiny-part.md"}
    for name in ("json", "md"):
        (command.out / f"tiny-part.{name}").rename(command.out / f"tiny.{name}")
    command("--row", "lstm")
    assert list(rows(command)) == ["lstm", "rvnn"]
    assert command.report()["complete"]


@pytest.mark.parametrize(
    "change",
    [{"model": {"cell": {"name": "rvnn.v1", "hidden_size": 4}}}, {"training": {"seeds": [1, 3]}}],
)
def test_a_row_whose_recipe_has_changed_is_not_kept(command, change):
    command()
    before = command.report()
    table = tiny()
    table["rows"][1]["recipe"] = {**table["rows"][1]["recipe"], **change}
    write(command.folder, table)
    answer = command("--row", "lstm")
    assert "have changed since: rvnn; for the whole report call it" in answer.out
    assert "with --row lstm --row rvnn, where" in answer.out
    assert [row["name"] for row in command.report("tiny-part")["rows"]] == ["lstm"]
    assert command.report() == before


def other_data(command):
    with (command.data / "dev.txt").open("a", encoding="utf-8") as file:
        file.write("(0 bad)\n")


def other_trees(command):
    table = tiny()
    table["rows"][1]["trees"] = "balanced"
    write(command.folder, table)


def other_version(command):
    for module in ("kept", "run", "provenance"):
        command.monkeypatch.setattr(f"reproduce.{module}.__version__", "99.0")


@pytest.mark.parametrize("change", [other_data, other_trees, other_version])
def test_a_row_of_something_else_is_not_kept(command, change):
    command()
    change(command)
    assert "have changed since: rvnn" in command("--row", "lstm").out


def test_words_and_columns_are_the_table_s(command):
    command()
    table = tiny()
    table["rows"][1]["title"] = "Recursive network"
    table["columns"].append({"key": "phrase_accuracy", "title": "Phrases"})
    write(command.folder, table)
    command("--row", "lstm")
    found = rows(command)
    assert found["rvnn"]["title"] == "Recursive network"
    assert "phrase_accuracy" not in found["rvnn"]["figures"]
    page = (command.out / "tiny.md").read_text(encoding="utf-8")
    assert page.splitlines()[7].startswith("| Recursive network | ")
    assert "| not yet run |" in page.splitlines()[7]
    assert found["lstm"]["figures"]["phrase_accuracy"]["mean"] > 0


def test_a_row_that_the_table_has_no_more_goes(command):
    command()
    command.change(rows=tiny()["rows"][:1])
    command("--row", "lstm")
    assert list(rows(command)) == ["lstm"]


def test_comparisons_and_curves_of_two_kept_rows_stay(command, monkeypatch):
    monkeypatch.setattr("reproduce.curves.LEAST_CASES", 1)
    third = {**tiny()["rows"][1], "name": "third"}
    command.change(compare=PAIR, curves=[CURVE], rows=[*tiny()["rows"], third])
    command()
    before = command.report()
    forget(command, "lstm")
    forget(command, "rvnn")
    command("--row", "third")
    assert command.report()["comparisons"] == before["comparisons"]
    assert command.report()["comparisons"][0]["interval"] is not None
    assert command.report()["curves"] == before["curves"]
    assert before["curves"]["length"]["lstm"]


def test_lines_of_a_time_before_curves_of_variants_stay(command):
    command.change(curves=[CURVE])
    command()
    report = command.report()
    assert report["rules"]["length"].pop("variant") == ""
    (command.out / "tiny.json").write_text(json.dumps(report), encoding="utf-8")
    forget(command, "lstm")
    command("--row", "rvnn")
    assert command.report()["curves"] == report["curves"]


def test_a_row_that_fails_now_is_not_kept(command, monkeypatch):
    """Its figures would stand beside the news that it failed; its cases are not all there."""
    third = {**tiny()["rows"][0], "name": "third", "variants": []}
    command.change(compare=PAIR, rows=[*tiny()["rows"], third])
    command()
    before = command.report()
    forget(command, "rvnn")
    run_one = reproduce.run.run_one

    def failing(job):
        if job.rival is None and job.recipe.model.cell.name == "rvnn.v1" and job.seed == 2:
            raise DataError("the disk is full")
        return run_one(job)

    monkeypatch.setattr("reproduce.run.run_one", failing)
    answer = command("--row", "lstm", "--row", "rvnn")
    assert (answer.code, "rvnn/2: the disk is full" in answer.err) == (2, True)
    part = command.report("tiny-part")
    assert [row["name"] for row in part["rows"]] == ["lstm", "third"]
    assert (part["complete"], list(part["missing"])) == (False, ["rvnn"])
    assert command.report() == before


def test_lines_of_a_curve_that_is_drawn_otherwise_now_are_not_kept(command, monkeypatch):
    monkeypatch.setattr("reproduce.curves.LEAST_CASES", 1)
    command.change(curves=[CURVE])
    command()
    command.change(curves=[{**CURVE, "window": 1}])
    command("--row", "lstm")
    assert list(command.report()["curves"]["length"]) == ["lstm"]


def test_the_paper_s_difference_is_the_table_s(command):
    table = tiny()
    third = {**table["rows"][1], "name": "third"}
    command.change(compare=PAIR, rows=[*table["rows"], third])
    command()
    assert command.report()["comparisons"][0]["paper"] is None
    table["rows"][1]["paper"] = {"root_accuracy": 41.0}
    command.change(compare=PAIR, rows=[*table["rows"], third])
    command("--row", "third")
    assert command.report()["comparisons"][0]["paper"] == 10.0


def test_a_comparison_with_a_kept_row_has_no_interval(command):
    """The cases of the kept row are not there any more."""
    command.change(compare=PAIR)
    command()
    before = command.report()["comparisons"][0]
    forget(command, "lstm")
    command("--row", "rvnn")
    found = command.report()["comparisons"][0]
    assert found["difference"] == before["difference"]
    assert (found["interval"], found["examples_error"]) == (None, None)


@pytest.mark.parametrize("content", ["{", "[]", '{"schema_version": 99, "rows": []}'])
def test_a_file_that_is_no_report_is_written_over(command, content):
    command.out.mkdir()
    Path(command.out / "tiny.json").write_text(content, encoding="utf-8")
    assert command().code == 0
    assert command.report()["complete"]
