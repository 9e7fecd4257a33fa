"""Reports of made-up runs against numbers worked out by hand, and how they are printed."""

from math import log, sqrt

import numpy as np
import pytest
from tiny_table import tiny

from reproduce.cases import Cases
from reproduce.markdown import markdown
from reproduce.report import build
from reproduce.run import Outcome
from reproduce.table import Run, Table

MADE_AT = {
    "command": "python -m reproduce table tiny.toml --data D",
    "versions": {"python": "3.99"},
    "threads": 1,
    "commit": "c0ffee",
}


def outcome(seed, accuracy, *, seconds, commit):
    figures = {"gold": {"root_accuracy": accuracy}, "left": {"root_accuracy": 33.0}}
    parameters = {"encoder": 1500, "model": 1600}
    return Outcome("d", commit, seed, figures, 2 * seed, 9, seconds, parameters)


def report(data, accuracies, **others):
    """The report where the seeds of each `ROW[/VARIANT]` have these figures."""
    table = Table.parse(data, source="test")
    done = []
    for place, values in accuracies.items():
        name, _, variant = place.partition("/")
        row = table.row(name)
        for seed, value in enumerate(values, 1):
            made = outcome(seed, value, seconds=10.0 * seed, commit=f"commit{seed}")
            recipe = table.recipe_of(row, variant)
            done.append((Run(row, variant, seed, recipe, test=variant == "left"), made))
    digests = {run.path: {"train.txt": "ab" * 32} for run, _ in done}
    given = {"missing": {}, "complete": True, "cases": lambda *asked: [], **others}
    made = MADE_AT | build(table, done, digests=digests, **given)
    for row in made["rows"]:
        row["versions"] = MADE_AT["versions"]
    return made


def compared(data):
    data["compare"] = [{"a": "rvnn", "b": "lstm", "key": "root_accuracy"}]
    data["rows"][1]["paper"] = {"root_accuracy": 53.3}
    return data


BOTH = {"lstm": [50.0, 53.0, 56.0], "lstm/left": [40.0, 41.0], "rvnn": [54.0, 58.0]}


def test_mean_deviation_and_seeds_of_each_column():
    lstm, rvnn = report(tiny(), BOTH)["rows"]
    by_hand = {"mean": 53.0, "std": 3.0, "seeds": [50.0, 53.0, 56.0]}
    assert lstm["figures"]["root_accuracy"] == by_hand
    assert lstm["figures"]["left/root_accuracy"]["mean"] == 40.5
    assert lstm["figures"]["left/root_accuracy"]["std"] == pytest.approx(0.5**0.5)
    assert rvnn["figures"]["root_accuracy"]["std"] == pytest.approx(8**0.5)
    assert rvnn["figures"]["left/root_accuracy"] is None
    assert lstm["paper"] == {"root_accuracy": 51.0, "parameters": 1234}
    assert lstm["parameters"]["encoder"] == 1500


def test_the_trees_of_a_row_and_those_of_a_column():
    data = tiny()
    data["rows"][1]["trees"] = "left"
    data["columns"] = [{"key": key, "title": ""} for key in ("root_accuracy", "gold.root_accuracy")]
    rvnn = report(data, {"rvnn": [54.0]})["rows"][0]
    means = {key: figure["mean"] for key, figure in rvnn["figures"].items()}
    assert means == {"root_accuracy": 33.0, "gold.root_accuracy": 54.0}


def test_what_the_runs_come_from():
    own, left = report(tiny(), BOTH)["rows"][0]["runs"]
    assert (own["variant"], own["split"], own["reported_on"]) == ("", "development", "dev.txt")
    assert (left["variant"], left["split"]) == ("left", "test")
    assert (own["seeds"], own["epochs"], own["epochs_run"]) == ([1, 2, 3], [2, 4, 6], [9, 9, 9])
    assert (own["seconds"], own["data"]) == (20.0, {"train.txt": "ab" * 32})
    assert own["commits"] == ["commit1", "commit2", "commit3"]
    assert own["recipe"] != left["recipe"]


def test_a_figure_over_no_case_or_of_one_seed():
    (row,) = report(tiny(), {"lstm": [None, 50.0], "lstm/left": [1.0]})["rows"]
    assert row["figures"]["root_accuracy"] is None
    alone = report(tiny(), {"lstm": [50.0], "lstm/left": [1.0]})["rows"][0]
    assert alone["figures"]["root_accuracy"] == {"mean": 50.0, "std": None, "seeds": [50.0]}


def test_two_rows_compared():
    found = report(compared(tiny()), BOTH)["comparisons"][0]
    assert found["difference"] == pytest.approx(3.0)
    assert found["error"] == pytest.approx((9 / 3 + 8 / 2) ** 0.5)
    assert found["paper"] == pytest.approx(2.3)
    alone = report(compared(tiny()), {**BOTH, "rvnn": [54.0]})["comparisons"][0]
    assert (alone["difference"], alone["error"]) == (pytest.approx(1.0), None)
    assert report(compared(tiny()), {"rvnn": [54.0]})["comparisons"] == []


def test_the_interval_of_a_difference_is_shown_where_it_is_known():
    made = report(compared(tiny()), BOTH)
    assert made["comparisons"][0]["examples_error"] is None
    row = "| RvNN less Tree-LSTM | Root | +3.0 | {} | +2.3 |"
    assert row.format("± 2.6 over seeds") in markdown(made)
    made["comparisons"][0]["interval"] = [-0.44, 6.0]
    assert row.format("-0.4 to +6.0") in markdown(made)
    del made["comparisons"][0]["interval"]  # which older reports do not have
    made["comparisons"][0]["error"] = None
    assert row.format("-") in markdown(made)
    assert "2,000 draws" in markdown(made)
    assert "draws" not in markdown(report(tiny(), BOTH))


def test_measures_beside_accuracy():
    def cases(row, variant, source):
        whole, zeros = np.array([True, False]), np.zeros(2)
        likely = [np.array([share, 0.1]) for share in (0.5, 0.25)]
        if row.name == "rvnn":
            likely = [np.full(2, np.nan)] * 2
        assert (variant, source) == ("", "gold")
        return [Cases(zeros, zeros, zeros, zeros, whole, ~whole, of, of) for of in likely]

    made = report(tiny(), BOTH, cases=cases)
    lstm, rvnn = (row["measures"] for row in made["rows"])
    assert lstm["negative_log_likelihood"]["mean"] == pytest.approx(1.5 * log(2))
    assert lstm["calibration_error"]["seeds"] == pytest.approx([50.0, 75.0])
    assert rvnn == {"negative_log_likelihood": None, "calibration_error": None}
    assert lstm["negative_log_likelihood"]["std"] == pytest.approx(log(2) / sqrt(2))
    assert " 40.50 ± 0.71 | 1.040 | 1,500 (1,234) |" in _line_of("Tree-LSTM", made)
    assert " - | - | 1,500 |" in _line_of("RvNN", made)
    del made["rows"][0]["measures"]  # as in older reports
    assert "likelihood" not in markdown(made)


def test_columns_that_the_page_does_not_show():
    data = tiny()
    data["columns"][0]["shown"] = False
    made = report(data, BOTH)
    assert made["rows"][0]["figures"]["root_accuracy"]["mean"] == 53.0
    assert _line_of("Tree-LSTM", made).startswith("| Tree-LSTM | 40.50 ± 0.71 |")


def test_the_page():
    data = compared(tiny())
    data["rows"][1] |= {"source": "Nobody", "differs": "A | B"}
    lines = markdown(report(data, BOTH), ["tiny-length.svg"]).splitlines()
    assert lines[0] == "# Films"
    assert "In brackets: Nobody 2001, Table 7: of one run." in lines[2]
    assert "development and test data" in lines[2]
    assert [line for line in lines if line.startswith("| ")] == [
        "|  | Root | Left | parameters | seeds |",
        "| Tree-LSTM | 53.0 ± 3.0 (51.0) | 40.50 ± 0.71 | 1,500 (1,234) | 3; left 2 |",
        "| RvNN (Nobody) | **56.0** ± 2.8 (53.3) | - | 1,500 | 2 |",
        "|  | column | difference | interval | paper |",
        "| RvNN less Tree-LSTM | Root | +3.0 | ± 2.6 over seeds | +2.3 |",
    ]
    assert {"|---|---:|---:|---:|---:|", "|---|---|---:|---:|---:|"} <= {*lines}
    assert {
        "![tiny-length.svg](tiny-length.svg)",
        "- Data: made up.",
        "- RvNN: A | B",
        "- Command: `python -m reproduce table tiny.toml --data D`, 1 thread a run.",
        "- Commit: commit1, commit2, commit3; python 3.99.",
        "- Data, SHA-256: `train.txt` abababababab.",
    } <= set(lines)
    assert "part of the table" not in "\n".join(lines)


def test_the_lowest_is_bold_where_it_is_best():
    data = tiny()
    data["columns"] = [{"key": "root_accuracy", "title": "Error", "digits": 0, "best": "lowest"}]
    del data["variants"]
    del data["rows"][1]["variants"]
    page = markdown(report(data, {"lstm": [3.2], "rvnn": [2.9]}))
    assert "| Tree-LSTM | **3** (51) |" in page  # both are the best as they are shown
    assert "| RvNN | **3** |" in page
    assert "| Tree-LSTM | 4 (51) |" in markdown(report(data, {"lstm": [4.0], "rvnn": [2.9]}))


def test_phrases_of_other_trees_are_not_the_best():
    data = tiny()
    data["columns"].append({"key": "phrase_accuracy", "title": "Phrases", "digits": 3})
    data["rows"].append({**data["rows"][1], "name": "third", "title": "Third"})
    made = report(data, {**BOTH, "third": [70.0]})
    for row, mean in zip(made["rows"], (50.0, 60.0, 60.0), strict=True):
        row["figures"]["phrase_accuracy"] = {"mean": mean, "std": None, "seeds": [mean]}
    made["rows"][2]["trees"] = "left"
    assert "| 60.000 | " in _line_of("Third", made)
    assert "| **60.000** | " in _line_of("RvNN", made)
    made["rows"][1]["parser"] = {"train": "a", "dev": "b"}
    assert "| 60.000 | " in _line_of("RvNN", made)


def _line_of(title, made):
    return next(line for line in markdown(made).splitlines() if line.startswith(f"| {title} "))


def test_all_versions_that_rows_come_from_are_told():
    made = report(tiny(), BOTH)
    made["rows"][1]["versions"] = {"python": "3.98"}
    assert "python 3.98 and 3.99." in markdown(made)


def test_a_part_says_what_is_missing():
    missing = {"lstm": "lstm/1: no\nfile"}
    page = markdown(report(tiny(), {"rvnn": [54.0]}, complete=False, missing=missing))
    assert "**This is a part of the table.** Row lstm is missing: lstm/1: no file." in page
    assert "| RvNN | 54.0 | - | 1,500 | 1 |" in page  # alone, it is not the best of anything
