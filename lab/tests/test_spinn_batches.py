"""`lab/benchmarks/spinn_batches.py`: what it reports, and its plot."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"
SUBJECTS = {"SPINN-PI-NT (by depth)", "SPINN-PI (tracker 64)", "SPINN (own parse)", "nn.LSTM"}
SUBJECTS |= {"node-by-node recursion"}


@pytest.fixture
def module(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    import spinn_batches

    return spinn_batches


def test_every_subject_is_run_with_every_batch_size(tmp_path):
    pytest.importorskip("matplotlib")
    (tmp_path / "sst").mkdir()
    trees = "(3 (2 A) (4 (4 wonderful) (2 film)))\n(1 Dull)\n" * 3
    (tmp_path / "sst/train.txt").write_text(trees, encoding="utf-8")
    options = ["--batch", "1", "--batch", "4", "--rounds", "1", "--json"]
    words = ["--data", str(tmp_path), "--plot", str(tmp_path / "plot.svg"), *options]
    script = [sys.executable, str(FOLDER / "spinn_batches.py"), *words]
    hidden = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(script, capture_output=True, text=True, check=True, env=hidden)
    speeds = json.loads(done.stdout)["sentences_per_s"]["cpu"]
    assert speeds.keys() == SUBJECTS
    assert all(line.keys() == {"1", "4"} and min(line.values()) > 0 for line in speeds.values())
    plot = (tmp_path / "plot.svg").read_text(encoding="utf-8")
    assert all(f">{name}<" in plot for name in SUBJECTS)


def test_speed_is_sentences_over_the_median_of_seconds(module, monkeypatch):
    monkeypatch.setattr(module, "encoders", lambda trees, batch, *_: {"a": [9.0, batch / 8, 0.0]})
    assert module.speeds_of([], (2, 16), 3, "cpu") == {"a": {2: 8.0, 16: 8.0}}


def test_the_paper_sizes_are_run_by_default(module):
    assert {1, 32, 512, 2048} <= {*module.BATCHES}
