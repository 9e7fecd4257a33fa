"""`python -m reproduce search`: what is drawn, that the held-out figure chooses, and the report."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tomli_w
from command_line import Answer
from pages import ROOT
from table_command import Command
from tiny_table import TABLE

from reproduce.attempts import Failure
from reproduce.run import attempt
from reproduce.search import Range, Search
from thinstack.errors import ConfigError

RANGES = [
    {"field": "training.learning_rate", "low": 0.01, "high": 0.1, "strategy": "log", "paper": 0.02},
    {"field": "model.cell.hidden_size", "low": 2, "high": 4, "whole": True},
]


def some(**training):
    base = TABLE["recipe"]
    training = {**base["training"], "stop_on": "held", "seeds": [3], **training}
    recipe = {**base, "training": training}
    return {"name": "tiny", "title": "Tiny", "paper": "made up", "ranges": RANGES, "recipe": recipe}


class Searching(Command):
    """The command on a search."""

    def words(self, *options: str | Path) -> list[str]:
        return ["search", *super().words(*options)[1:]]

    def search(self, runs: int, **settings: Any) -> Answer:
        self.table.write_text(tomli_w.dumps(some() | settings), encoding="utf-8")
        return self("--runs", str(runs), "--jobs", "1")


@pytest.fixture
def searching(tmp_path, monkeypatch, capsys):
    return Searching(tmp_path, monkeypatch, capsys)


def test_numbers_are_drawn_over_the_whole_range():
    generator = np.random.default_rng(1)

    def drawn(low, high, **how):
        found = Range(field="a.b", low=low, high=high, **how)
        return [found.draw(generator) for _ in range(3000)]

    even, even_log = drawn(1, 101), drawn(1, 100, strategy="log")
    assert 1 <= min(even) < 2
    assert 100 < max(even) <= 101
    assert np.mean(even) == pytest.approx(51, rel=0.03)
    assert np.mean(np.log(even_log)) == pytest.approx(math.log(10), rel=0.03)
    layers = drawn(1, 3, whole=True)
    assert all(isinstance(one, int) for one in layers)
    assert [layers.count(n) / 3000 for n in (1, 2, 3)] == pytest.approx([1 / 3] * 3, rel=0.1)
    assert {1, 2, 3, 4} == {*drawn(1, 4, whole=True, strategy="log")}


def test_the_held_out_figure_sorts_the_draws(searching):
    assert searching.search(3).code == 0
    report = searching.report("tiny-search")
    held = [draw["held"] for draw in report["draws"]]
    assert held == sorted(held, reverse=True)
    for draw in report["draws"]:
        folder = searching.work / "tiny-search" / f"draw-1-{draw['draw']}" / "3"
        result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
        assert draw["held"] == result["held"] != result["figures"]["gold"]["phrase_accuracy"]
        assert result["parameters"]["encoder"] > 0
        assert 0.01 <= draw["values"]["training.learning_rate"] <= 0.1
    assert len({draw["values"]["training.learning_rate"] for draw in report["draws"]}) == 3
    page = (searching.out / "tiny-search.md").read_text(encoding="utf-8")
    best = report["draws"][0]
    assert f"| {best['draw']} | {best['held']:.2f} | " in page
    assert "0.01 to 0.1, log" in page


def test_more_draws_keep_those_that_were_done(searching, monkeypatch):
    searching.search(1)
    first = searching.report("tiny-search")["draws"][0]
    answer = searching.search(2)
    assert "2 draws, 1 of them done before" in answer.out
    draws = searching.report("tiny-search")["draws"]
    assert first in draws
    assert len(draws) == 2


def test_a_draw_that_failed_is_the_last(searching, monkeypatch):
    def first_fails(job):
        return Failure("it diverged") if "draw-1-1/" in str(job.folder) else attempt(job)

    monkeypatch.setattr("reproduce.search.attempt", first_fails)
    assert searching.search(2).code == 0
    draws = searching.report("tiny-search")["draws"]
    assert [draw["draw"] for draw in draws] == [2, 1]
    assert (draws[-1]["failed"], draws[-1]["held"]) == ("it diverged", None)
    assert "| 1 | failed |" in (searching.out / "tiny-search.md").read_text(encoding="utf-8")
    (searching.out / "tiny-search.md").unlink()
    answer = searching.search(1)
    assert (answer.code, "all 1 draws failed; the first: it diverged" in answer.err) == (2, True)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"recipe": some(stop_on="dev")["recipe"]}, "stop_on: expected 'held'"),
        ({"ranges": [RANGES[0] | {"field": "training.speed"}]}, "speed"),
        ({"ranges": [RANGES[0] | {"low": 1.0}]}, "expected 0 < low < high"),
        ({"ranges": [RANGES[0] | {"high": 0.0}]}, "expected 0 < low < high"),
    ],
)
def test_a_search_that_cannot_be_run_is_refused(tmp_path, changes, problem):
    path = tmp_path / "tiny.toml"
    path.write_text(tomli_w.dumps(some() | changes), encoding="utf-8")
    with pytest.raises(ConfigError, match=problem):
        Search.read(path)


def test_the_search_of_the_paper_can_be_read():
    plan = Search.read(ROOT / "lab" / "recipes" / "searches" / "spinn.toml")
    assert len(plan.ranges) == 7  # rows of Table 2
    assert all(one.low <= one.paper <= one.high for one in plan.ranges if one.paper is not None)
