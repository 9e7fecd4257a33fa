"""Results and memory stay the same however much a process is asked: a smaller run of
`lab/benchmarks/steadiness.py`."""

import sys
from pathlib import Path

import pytest
from command_line import run_program

PROGRAM = Path(__file__).parents[1] / "benchmarks" / "steadiness.py"


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux for the memory of a process")
def test_memory_threads_and_batches():
    small = ("--docs", 20_000, "--threads", 32, "--runs", 30, "--count", 300, "--json")
    found = run_program(PROGRAM, *small)
    assert found["docs"]["growth"] < 0.02
    assert found["threads"] == {"threads": 32, "runs": 30, "different": 0}
    lone = found["lone and batched, sentiment"]
    assert (lone["sentences"], lone["not_bitwise"]) == (300, 0)
