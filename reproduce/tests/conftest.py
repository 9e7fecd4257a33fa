"""A table to run."""

from pathlib import Path

import pytest
from table_command import Command


@pytest.fixture
def command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Command:
    return Command(tmp_path, monkeypatch, capsys)
