"""`python -m reproduce table` on a table in a folder of a test."""

import json
from collections.abc import Callable
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import pytest
from command_line import Answer, run_command
from tiny_table import tiny, write, write_all

from reproduce.__main__ import app


class InThisProcess(Executor):
    """Does what is submitted at once."""

    def __init__(self, *settings: object):
        pass

    def submit(self, function: Callable[..., Any], /, *args: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(function(*args))
        return future


class Command:
    """`python -m reproduce table` on a table in a folder, without worker processes unless
    `processes` is called."""

    def __init__(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ):
        self.folder, self.monkeypatch, self.capsys = folder, monkeypatch, capsys
        self.table, self.data = write_all(folder, tiny())
        self.out, self.work = folder / "out", folder / "work"
        monkeypatch.setattr("reproduce.workers.ProcessPoolExecutor", InThisProcess)
        monkeypatch.setattr("reproduce.run._last", {})

    def words(self, *options: str | Path) -> list[str]:
        given = (self.table, "--data", self.data, "--out", self.out, "--work", self.work, *options)
        return ["table", *map(str, given)]

    def __call__(self, *options: str | Path) -> Answer:
        return run_command(self.monkeypatch, self.capsys, *self.words(*options), commands=app)

    def report(self, name: str = "tiny") -> Any:
        return json.loads((self.out / f"{name}.json").read_text(encoding="utf-8"))

    def figures(self, path: str) -> Any:
        result = json.loads((self.work / path / "result.json").read_text(encoding="utf-8"))
        return result["figures"]["gold"]

    def change(self, **changes: Any) -> None:
        write(self.folder, {**tiny(), **changes})


def written(command: Command) -> set[str]:
    return {path.name for path in command.out.iterdir()}
