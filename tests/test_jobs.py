"""Every test is run by the gate or by a job that is there."""

import os
from pathlib import Path

import pytest
from jobs import JOBS

ROOT = Path(__file__).parents[1]


def test_every_job_is_a_program():
    programs = {path.name: path for path in (ROOT / ".ci" / "jobs").iterdir()}
    assert programs.keys() == JOBS.keys()
    for name, path in programs.items():
        assert os.access(path, os.X_OK)
        assert f"pytest --job {name}\n" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("start", [start for starts in JOBS.values() for start in starts])
def test_what_a_job_runs_is_there(start):
    file, _, function = start.partition("::")
    path = ROOT / "tests" / file
    assert path.exists()
    assert f"def {function}(" in path.read_text(encoding="utf-8") if function else True
