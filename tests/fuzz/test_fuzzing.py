"""Changed inputs are answered or refused."""

import sys
from pathlib import Path

import pytest
from command_line import run_program
from fuzz.exploring import corpus_of
from fuzz.outcomes import outcome
from fuzz.targets import TARGETS

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="the fuzzer's processes are those of Linux"),
    pytest.mark.filterwarnings("ignore"),
]
KEPT = [(kind, path) for kind in TARGETS for path in corpus_of(kind)]
NAMES = [f"{path.parent.name}-{path.name}" for _, path in KEPT]
TURN = 24_000
"""Inputs of a turn, at least."""


@pytest.mark.parametrize("kind", TARGETS)
def test_good_inputs_are_answered(kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for content in TARGETS[kind].seeds():
        found = outcome(TARGETS[kind].use, content, tmp_path)
        assert found.what == "answered", (content[:200], found)


@pytest.mark.parametrize(("kind", "path"), KEPT, ids=NAMES)
def test_kept_inputs_do_no_harm(kind, path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = outcome(TARGETS[kind].use, path.read_bytes(), tmp_path)
    assert found.what in ("answered", "refused"), found.message


def test_a_turn_of_all_kinds_finds_nothing(tmp_path):
    """The seed is always the same, so a fault is found again by the same command."""
    program = Path(__file__).with_name("fuzzer.py")
    found = run_program(program, "--seed", "0", "--out", tmp_path / "faults")
    faults = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not faults, [path.read_bytes()[:2000] for path in faults]
    assert found.keys() == TARGETS.keys()
    assert sum(one["inputs"] for one in found.values()) >= TURN
