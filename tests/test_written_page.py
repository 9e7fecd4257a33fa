"""The command line of the scripts that make pages."""

import sys
from pathlib import Path

import pytest
from written_page import run


def page() -> str:
    """A page of two lines."""
    return "# Films\nétude\n"


def command(monkeypatch: pytest.MonkeyPatch, *words: str) -> int | str | None:
    monkeypatch.setattr(sys, "argv", ["page.py", *words])
    with pytest.raises(SystemExit) as end:
        run(page)
    return end.value.code


def test_a_page_is_printed_or_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(monkeypatch) == 0
    assert capsys.readouterr().out == page()
    file = tmp_path / "page.md"
    assert command(monkeypatch, str(file)) == 0
    assert file.read_text(encoding="utf-8") == page()
    assert capsys.readouterr().out == ""


def test_help_says_what_is_made(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(monkeypatch, "--help") == 0
    assert "A page of two lines." in capsys.readouterr().out
