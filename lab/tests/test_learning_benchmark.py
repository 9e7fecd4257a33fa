"""`lab/benchmarks/learning.py` over a few invented trees and pairs."""

import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

SCRIPT = Path(__file__).parents[1] / "benchmarks" / "learning.py"

GOOD, BAD = "(4 (2 the) (4 good))", "(0 (2 the) (0 bad))"


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """40 trees that alternate, of which each tenth, a GOOD one, is held out: 16 GOOD ones and 20
    BAD ones are left. And pairs that alternate in the same way, of the ratings 1 and 4.5."""
    folder = tmp_path_factory.mktemp("data")
    for name in ("sst", "vectors"):
        (folder / name).mkdir()
    (folder / "sst/train.txt").write_text(f"{GOOD}\n{BAD}\n" * 20, encoding="utf-8")
    (folder / "sst/dev.txt").write_text(f"{GOOD}\n{BAD}\n{GOOD}\n", encoding="utf-8")
    draw = np.random.default_rng(0)
    for name, size in (("glove.6B.50d.union", 50), ("glove.840B.300d.sick+top256", 300)):
        vectors = draw.normal(scale=0.3, size=(5, size))
        words = ["the", "good", "bad", "dog", "runs"]
        np.savez(folder / f"vectors/{name}.npz", words=words, vectors=vectors)
    write_pairs(folder / "sick/train", 40)
    write_pairs(folder / "sick/dev", 2)
    return folder


def write_pairs(folder, pairs):
    folder.mkdir(parents=True)
    sides = {"toks": ("the dog runs", "bad dog runs"), "parents": ("2 3 0",) * 2}
    sides |= {"rels": ("det nsubj root",) * 2, "cparents": ("4 4 5 5 0",) * 2}
    for name, (first, second) in sides.items():
        (folder / f"a.{name}").write_text(f"{first}\n" * pairs, encoding="utf-8")
        (folder / f"b.{name}").write_text(f"{first}\n{second}\n" * (pairs // 2), encoding="utf-8")
    (folder / "id.txt").write_text("".join(f"{number}\n" for number in range(pairs)))
    (folder / "sim.txt").write_text("1\n4.5\n" * (pairs // 2), encoding="utf-8")


def learn(data, *arguments):
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, str(SCRIPT), "--data", str(data), "--trees", "40", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


def cells(markdown):
    """The rows of the table, without its heading."""
    lines = [line for line in markdown.splitlines() if line.startswith("|")]
    rows = [line.strip("|").replace("\\|", "/").split("|") for line in lines[2:]]
    return [[cell.strip() for cell in row] for row in rows]


def test_two_models_learn(data, tmp_path):
    names = ("rvnn.v1 on SST nodes", "dt_rnn.v1, dependency trees on SICK relatedness")
    out = tmp_path / "table.md"
    only = [word for name in names for word in ("--only", name)]
    done = learn(data, "--seconds", "0.5", "--jobs", "2", "--out", str(out), *only)
    assert done.returncode == 0, done.stderr
    nodes, pairs = cells(out.read_text(encoding="utf-8"))
    assert nodes[:3] == ["rvnn.v1", "SST nodes", f"{50 * 50 + 50 + 100 * 50 + 50:,}"]
    assert pairs[:2] == ["dt_rnn.v1, dependency trees", "SICK relatedness"]
    frequencies = {"2": 36 / 108, "4": 32 / 108, "0": 40 / 108}
    expected = -sum(math.log(frequencies[label]) for label in "424020424") / 9
    assert float(nodes[5]) == pytest.approx(expected, abs=5e-4)
    mean = {1: 16 / 36, 4: 10 / 36, 5: 10 / 36}
    of_4_5 = 0.5 * math.log(0.5 / mean[4]) + 0.5 * math.log(0.5 / mean[5])
    expected = (math.log(1 / mean[1]) + of_4_5) / 2
    assert float(pairs[5]) == pytest.approx(expected, abs=5e-4)
    for row in (nodes, pairs):
        assert int(row[3].replace(",", "")) > 0
        assert float(row[6]) < float(row[5]) < float(row[4])
        assert row[8] == "learns"
    assert "2 of 2 learn" in out.read_text(encoding="utf-8")


def test_what_does_not_learn_fails(data):
    """Nothing learns in no time."""
    done = learn(data, "--seconds", "0", "--only", "rvnn.v1 on SST nodes")
    assert done.returncode == 1, done.stderr
    (row,) = cells(done.stdout)
    assert (row[3], row[8]) == ("0", "FAILS")
    assert row[4] == row[6] == row[7]
    assert "0 of 1 learn" in done.stdout
