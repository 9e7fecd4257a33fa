"""A hub that is silent, files that do not fit their manifest, and a cache that was damaged."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from bundle.stub_hub import TOKEN, Repository, run, running_hub
from bundle_folders import GOLDEN, write

from thinstack.bundle.hub import fetch, hub_library
from thinstack.bundle.reading import pack

FILMS = "hf://user/films"
SECOND = {"HF_HUB_ETAG_TIMEOUT": "1", "HF_HUB_DOWNLOAD_TIMEOUT": "1"}


@pytest.fixture
def hub(files):
    with running_hub() as hub:
        hub.repositories["user/films"] = Repository()
        hub.repositories["user/films"].commit(files)
        yield hub


def test_where_the_hub_is_silent_the_cache_serves(hub, tmp_path):
    ((_, folder, _),) = run(hub, tmp_path / "home", ["open", FILMS])
    other = pack(write(tmp_path / "other"))
    hub.repositories["user/films"].commit(other)  # of which the cache knows nothing
    hub.silent = True
    asked = [["open", FILMS], ["open", "hf://user/never"], ["open", f"{FILMS}@v9"]]
    known, *others = run(hub, tmp_path / "home", *asked, **SECOND)
    assert known == (0, folder, "")
    for answer, (_, address) in zip(others, asked[1:], strict=True):
        assert answer[0].startswith(f"BundleError: {address}: ")
        assert "the hub cannot be reached" in answer[0]


@pytest.mark.parametrize("error", [TimeoutError, OSError, RuntimeError, KeyError])
@pytest.mark.parametrize("way", ["itself", "as its own", "as its own, from None"])
def test_a_limit_of_time_ends_what_waits_for_the_hub(monkeypatch, tmp_path, error, way):
    """And the cache does not serve in its place, though the library may have changed the error."""

    def limit(*_):
        raise error("time is up")

    def asked(*_, **__):
        try:
            signal.raise_signal(signal.SIGINT)
        except Exception as problem:
            if way == "itself":
                raise
            raise httpx_error("timed out") from (problem if way == "as its own" else None)
        raise AssertionError("no signal came")

    httpx_error = type("ReadTimeout", (Exception,), {"__module__": "httpx"})
    monkeypatch.setattr("huggingface_hub.get_hf_file_metadata", asked)
    ref = hub_library().cached_assets_path("thinstack", "user/films", "refs", assets_dir=tmp_path)
    (ref / "main").write_text("0" * 40)
    monkeypatch.setattr("huggingface_hub.cached_assets_path", lambda *_: ref)
    before = signal.signal(signal.SIGINT, limit)
    try:
        with pytest.raises(error, match="time is up") as caught:
            fetch(FILMS)
    finally:
        signal.signal(signal.SIGINT, before)
    assert type(caught.value) is error


def test_nothing_is_sent_to_a_silent_hub(hub, tmp_path):
    hub.silent = True
    ((code, _, err),) = run(
        hub,
        tmp_path,
        ["push", str(GOLDEN / "words"), "user/mine", "--no-isolated"],
        HF_TOKEN=TOKEN,
        **SECOND,
    )
    assert code == 2
    assert "hf://user/mine: the hub cannot be reached: " in err
    assert set(hub.requests) == {"SILENCE"}


def truncated(path):
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 2)


def flipped(path):
    """And nothing tells of it, neither the size nor the date."""
    dates = path.stat()
    with path.open("r+b") as file:
        first = file.read(1)[0]
        file.seek(0)
        file.write(bytes([first ^ 1]))
    os.utime(path, ns=(dates.st_atime_ns, dates.st_mtime_ns))


DAMAGES = {
    "truncated": (truncated, ["onnx/model.onnx"]),
    "flipped": (flipped, ["vocabulary.txt"]),
    "gone": (Path.unlink, ["config.json"]),
    "manifest": (truncated, ["manifest.json"]),
    "manifest and more": (flipped, ["manifest.json", "vocabulary.txt"]),
}


@pytest.mark.parametrize("name", DAMAGES)
@pytest.mark.parametrize("pinned", [False, True])
def test_a_damaged_cache_is_mended(hub, files, tmp_path, name, pinned):
    commit = hub.repositories["user/films"].branches["main"]
    address = f"{FILMS}@{commit}" if pinned else FILMS
    ((_, folder, _),) = run(hub, tmp_path, ["open", address])
    damage, damaged = DAMAGES[name]
    for each in damaged:
        damage(Path(folder) / each)
    hub.requests.clear()
    again, once_more = run(hub, tmp_path, ["open", address], ["open", address])
    assert again == once_more == (0, folder, "")
    assert {*damaged} <= {*hub.downloaded()} <= {*files}
    for each, content in files.items():
        assert (Path(folder) / each).read_bytes() == content


def test_processes_that_start_together_download_once(hub, files, tmp_path):
    with ThreadPoolExecutor(4) as pool:
        answers = set(pool.map(lambda _: run(hub, tmp_path, ["open", FILMS])[0], range(4)))
    ((code, _, err),) = answers
    assert (code, err) == (0, "")
    assert hub.downloaded() == sorted(files)


@pytest.mark.parametrize("name", ["truncated", "flipped", "manifest"])
def test_where_it_cannot_be_mended_the_folder_to_delete_is_named(hub, tmp_path, name):
    ((_, folder, _),) = run(hub, tmp_path, ["open", FILMS])
    damage, (damaged,) = DAMAGES[name]
    damage(Path(folder) / damaged)
    hub.silent = True
    ((found, _, _),) = run(hub, tmp_path, ["open", FILMS], **SECOND)
    assert found.startswith(f"BundleError: {FILMS}: ")
    assert found.endswith(f"cached copy is damaged: delete {folder}")


@pytest.mark.parametrize("commit", ["../../../outside", "main", "A" * 40])
def test_a_commit_that_is_none_leads_nowhere(hub, files, tmp_path, commit):
    repository = hub.repositories["user/films"]
    repository.commits[commit], repository.branches["main"] = files, commit
    ((found, _, _),) = run(hub, tmp_path, ["open", FILMS])
    assert "the reply has no commit" in found
    assert not (tmp_path.parent / "outside").exists()
