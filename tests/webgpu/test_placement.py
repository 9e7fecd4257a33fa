"""WebGPU places and copies as `lab/benchmarks/placement.py` foretells."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "lab" / "benchmarks" / "placement.py"
TREE = (
    "(3 (3 (2 It) (3 (2 never) (3 bores))) (2 (2 and) (3 (2 it) (3 (3 (3 moves) (2 you)) (2 .)))))"
)


@pytest.mark.skipif(not find_spec("onnxruntime_ep_webgpu"), reason="needs onnxruntime-ep-webgpu")
def test_a_batch_does_what_was_foretold(tmp_path):
    (tmp_path / "sst").mkdir()
    (tmp_path / "sst/dev.txt").write_text(f"{TREE}\n" * 4, encoding="utf-8")
    options = ["--data", tmp_path, "--sentences", 4, "--device", "webgpu", "--json"]
    command = list(map(str, [sys.executable, SCRIPT, "sentiment", *options]))
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if "no WebGPU here" in done.stderr:
        pytest.skip("needs an adapter of WebGPU, or ORT_WEBGPU_EP_ALLOW_SOFTWARE_ADAPTER=1")
    assert done.returncode == 0, done.stderr
    rows = [row for row in json.loads(done.stdout)["rows"] if row["device"] == "webgpu"]
    assert [row["found"] for row in rows] == 2 * ["foretold", "profiled"]
    for foretold, profiled in zip(rows[::2], rows[1::2], strict=True):
        for name in ("kernels", "copies_in", "copies_back", "bytes_in", "bytes_back"):
            assert foretold["counts"][name] == profiled["counts"][name], name
        # Two nodes of the CPU become three: gathers of one vector, a split.
        for name in ("host_nodes", "host_nodes_in_loops"):
            assert abs(foretold["counts"][name] - profiled["counts"][name]) <= 2, name
