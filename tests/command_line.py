"""`thinstack` as it is called on the command line, in this process."""

import io
import json
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
import typer

from thinstack.cli import app, main


class Answer(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> list[dict]:
        assert self.code == 0, self.err
        return json.loads(self.out)


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
