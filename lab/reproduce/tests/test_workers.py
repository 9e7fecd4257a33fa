"""Processes side by side: they end with the one that started them, whichever way that ends."""

import os
import signal
import sys
from pathlib import Path

import pytest
from command_line import started

from reproduce.attempts import KILLED
from reproduce.workers import each

LAB = Path(__file__).parents[2]

PROGRAM = """
import time
from reproduce.workers import each

def work(seconds):
    print("at work", flush=True)
    time.sleep(seconds)

if __name__ == "__main__":
    each(work, {"a": 600, "b": 600}, processes=1, threads=1, tell=print)
"""


@pytest.mark.parametrize("way", [signal.SIGINT, signal.SIGKILL])
def test_no_process_outlives_the_one_that_started_it(tmp_path, way):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    with started([sys.executable, program], env={**os.environ, "PYTHONPATH": str(LAB)}) as process:
        assert process.stdout.readline() == "at work\n"
        process.send_signal(way)
        # Every process holds the output, which ends with the last of them.
        assert process.communicate(timeout=300)[0] == ""
    assert process.returncode != 0


def killed_at_two(number):
    if number == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return number * 10


def test_a_result_for_every_item_and_a_failure_where_a_process_was_killed():
    found = {}
    each(
        killed_at_two,
        {"one": 1, "two": 2, "three": 3},
        processes=1,
        threads=1,
        tell=found.__setitem__,
    )
    assert found == {"one": 10, "two": KILLED, "three": KILLED}
