"""Changed inputs are answered or refused; the program that tries them finds what is not."""

import sys
from pathlib import Path

import pytest
from command_line import run_program
from fuzz.exploring import CORPUS, corpus_of
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


def test_kept_inputs_are_small_and_have_a_kind():
    files = {path for path in CORPUS.rglob("*") if path.is_file()}
    assert files == {path for _, path in KEPT}
    assert all(path.stat().st_size < 4096 for path in files)


def test_planted_faults_are_found():
    found = run_program(Path(__file__).with_name("planted.py"))
    faults = {name: [fault[:2] for fault in one["faults"]] for name, one in found.items()}
    assert faults == {
        "dies": [["death", "x"]],
        "computes": [["hang", "x"]],
        "raises": [["untyped", "x"]],
        "breaks": [["untyped", "x"]],
        "takes": [["memory", "x"]],
    }
    assert "signal 6" in found["dies"]["faults"][0][2]
    assert "KeyError: 'x'" in found["raises"]["faults"][0][2]
    counts = {name: one["counts"] for name, one in found.items()}
    assert all(sum(one.values()) == 50 for one in counts.values())
    harmful = {name: one["answered"] + one["refused"] for name, one in counts.items()}
    assert all(0 < 50 - harmless < 15 for harmless in harmful.values())
    assert counts["raises"]["refused"] > 35


def test_a_turn_of_all_kinds_finds_nothing(tmp_path):
    """The seed is always the same, so a fault is found again by the same command."""
    program = Path(__file__).with_name("fuzzer.py")
    found = run_program(program, "--json", "--seed", "0", "--out", tmp_path / "faults")
    faults = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not faults, [path.read_bytes()[:2000] for path in faults]
    assert found.keys() == TARGETS.keys()
    assert sum(one["inputs"] for one in found.values()) >= TURN
    bad = ("deaths", "hangs", "untyped", "memory")
    assert not any(one[name] for one in found.values() for name in bad)
