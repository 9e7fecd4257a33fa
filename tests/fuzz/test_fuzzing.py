"""Changed files, models, texts, requests and arguments are answered or refused by a ThinstackError,
in bounded time and memory."""

import os
import sys

import pytest
from fuzz import (
    command_targets,
    model_targets,
    spacy_targets,
    table_targets,
    text_targets,
    tree_targets,
)
from fuzz.exploring import corpus_of, explore
from fuzz.outcomes import outcome

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="the limits are those of Linux"),
    pytest.mark.filterwarnings("ignore"),
]
ROOMS = tree_targets, table_targets, text_targets, model_targets, spacy_targets, command_targets
TARGETS = {kind: target for room in ROOMS for kind, target in room.TARGETS.items()}
KEPT = [(kind, path) for kind in TARGETS for path in corpus_of(kind)]
NAMES = [f"{path.parent.name}-{path.name}" for _, path in KEPT]
SEED = int(os.environ.get("THINSTACK_FUZZ_SEED", "0"))
"""Another one tries other inputs."""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where inputs are used; the working folder."""
    (tmp_path / "used").mkdir()
    monkeypatch.chdir(tmp_path / "used")
    for name in ("argv", "stdin"):
        monkeypatch.setattr(sys, name, getattr(sys, name))
    return tmp_path / "used"


@pytest.mark.parametrize("kind", TARGETS)
def test_good_inputs_are_answered(kind, folder):
    for content in TARGETS[kind].seeds():
        found = outcome(TARGETS[kind].use, content, folder)
        assert found.what == "answered", (content[:200], found)


@pytest.mark.parametrize(("kind", "path"), KEPT, ids=NAMES)
def test_kept_inputs_do_no_harm(kind, path, folder):
    found = outcome(TARGETS[kind].use, path.read_bytes(), folder)
    assert found.what in ("answered", "refused"), found.message


@pytest.mark.parametrize("kind", TARGETS)
def test_changed_inputs_do_no_harm(kind, folder):
    """In a job of its own, see `tests/jobs.py`."""
    faults = explore(kind, TARGETS[kind], folder, seed=SEED)
    assert not faults, "\n".join(f"{content[:2000]}: {message}" for content, message in faults)
