"""`thinstack` as it is called on the command line, in this process; and programs of the tests."""

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import typer

from thinstack.cli import app, main

PATIENCE = 300
"""Seconds after which an answer counts as one that never comes, on a machine under load too."""


class Answer(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> list[dict]:
        assert self.code == 0, self.err
        return json.loads(self.out)

    def check_refused(self, *parts: str, code: int = 2) -> None:
        """Nothing is printed but one message, on the error output, with these parts."""
        assert (self.code, self.out) == (code, "")
        message = self.err.removeprefix("error: ")
        assert message != self.err
        assert message.count("\n") == 1
        for part in parts:
            assert part in message


def run_program(program: Path, *args: object) -> dict[str, Any]:
    """What a program of the tests prints, one line of JSON, in a process of its own."""
    tests = Path(__file__).parent
    done = subprocess.run(
        [sys.executable, str(program), *map(str, args)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tests), str(tests.parent)])},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def python(code: str, *args: object, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a program in a process of its own, and wait for its end."""
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", code, *map(str, args)]
    how: dict[str, Any] = {"capture_output": True, "text": True, "timeout": PATIENCE}
    return subprocess.run(command, check=False, **how | options)


@contextmanager
def started(command: Sequence[str | Path], **options: Any) -> Iterator[subprocess.Popen[str]]:
    """A process whose output is read as text; what a failed test leaves is killed."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **options) as process:
        try:
            yield process
        finally:
            process.kill()


def run_command(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *args: str | Path,
    stdin: bytes = b"",
    commands: typer.Typer = app,
) -> Answer:
    """The exit code and what is printed, in which there must be no traceback."""
    monkeypatch.setattr(sys, "argv", ["thinstack", *map(str, args)])
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
    code: object = 0
    try:
        main(commands)
    except SystemExit as end:
        code = end.code or 0
    assert isinstance(code, int)
    answer = Answer(code, *capsys.readouterr())
    assert "Traceback" not in answer.err + answer.out
    return answer
