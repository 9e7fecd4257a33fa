"""A hub that is silent, files that do not fit their manifest, and a cache that was damaged."""

import json
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from bundle.stub_hub import TOKEN, Repository, run, running_hub
from bundle_folders import record, sealed, write

from thinstack.bundle import open_bundle
from thinstack.bundle.hub.remote import fetch
from thinstack.bundle.reading import pack

GOLDEN = Path(__file__).parents[1] / "golden" / "schema-1"
FILMS = "hf://user/films"
SECOND = {"HF_HUB_ETAG_TIMEOUT": "1", "HF_HUB_DOWNLOAD_TIMEOUT": "1"}


@pytest.fixture(scope="module")
def files():
    return pack(open_bundle(GOLDEN / "words"))


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
        assert "not in the cache, and the hub cannot be reached" in answer[0]


@pytest.mark.parametrize("error", [TimeoutError, OSError, RuntimeError, KeyError])
@pytest.mark.parametrize("way", ["itself", "as its own", "as its own, from None"])
def test_a_limit_of_time_ends_what_waits_for_the_hub(monkeypatch, tmp_path, error, way):
    """And the cache does not serve in its place, though the library may have changed the error."""

    def limit(*_):
        raise error("time is up")

    def newest(_):
        try:
            signal.raise_signal(signal.SIGINT)
        except Exception as problem:
            if way == "itself":
                raise
            raise httpx_error("timed out") from (problem if way == "as its own" else None)
        return tmp_path

    httpx_error = type("ReadTimeout", (Exception,), {"__module__": "httpx"})
    monkeypatch.setattr("thinstack.bundle.hub.remote.Repository.newest", newest)
    monkeypatch.setattr("thinstack.bundle.hub.remote.Repository.known", lambda _: tmp_path)
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
    assert "hf://user/mine: " in err
    assert "cannot be reached" in err
    assert set(hub.requests) == {"SILENCE"}


@pytest.mark.parametrize(
    ("name", "content"),
    [("vocabulary.txt", bytes(1 << 20)), ("onnx/model.onnx", b""), ("README.md", b"#\n" * 99)],
)
def test_sizes_are_compared_before_anything_is_downloaded(hub, files, tmp_path, name, content):
    hub.repositories["user/films"].commit(files | {name: content})
    hub.requests.clear()
    ((found, _, _),) = run(hub, tmp_path, ["open", FILMS])
    assert found.startswith(f"BundleError: {FILMS}: {name} has {len(content):,} bytes on the hub")
    assert f"the manifest says {len(files[name]):,}" in found
    assert hub.downloaded() == ["manifest.json"]


def truncated(path):
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 2)


def flipped(path):
    with path.open("r+b") as file:
        first = file.read(1)[0]
        file.seek(0)
        file.write(bytes([first ^ 1]))


def parted(path):
    """Damage a file of its own, as where no file has two names."""
    content = path.read_bytes()
    path.unlink()
    path.write_bytes(content[:-1])


Damage = Callable[[Path], None]
DAMAGES = {
    "truncated": (truncated, ["onnx/model.onnx"]),
    "flipped": (flipped, ["vocabulary.txt"]),
    "gone": (Path.unlink, ["config.json"]),
    "parted": (parted, ["cases.json"]),
    "two": (truncated, ["config.json", "onnx/model.onnx"]),
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
    assert hub.downloaded() == sorted(damaged)
    for each, content in files.items():
        assert (Path(folder) / each).read_bytes() == content


@pytest.mark.parametrize("name", ["truncated", "flipped", "manifest"])
def test_where_it_cannot_be_mended_the_folder_to_delete_is_named(hub, tmp_path, name):
    ((_, folder, _),) = run(hub, tmp_path, ["open", FILMS])
    damage, (damaged,) = DAMAGES[name]
    damage(Path(folder) / damaged)
    hub.silent = True
    ((found, _, _),) = run(hub, tmp_path, ["open", FILMS], **SECOND)
    repository = next(tmp_path.rglob("models--user--films"))
    assert found.startswith(f"BundleError: {FILMS}: its copy in the cache is damaged ")
    assert str(Path(folder) / damaged) in found
    assert f"delete {repository}," in found


def test_a_damaged_blob_without_its_folder_is_mended(hub, tmp_path):
    """As where only the folder of the bundle was deleted."""
    ((_, folder, _),) = run(hub, tmp_path, ["open", FILMS])
    for name in ("manifest.json", "vocabulary.txt"):
        truncated(Path(folder) / name)
    Path(folder).rename(tmp_path / "elsewhere")
    hub.requests.clear()
    ((found, _, _),) = run(hub, tmp_path, ["open", FILMS])
    assert found == 0
    assert hub.downloaded() == ["manifest.json", "vocabulary.txt"]


def test_what_its_author_damaged_is_downloaded_once_more_and_told(hub, files, tmp_path):
    swapped = files["vocabulary.txt"][::-1]
    hub.repositories["user/films"].commit(files | {"vocabulary.txt": swapped})
    hub.requests.clear()
    ((found, _, _),) = run(hub, tmp_path, ["open", FILMS])
    assert found.startswith(f"BundleError: {FILMS}: ")
    assert "vocabulary.txt" in found
    assert "its author must upload it again" in found
    assert hub.downloaded().count("vocabulary.txt") == 2


def test_what_no_download_mends_is_not_downloaded_again(hub, files, tmp_path):
    raw = json.loads(files["manifest.json"])
    config = b'{"schema_version": 99}'
    raw["files"]["config.json"] = record(config)
    hub.repositories["user/films"].commit(
        files | {"config.json": config, "manifest.json": sealed(raw)}
    )
    hub.requests.clear()
    first, second = run(hub, tmp_path, ["open", FILMS], ["open", FILMS])
    assert "schema 99" in first[0]
    assert first == second
    assert len(hub.downloaded()) == len(files)


@pytest.mark.parametrize("commit", ["../../../outside", "main", "A" * 40])
def test_a_commit_that_is_none_leads_nowhere(hub, files, tmp_path, commit):
    repository = hub.repositories["user/films"]
    repository.commits[commit], repository.branches["main"] = files, commit
    ((found, _, _),) = run(hub, tmp_path, ["open", FILMS])
    assert "the hub names no commit" in found
    assert not (tmp_path.parent / "outside").exists()
