"""Commands that are killed at random moments, and gone on with, leave what one in peace leaves."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
KINDS = ["corpus", "own-trees", "publish", "spinn", "tables"]

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


def said(*command: str) -> str:
    """What a program prints that can import what is killed."""
    paths = (ROOT, ROOT / "tests", HERE, ROOT / "reproduce" / "tests")
    done = subprocess.run(
        [sys.executable, *command],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def killed(kind: str, folder: Path, kills: int, *options: str) -> None:
    """Run `killed_runs`, and look at what it found."""
    found = json.loads(said(str(HERE / "killed_runs.py"), kind, str(folder), str(kills), *options))
    assert (sum(found["kills"].values()), found["wrong"]) == (kills, [])
    assert found["runs"] > 0


def test_a_few_kills(tmp_path: Path) -> None:
    """At changes of files, which takes no look at the clock; the others are a job."""
    killed("corpus", tmp_path / "corpus", 5, "--events")


def test_all_that_the_job_kills_can_be_prepared(tmp_path: Path) -> None:
    program = (
        "import sys, pathlib, killed_work\n"
        "for kind, work in killed_work.KINDS.items():\n"
        "    work(pathlib.Path(sys.argv[1]) / kind)\n"
        "    print(kind)"
    )
    assert sorted(said("-c", program, str(tmp_path)).split()) == KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_many_kills(kind: str, tmp_path: Path) -> None:
    killed(kind, tmp_path / kind, 20)
