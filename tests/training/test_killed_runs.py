"""Commands that are killed as they change files, and gone on with, leave what others leave."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
KILLS = 20


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.parametrize("kind", ["corpus", "own-trees", "publish"])
def test_many_kills(kind, tmp_path):
    """In a job of its own, see `tests/jobs.py`."""
    done = subprocess.run(
        [sys.executable, HERE / "killed_runs.py", kind, tmp_path / kind, str(KILLS)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (HERE.parent, HERE)))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["kills"], found["wrong"]) == (KILLS, [])
    assert found["runs"] > 0
