"""Mutants whose digests fit, loaded and run in isolation: see `hostile_mutants`, which does any
number of them."""

import sys
from pathlib import Path

import pytest
from command_line import run_program

COUNT = 400


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not tell what was used")
def test_mutants_end_no_process_and_cost_little() -> None:
    program = Path(__file__).with_name("hostile_mutants.py")
    told = run_program(program, "--count", COUNT, "--first", 1_000_000, "--jobs", 2)
    assert told["mutants"] == COUNT
    for what in ("deaths", "hangs", "slow", "untyped"):
        assert told[what] == []
    assert max(told["peak"].values()) < 1 << 30
    assert {key.rpartition(": ")[2] for key in told["counts"]} == {"answered", "refused"}
