"""`python -m reproduce table`: what it does, prints and writes, and what becomes of it when a run
fails or someone ends it."""

import os
import signal
import tomllib

import numpy as np
import pytest
import torch
from command_line import run_command
from table_command import written
from tiny_table import tiny, write

from reproduce.__main__ import app
from reproduce.cases import Cases
from reproduce.table import Table
from thinstack.bundle.weights import load_model
from thinstack.data.files.writing import locked
from thinstack.training.examples.datasets import load_datasets
from thinstack.training.loop.seeds import run_seed
from thinstack.training.recipe import Recipe


def test_a_table_is_run_and_reported(command):
    answer = command("--jobs", "2")
    assert (answer.code, answer.err) == (0, "")
    assert "tiny: 6 runs, 0 of them done before" in answer.out
    shown = {"lstm/1": "Root {:.1f}", "lstm/left/2": "Left {:.2f}", "rvnn/2": "Root {:.1f}"}
    for path, text in shown.items():
        accuracy = command.figures(f"tiny/{path}")["root_accuracy"]
        assert f"{path}: {text.format(accuracy)}, " in answer.out
    assert written(command) == {"tiny.json", "tiny.md"}
    report = command.report()
    assert (report["schema_version"], report["complete"]) == (1, True)
    assert (report["missing"], report["threads"]) == ({}, 1)
    assert [row["name"] for row in report["rows"]] == ["lstm", "rvnn"]
    assert report["versions"].keys() == {"python", "thinstack", "torch", "numpy"}
    assert report["rows"][0]["runs"][0]["data"].keys() == {"train.txt", "dev.txt"}
    page = (command.out / "tiny.md").read_text(encoding="utf-8")
    assert page.startswith("# Films\n")
    assert "| RvNN |" in page


def test_rows_are_compared_by_the_cases_of_their_runs(command):
    command.change(compare=[{"a": "lstm", "b": "rvnn", "key": "root_accuracy"}])
    command()
    work = command.work / "tiny"
    other = work / "lstm" / "left" / "1" / "cases-gold.npz"
    Cases.load(work / "rvnn" / "1" / "cases-gold.npz").save(other)
    command()  # now a variant has the cases of the other row, which must not count

    def right(row):
        seeds = [Cases.load(work / row / seed / "cases-gold.npz") for seed in "12"]
        return np.mean([(seed.gold == seed.predicted)[seed.whole] for seed in seeds], 0)

    found, less = command.report()["comparisons"][0], right("lstm") - right("rvnn")
    assert found["difference"] == pytest.approx(100 * less.mean())
    error = 100 * less.std(ddof=1) / len(less) ** 0.5
    assert found["examples_error"] == pytest.approx(error)
    assert error > 0


def test_a_process_of_its_own_makes_the_same_run(command):
    command("--row", "rvnn", "--seed", "1")
    here = command.report("tiny-part")["rows"][0]["figures"]
    command.monkeypatch.undo()
    command.work = command.folder / "other"
    assert command("--row", "rvnn", "--seed", "1", "--jobs", "1").code == 0
    assert command.report("tiny-part")["rows"][0]["figures"] == here


def test_a_checkpoint_of_a_run_that_was_killed_at_its_end_is_deleted(command):
    options = ("--row", "rvnn", "--seed", "1")
    command(*options)
    left = [path / "checkpoint.safetensors" for path in (command.work / "tiny" / "rvnn").iterdir()]
    for path in left:
        path.touch()
    assert "1 runs, 1 of them done before" in command(*options).out
    assert [path.exists() for path in left] == [False]


def test_called_again_it_only_writes_the_report(command):
    command()
    before = command.report()
    command.monkeypatch.setattr("reproduce.workers.ProcessPoolExecutor", None)
    answer = command()
    assert "tiny: 6 runs, 6 of them done before" in answer.out
    assert command.report() == before


def test_a_run_of_another_table_is_taken_over(command):
    command()
    first = command.report()
    rvnn = tiny()["rows"][1]
    new = rvnn | {"name": "new", "recipe": {"training": {"epochs": 1}}}
    again = {"name": "again", "columns": tiny()["columns"][:1]}
    rows = [rvnn | {"name": "other", "title": "Again"}, new]
    command.table = write(command.folder, tiny() | again | {"rows": rows})
    answer = command()
    assert "again: 4 runs, 2 of them done before" in answer.out
    found = command.report("again")["rows"][0]["figures"]
    assert found["root_accuracy"] == first["rows"][1]["figures"]["root_accuracy"]
    for seed in "12":
        ours, theirs = (
            (command.work / place / seed / "cases-gold.npz").read_bytes()
            for place in ("again/other", "tiny/rvnn")
        )
        assert ours == theirs


def test_a_failing_row_is_told_at_the_end_and_the_others_are_reported(command):
    command()
    data = tiny()
    data["rows"][0]["recipe"] = {"model": {"cell": {"name": "magic.v1"}}}
    write(command.folder, data)
    answer = command()
    assert answer.code == 2
    told = "called again, the others are kept: lstm/1: unknown cell 'magic.v1'"
    assert answer.err.startswith(f"error: 4 of 6 runs failed; {told}")
    assert "lstm/left/2: failed: unknown cell 'magic.v1'" in answer.out
    assert written(command) == {"tiny.json", "tiny.md", "tiny-part.json", "tiny-part.md"}
    report = command.report("tiny-part")
    assert (report["complete"], [row["name"] for row in report["rows"]]) == (False, ["rvnn"])
    assert report["missing"]["lstm"].startswith("lstm/1: unknown cell 'magic.v1'")
    assert "Row lstm is missing" in (command.out / "tiny-part.md").read_text(encoding="utf-8")
    assert len(command.report()["rows"]) == 2  # as it was


def test_a_row_of_which_one_seed_fails_is_not_reported(command):
    folder = command.work / "tiny" / "rvnn"
    folder.mkdir(parents=True)
    (folder / "2").write_text("in the way", encoding="utf-8")
    answer = command()
    assert answer.code == 2
    assert "1 of 6 runs failed" in answer.err
    assert [row["name"] for row in command.report("tiny-part")["rows"]] == ["lstm"]


def test_where_all_fail_there_is_no_report(command):
    (command.data / "train.txt").unlink()
    assert command().code == 2
    assert not command.out.exists()


def test_a_part_does_not_take_the_place_of_the_whole(command):
    command("--row", "rvnn", "--seed", "7")
    assert written(command) == {"tiny-part.json", "tiny-part.md"}
    report = command.report("tiny-part")
    assert not report["complete"]
    assert [row["runs"][0]["seeds"] for row in report["rows"]] == [[7]]
    assert report["command"].endswith(" --data DATA --row rvnn --seed 7")
    command("--seed", "1", "--seed", "2")  # all there are
    assert {"tiny.json", "tiny.md"} < written(command)


def test_a_test_file_has_a_report_and_work_of_its_own(command):
    (command.data / "test.txt").write_text("(2 good)\n(0 bad)\n(1 film)\n", encoding="utf-8")
    command()
    development = command.report()
    assert command("--test", "test.txt").code == 0
    assert written(command) == {"tiny.json", "tiny.md", "tiny-test.json", "tiny-test.md"}
    runs = command.report("tiny-test")["rows"][0]["runs"]
    assert [(part["split"], part["reported_on"]) for part in runs] == [("test", "test.txt")] * 2
    assert command.figures("tiny-test/lstm/1")["roots"] == 3
    command()
    assert command.report() == development
    assert command("--test", "left=test.txt").code == 0
    runs = command.report("tiny-test")["rows"][0]["runs"]
    assert [part["split"] for part in runs] == ["development", "test"]
    assert command("--test", command.data / "test.txt", "--row", "rvnn").code == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--row", "gru"), "unknown row 'gru'; known: lstm, rvnn"),
        (("--test", "right=test.txt"), "unknown variant 'right'; known: left"),
        (("--show", "gru"), "unknown row 'gru'; known: lstm, rvnn"),
        (("--jobs", "0"), "Invalid value for '--jobs'"),
        (("--seed", str(2**63)), "Invalid value for '--seed'"),
    ],
)
def test_options_that_do_not_fit_are_refused(command, options, message):
    answer = command(*options)
    assert (answer.code, answer.out) == (2, "")
    assert message in answer.err


def test_a_second_command_in_a_folder_of_work_is_refused(command):
    with locked(command.work / "tiny"):
        answer = command()
    whose = f"process {os.getpid()} on "
    assert (answer.code, whose in answer.err, "--work" in answer.err) == (2, True, True)
    assert not command.out.exists()
    assert command("--row", "rvnn").code == 0


def test_ctrl_c_is_one_message_and_what_is_done_is_kept(command):
    done = []

    def stop(recipe, *rest, **more):
        if done:
            signal.raise_signal(signal.SIGINT)
        done.append(recipe.name)
        return run_seed(recipe, *rest, **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("reproduce.run.run_seed", stop)
        answer = command("--row", "rvnn")
    said = "error: stopped; start the same command again, and it goes on\n"
    assert (answer.code, answer.err) == (130, said)
    assert "2 runs, 1 of them done before" in command("--row", "rvnn").out


def test_a_column_that_no_row_has_is_told(command):
    command.change(columns=[*tiny()["columns"], {"key": "pearsen", "title": "r"}])
    answer = command("--row", "rvnn")
    assert "column pearsen: no row has this figure; there are " in answer.out
    assert "gold.root_accuracy" in answer.out


def test_a_row_is_printed_as_a_recipe(command):
    answer = command("--show", "lstm/left")
    recipe = Recipe.parse(tomllib.loads(answer.out), source="test")
    table = Table.read(command.table)
    assert recipe == table.recipe_of(table.row("lstm"), "left")
    assert not command.work.exists()


def test_curves_are_drawn(command):
    shape = {"title": "Accuracy", "x": "words", "cases": "all", "last": 4, "window": 4}
    command.change(curves=[{"name": "length", "rows": ["rvnn"], **shape}])
    command("--row", "rvnn")
    points = command.report("tiny-part")["curves"]["length"]["rvnn"]
    assert points[0].keys() == {"x", "mean", "std", "count"}
    labelled = (command.data / "dev.txt").read_text(encoding="utf-8").count("(")
    assert points[-1]["count"] == labelled
    assert (command.out / "tiny-part-length.svg").exists()


def test_a_curve_of_a_variant_is_of_its_cases(command, monkeypatch):
    monkeypatch.setattr("reproduce.curves.LEAST_CASES", 1)
    other = {"data": {"dev": "train.txt"}}
    curve = {"name": "class", "title": "T", "x": "class", "variant": "other", "rows": ["lstm"]}
    command.change(
        variants={"other": other},
        columns=tiny()["columns"][:1],
        curves=[curve],
        rows=tiny()["rows"][:1],
    )
    command()
    line = command.report()["curves"]["class"]["lstm"]
    of_variant = [
        Cases.load(command.work / "tiny" / "lstm" / "other" / str(seed) / "cases-gold.npz")
        for seed in (1, 2)
    ]
    gold = of_variant[0].gold[of_variant[0].whole]
    assert [point["count"] for point in line] == np.bincount(gold).tolist()
    means = [
        100
        * np.mean(
            [
                (one.predicted == one.gold)[one.whole & (one.gold == label)].mean()
                for one in of_variant
            ]
        )
        for label in range(3)
    ]
    assert [point["mean"] for point in line] == pytest.approx(means)


def test_the_bundle_of_a_row_is_trained_as_the_table_says(command):
    cell = {"cell": {"name": "s_lstm.v1", "hidden_size": 3}}
    settings = {"training": {"init": "glorot", "epochs": 1}, "model": cell}
    command.change(rows=[{**tiny()["rows"][1], "recipe": settings}])
    words = "bundle", command.table, "rvnn", "--data", command.data, "--out", command.out
    answer = run_command(command.monkeypatch, command.capsys, *map(str, words), commands=app)
    assert answer.code == 0
    (run, *_) = Table.read(command.table).runs()
    datasets = load_datasets(run.recipe, command.data)
    with run.learning.prepared() as prepare:
        result = run_seed(run.recipe, datasets, 1, command.work, prepare=prepare)
    found = load_model(command.out / "model-best").state_dict()
    name = "encoder.layers.0.up.cell.w_if"
    assert torch.equal(found[name], result.model.state_dict()[name])
    refused = command("--show", "rvnn")
    assert (refused.code, "reproduce bundle" in refused.err.replace("\n", " ")) == (2, True)
