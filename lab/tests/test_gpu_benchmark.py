"""`lab/benchmarks/gpu.py`: all of its rows, on the CPU."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from thinstack.core import transitions as shapes
from thinstack.data.trees.treebank import read_trees
from thinstack.runtime.scored import Scored

SCRIPT = Path(__file__).parents[1] / "benchmarks" / "gpu.py"
TREES = [
    "(3 (2 A) (4 (4 wonderful) (2 film)))",
    "(1 (2 The) (1 (2 plot) (1 (1 (1 never) (2 comes)) (3 alive))))",
    "(1 Dull)",
    "(3 (3 (2 It) (3 works)) (2 .))",
]
SAME = "own trees that are the same"


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    (folder / "sst").mkdir()
    (folder / "sst/train.txt").write_text("\n".join(20 * TREES) + "\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def trees(data):
    return read_trees(data / "sst/train.txt")


@pytest.fixture(scope="module")
def modules():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(SCRIPT.parent)
        import gpu
        import gpu_parity
        import gpu_speed

        yield gpu, gpu_parity, gpu_speed


def run(*options):
    command = list(map(str, [sys.executable, SCRIPT, *options]))
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


def test_every_row(data, tmp_path):
    page = tmp_path / "gpu.md"
    small = ["--device", "cpu", "--small", "--rounds", 1, "--json", "--markdown", page]
    done = run("--data", data, *small)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["title"].startswith("not a GPU, but the CPU, small; torch ")
    rows = {(row["part"], row["what"]): row for row in found["rows"]}
    cells = "nary_lstm.v1 on SST nodes"
    exact = [
        *((part, cells) for part in ("torch, one of every cell", "torch, gradients")),
        ("onnxruntime, one of every cell", cells),
        ("sentiment, scores", "the treebank's trees"),
    ]
    rivals = ["itself on two CPU cores", "nn.LSTM"]
    encoder = ["itself, scheduled on the device", rivals[0], "the CPU recursion", rivals[1]]
    rates = [f"{nodes:,} nodes a batch" for nodes in (2**12, 2**15, 2**17, 2**19)]
    assert list(rows) == [
        *exact[:2],
        *(("encoder, batch 4", f"over {name}") for name in encoder),
        *(("training step, batch 4", f"over {name}") for name in rivals),
        *exact[2:],
        ("sentiment, scores", SAME),
        *(("sentiment, the session alone", f"{size} sentences") for size in (1, 16)),
        ("sentiment, speed", "raw text, own parse"),
        ("sentiment, speed", "raw text on two CPU cores"),
        *(("sentiment, speed", f"words, own parse, {name}") for name in rates),
    ]
    assert rows["sentiment, scores", SAME]["figure"] == "8 of 8"
    for what, row in rows.items():
        if isinstance(row["figure"], float):
            assert row["figure"] == 0 if what in exact else row["figure"] > 0
        assert row["met"] is None  # whatever was found, it is no GPU
    aims = {what[1]: row["target"] for what, row in rows.items() if row["target"] is not None}
    fast = {"over nn.LSTM": 0.8, "over the CPU recursion": 25, "raw text, own parse": 20_000}
    assert aims == {what: 1e-4 for _, what in exact} | fast
    lines = page.read_text(encoding="utf-8").splitlines()
    assert lines[0] == found["title"]
    assert [line.split(" | ")[1] for line in lines[4:]] == [what for _, what in rows]
    assert sum("not a GPU" in line for line in lines[4:]) == len(exact) + len(fast) + 1


class Answers:
    """In the place of a predictor."""

    def __init__(self, added, shape):
        self.added, self.shape = added, shape

    def node_scores(self, words, trees):
        return [np.full((2 * len(each) - 1, 5), len(each) + self.added) for each in words]

    def trees_and_scores(self, words, source):
        assert source == "self"
        return [Scored(self.shape(len(each)), np.zeros(0)) for each in words]


def test_other_scores_and_trees_are_found(modules, trees, monkeypatch):
    """A left tree and a right one are the same over fewer than three words."""
    answers = {"cpu": Answers(0, shapes.left), "cuda": Answers(-0.25, shapes.right)}
    monkeypatch.setattr(modules[1].thinstack, "load", lambda name, device: answers[device])
    found = modules[1].bundle_parity("sentiment", trees[:4], "cuda")
    assert found == {"the treebank's trees": 0.25, SAME: "1 of 4"}
