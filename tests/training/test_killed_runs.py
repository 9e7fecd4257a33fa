"""Commands that are killed as they change files, and gone on with, leave what others leave."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
KINDS = ["corpus", "own-trees", "publish"]

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


def killed(kind, folder, kills):
    """Run `killed_runs`, which imports what it kills, and look at what it found."""
    paths = (ROOT / "tests", HERE)
    done = subprocess.run(
        [sys.executable, HERE / "killed_runs.py", kind, folder, str(kills)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["kills"], found["wrong"]) == (kills, [])
    assert found["runs"] > 0


def test_a_few_kills(tmp_path):
    killed("corpus", tmp_path / "corpus", 5)


@pytest.mark.parametrize("kind", KINDS)
def test_many_kills(kind, tmp_path):
    killed(kind, tmp_path / kind, 20)
