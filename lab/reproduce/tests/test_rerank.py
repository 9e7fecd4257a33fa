"""`python -m reproduce rerank` on a made-up treebank: what it writes, keeps and refuses."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from command_line import Answer, run_command
from table_command import InThisProcess
from training.tiny_recipe import LABELS, write_data

from reproduce import rerank_run
from reproduce.__main__ import app
from reproduce.cases import Cases

PLAN = {
    "name": "tiny",
    "title": "Films",
    "paper": "Nobody 2001, Table 7",
    "paper_before": 80.0,
    "k": 4,
    "folds": 2,
    "sentences": 24,
    "held": 4,
    "seeds": [1, 2],
    "parser": {
        "task": {"name": "phrases.v1"},
        "data": {"train": "train.txt", "dev": "dev.txt"},
        "model": {
            "labels": list(LABELS),
            "embedding": {"kind": "words", "size": 4},
            "cell": {"name": "nary_lstm.v1", "hidden_size": 5},
            "encoder": {"tracker": {"size": 3, "feeds": False}},
            "head": {"name": "node_classifier.v1"},
        },
        "training": {"epochs": 1, "batch_size": 8, "stop_on": "nothing"},
    },
    "ranker": {"epochs": 2, "batch_size": 8, "rule": "adam", "learning_rate": 0.01},
    "rows": [
        {
            "name": "lex",
            "title": "With head words",
            "paper": 81.5,
            "cell": {"name": "lexicalized_lstm.v1", "hidden_size": 3},
        }
    ],
}


class Rerank:
    """The command, in a folder, without worker processes."""

    def __init__(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ):
        self.folder, self.monkeypatch, self.capsys = folder, monkeypatch, capsys
        self.plan, self.data = copy.deepcopy(PLAN), write_data(folder / "data")
        monkeypatch.setattr("reproduce.workers.ProcessPoolExecutor", InThisProcess)

    def __call__(self) -> Answer:
        file, folder = self.folder / "tiny.toml", self.folder
        file.write_text(tomli_w.dumps(self.plan), encoding="utf-8")
        words = ("rerank", file, "--data", self.data, "--out", folder, "--work", folder / "work")
        return run_command(self.monkeypatch, self.capsys, *map(str, words), commands=app)

    def report(self) -> Any:
        return json.loads((self.folder / "tiny.json").read_text(encoding="utf-8"))


@pytest.fixture
def rerank(tmp_path, monkeypatch, capsys):
    return Rerank(tmp_path, monkeypatch, capsys)


def test_a_report_is_written_and_its_seeds_are_kept(rerank, monkeypatch):
    answer = rerank()
    assert (answer.code, answer.err) == (0, "")
    assert "2 seeds, 0 of them done before" in answer.out
    report = rerank.report()
    before, ranker = report["rows"]
    assert (before["name"], ranker["name"]) == ("before", "lex")
    assert report["sentences"] == {"train": 18, "held": 6, "dev": 10}
    held = [row["held"]["seeds"] for row in (before, ranker)]
    assert all(after >= first for first, after in zip(*held, strict=True))
    best = before["figures"]["oracle"]["seeds"]
    for row, column in ((before, "f1"), (ranker, "f1"), (ranker, "alone")):
        found = row["figures"][column]["seeds"]
        assert all(most >= own for most, own in zip(best, found, strict=True))
    for less, key in zip(report["comparisons"], ("f1", "alone"), strict=True):
        means = [ranker["figures"][key]["mean"], before["figures"]["f1"]["mean"]]
        assert (less["a"], less["b"], less["key"]) == ("lex", "before", key)
        assert less["difference"] == pytest.approx(means[0] - means[1])
        assert less["interval"][0] <= less["difference"] <= less["interval"][1]
    # the paper ranks without the parser's probability
    assert [less["paper"] for less in report["comparisons"]] == [None, pytest.approx(1.5)]
    cases = Cases.load(rerank.folder / "work" / "tiny" / "2" / "cases-lex.npz")
    f1 = 100 * cases.predicted.sum() / cases.gold.sum()
    assert ranker["figures"]["f1"]["seeds"][1] == pytest.approx(f1)
    page = (rerank.folder / "tiny.md").read_text(encoding="utf-8")
    assert page.startswith("# Films\n")
    assert "| With head words |" in page

    monkeypatch.setattr(rerank_run, "load_datasets", None)  # nothing is done again
    assert "2 seeds, 2 of them done before" in rerank().out
    assert rerank.report() == report
    rerank.plan["k"] = 3
    answer = rerank()  # another plan is done again, and fails
    assert (answer.code, "2 of 2 seeds failed" in answer.err) == (2, True)
    trace = (rerank.folder / "work" / "tiny" / "2" / "error.txt").read_text(encoding="utf-8")
    assert "TypeError: 'NoneType' object is not callable" in trace


def test_a_seed_goes_on_with_the_parsers_that_it_has(rerank, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    rerank.plan["seeds"] = [1]
    with monkeypatch.context() as patch:
        patch.setattr(rerank_run, "train_ranker", stop)
        assert rerank().code == 130
    work = rerank.folder / "work" / "tiny" / "1"
    there = {path: path.stat().st_mtime_ns for path in work.glob("parser-*/checkpoint*")}
    assert len(there) == 3
    with monkeypatch.context() as patch:
        patch.setattr(rerank_run, "train_ranker", stop)
        rerank()
    assert there == {path: path.stat().st_mtime_ns for path in there}
    assert rerank().code == 0
    assert list(work.glob("parser-*")) == []


def test_folds_are_those_of_other_parsers(rerank, monkeypatch):
    """No sentence gets its candidates from a parser that has learnt from it."""
    seen = []
    real = rerank_run._ranked

    def watched(job, datasets, train, asked, name):
        seen.append(({id(one) for one in train}, {id(one) for one in asked}))
        return real(job, datasets, train, asked, name)

    monkeypatch.setattr(rerank_run, "_ranked", watched)
    rerank.plan["seeds"] = [1]
    assert rerank().code == 0
    assert [(len(train), len(asked)) for train, asked in seen] == [(24, 10), (12, 12), (12, 12)]
    assert all(not train & asked for train, asked in seen)
    assert seen[1][1] | seen[2][1] == seen[0][0]


@pytest.mark.parametrize(
    ("section", "change", "message"),
    [
        ("model", {"encoder": {}}, "expected a tracker that parses"),
        ("training", {"stop_on": "held"}, "expected 'nothing'"),
        ("training", {"epochs": 0}, "training.epochs"),
    ],
)
def test_a_plan_that_does_not_fit(rerank, section, change, message):
    rerank.plan["parser"][section] |= change
    answer = rerank()
    assert answer.code == 2
    assert message in answer.err
    assert not (rerank.folder / "tiny.json").exists()


def test_a_setting_that_rankers_do_not_read_is_refused(rerank):
    rerank.plan["ranker"] |= {"average": 0.5}
    answer = rerank()
    assert (answer.code, "ranker: average would change nothing" in answer.err) == (2, True)
