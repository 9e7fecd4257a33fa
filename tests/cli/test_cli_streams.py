"""Standard streams that are closed, as services and containers have them."""

import os
import subprocess
import sys
from itertools import product

import pytest
from command_line import PATIENCE

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs a shell of POSIX")

COMMANDS = {
    "predict 'A good film.'": 0,
    "predict": 2,
    "predict --jsonl 'A good film.' ' '": 0,
    "predict --input - --out out": 0,
    "train missing.csv --out out": 2,
    "nothing": 2,
}
CLOSED = ("<&-", ">&-", "2>&-", "<&- >&- 2>&-")


def run(command, closed, folder):
    return subprocess.run(
        ["/bin/sh", "-c", f'exec "$0" -m thinstack {command} {closed}', sys.executable],
        cwd=folder,
        input="A good film.\n",
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


@pytest.mark.parametrize(("command", "closed"), [*product(COMMANDS, CLOSED)])
def test_a_closed_stream_is_no_traceback(tmp_path, command, closed):
    (tmp_path / "texts.txt").write_text("A good film.\n")
    done = run(command, closed, tmp_path)
    reads = command == "predict" or "--input -" in command
    wanted = 0 if command == "predict" and "<" not in closed else COMMANDS[command]
    assert done.returncode == (2 if reads and "<" in closed else wanted), done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert "Exception" not in done.stdout + done.stderr


def test_what_is_written_gets_nothing_that_is_printed(tmp_path):
    """The file would have the number of the stream that is closed."""
    (tmp_path / "texts.txt").write_text("A good film.\n")
    command = "predict --input texts.txt --jobs 0 --out"
    for name, closed in (("plain", ""), ("closed", ">&- 2>&-")):
        assert run(f"{command} {name}", closed, tmp_path).returncode == 0
    plain, other = (sorted((tmp_path / name).glob("*.jsonl")) for name in ("plain", "closed"))
    assert len(plain) > 0
    assert [path.read_bytes() for path in plain] == [path.read_bytes() for path in other]


def test_warnings_do_not_come_among_the_results(tmp_path):
    done = run("predict --jsonl 'A good film.' ' '", "2>&-", tmp_path)
    assert len(done.stdout.splitlines()) == 1
    assert done.stdout.startswith("{")
