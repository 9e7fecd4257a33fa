"""A table to run."""

import pytest
from table_command import Command


@pytest.fixture
def command(tmp_path, monkeypatch, capsys):
    return Command(tmp_path, monkeypatch, capsys)
