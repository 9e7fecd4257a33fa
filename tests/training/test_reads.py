"""A run opens each table once, and hashes the model that it starts from once."""

import csv
import hashlib
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import tiny_texts
from command_line import Answer

import thinstack

Cli = Callable[..., Answer]
Opened = tuple[Counter[str], Counter[str]]


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Iterator[Opened]:
    """How often each file is opened, by its name, and how often it is hashed, by its path."""
    opens, hashes = Counter[str](), Counter[str]()
    watching, digest = [True], hashlib.file_digest

    def watch(event: str, args: tuple[Any, ...]) -> None:
        if watching and event == "open":
            opens[Path(str(args[0])).name] += 1

    def counted(file: Any, name: str) -> Any:
        hashes[str(file.name)] += 1
        return digest(file, name)

    sys.addaudithook(watch)
    monkeypatch.setattr(hashlib, "file_digest", counted)
    yield opens, hashes
    watching.clear()


@pytest.mark.parametrize("source", ["files", "rows"])
def test_a_run_reads_its_tables_and_its_first_model_once(
    cli: Cli, tmp_path: Path, opened: Opened, source: str
) -> None:
    start = tiny_texts.start(tmp_path / "start")
    train, dev = (tiny_texts.table(tmp_path / f"{name}.csv", 12) for name in ("train", "dev"))
    rows = [list(csv.DictReader(path.read_text().splitlines())) for path in (train, dev)]
    opens, hashes = opened
    opens.clear()
    hashes.clear()
    out = tmp_path / "out"
    if source == "files":
        answer = cli("train", train, "--dev", dev, "--init", start, "--out", out)
        assert answer.code == 0
        assert (opens["train.csv"], opens["dev.csv"]) == (1, 1)
    else:
        thinstack.train_texts(rows[0], dev=rows[1], init=str(start), out=out)
        assert (opens["train.jsonl"], opens["dev.jsonl"]) == (0, 0)
    assert {hashes[str(file)] for file in start.iterdir() if file.stem != "manifest"} == {1}
