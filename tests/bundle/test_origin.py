"""Which bundles are taken for the user's own, and how commands run the others."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from bundle_folders import resealed
from command_line import run_command

from thinstack.bundle import Bundle, open_bundle
from thinstack.bundle.origin import is_own, note_trained
from thinstack.cli.model import load_model
from thinstack.runtime import predictor, reference
from thinstack.runtime.isolated import IsolatedSession
from thinstack.serving.server import PageServer

GOLDEN = Path(__file__).parents[1] / "golden" / "schema-1" / "words"


@pytest.fixture(autouse=True)
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "thinstack" / "trained"


@pytest.fixture
def copied(last_word: Bundle, tmp_path: Path) -> Bundle:
    return open_bundle(shutil.copytree(last_word.path, tmp_path / "model"))


def own(bundle: Bundle) -> bool:
    return is_own(str(bundle.path), bundle)


def test_what_is_installed_is_own_by_its_name_alone() -> None:
    bundle = open_bundle("sst")
    assert is_own("sst", bundle)
    assert not own(bundle)


def test_what_was_trained_here_is_own_wherever_it_lies(
    copied: Bundle, notes: Path, tmp_path: Path
) -> None:
    assert not own(copied)
    note_trained(copied)
    assert [path.name for path in notes.iterdir()] == [copied.manifest.digest]
    assert own(copied)
    assert own(open_bundle(shutil.copytree(copied.path, tmp_path / "elsewhere")))
    resealed(lambda raw: raw.update(data="of somebody else"))(copied.path)
    assert not own(open_bundle(copied.path))


@pytest.mark.parametrize("state", ["file/state", "relative", ""])
def test_where_nothing_can_be_noted_nothing_is_own(
    copied: Bundle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, state: str
) -> None:
    """A relative path is no such folder, by the specification."""
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "file"))
    monkeypatch.delenv("LOCALAPPDATA", raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / state) if "/" in state else state)
    note_trained(copied)
    assert not own(copied)


def test_commands_run_the_models_of_others_apart(copied: Bundle) -> None:
    assert isinstance(load_model(str(copied.path), threads=1)._session, IsolatedSession)
    assert not isinstance(load_model("sst", threads=1)._session, IsolatedSession)
    note_trained(copied)
    assert not isinstance(load_model(str(copied.path), threads=1)._session, IsolatedSession)


@pytest.mark.parametrize(
    "command",
    [
        ["predict", "good", "--model", "MODEL"],
        ["predict", "--input", "texts.txt", "--out", "out", "--jobs", "0", "--model", "MODEL"],
        ["evaluate", "MODEL", "texts.csv"],
        ["doctor", "--model", "GOLDEN"],
        ["serve", "MODEL", "--port", "0", "--no-open"],
    ],
)
def test_every_command_that_runs_a_model_runs_it_so(
    command: list[str],
    copied: Bundle,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked: list[bool] = []
    for module in (predictor, reference):
        real = module.open_session

        def recorded(*given: Any, real: Any = real, **more: Any) -> Any:
            asked.append(more.get("isolated", False))
            return real(*given, **more)

        monkeypatch.setattr(module, "open_session", recorded)
    monkeypatch.setattr(PageServer, "serve_forever", lambda self: None)
    monkeypatch.chdir(tmp_path)
    Path("texts.txt").write_text("good\n")
    Path("texts.csv").write_text("text,label\ngood,good\n")
    paths = {"MODEL": str(copied.path), "GOLDEN": str(GOLDEN)}
    found = run_command(monkeypatch, capsys, *(paths.get(part, part) for part in command))
    assert found.code == 0 or command[0] == "doctor", found.err
    assert asked == [True]
