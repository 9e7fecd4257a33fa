"""The copies of a batch to and from WebGPU at most, by `lab/benchmarks/placement.py`."""

import json
import os
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "lab" / "benchmarks" / "placement.py"
TREE = (
    "(3 (3 (2 It) (3 (2 never) (3 bores))) (2 (2 and) (3 (2 it) (3 (3 (3 moves) (2 you)) (2 .)))))"
)


def test_a_batch_copies_no_more(tmp_path):
    (tmp_path / "sst").mkdir()
    (tmp_path / "sst/dev.txt").write_text(f"{TREE}\n" * 4, encoding="utf-8")
    options = ["--data", tmp_path, "--sentences", 4, "--device", "webgpu", "--json"]
    command = list(map(str, [sys.executable, SCRIPT, "sentiment", *options]))
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    own, given = json.loads(done.stdout)
    assert (own["trees"], given["trees"]) == ("own", "given")
    assert 100 < own["kernels"] <= 250
    assert (own["copies_in"] <= 3, own["copies_back"]) == (True, 0)
    assert (given["copies_in"] <= 2, given["copies_back"]) == (True, 0)
