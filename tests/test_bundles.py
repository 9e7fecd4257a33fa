"""Bundles: whole or refused, and written whole or not at all."""

import hashlib
import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import thinstack
from thinstack import bundles
from thinstack._version import __version__
from thinstack.bundles import Bundle, bundled_names, open_bundle, write_bundle
from thinstack.config import CellConfig, EmbeddingConfig, HeadConfig, ModelConfig
from thinstack.data.vocabulary import WordVocabulary
from thinstack.data.wordpiece import WordpieceVocabulary
from thinstack.errors import BundleError, UnknownNameError

CONFIG = ModelConfig(
    labels=("bad", "good"),
    embedding=EmbeddingConfig(kind="words", size=4),
    cell=CellConfig(name="nary_lstm.v1", hidden_size=3),
    head=HeadConfig(name="node_classifier.v1"),
)
FILES = {
    "vocabulary.txt": b"the\nfilm\n",
    "onnx/model.onnx": bytes(range(256)),
    "README.md": "# A café\n".encode(),
}
WRITTEN = [*FILES, "config.json", "manifest.json"]


def write(path: Path, files: dict[str, bytes] = FILES, **more: Any) -> Bundle:
    return write_bundle(path, files, **{"config": CONFIG, "metrics": {"root_accuracy": 50.5}, "data": "a treebank", **more})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "model")
    return tmp_path / "model"


def reseal(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change the manifest and give it the digest and the form that belong to the change, by the rule that `Manifest` states."""
    raw = json.loads((folder / "manifest.json").read_bytes())
    change(raw)
    covered = {key: value for key, value in raw.items() if key != "digest"}
    canonical = json.dumps(covered, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    raw["digest"] = hashlib.sha256(canonical).hexdigest()
    text = json.dumps(raw, sort_keys=True, indent=2, ensure_ascii=False) + "\n"
    (folder / "manifest.json").write_bytes(text.encode())


def record(content: bytes) -> dict[str, Any]:
    return {"sha256": hashlib.sha256(content).hexdigest(), "size": len(content)}


# -- reading ----------------------------------------------------------------------------------------------------------


def test_what_is_written_is_read(folder: Path) -> None:
    bundle = open_bundle(folder)
    assert bundle.path == folder
    assert bundle.config == CONFIG
    assert {name: bundle.read(name) for name in FILES} == FILES
    assert ModelConfig.model_validate_json(bundle.read("config.json")) == CONFIG
    assert bundle.manifest.metrics == {"root_accuracy": 50.5}
    assert bundle.manifest.data == "a treebank"
    assert (bundle.manifest.producer.name, bundle.manifest.producer.version) == ("thinstack", __version__)
    assert bundle.vocabulary() == WordVocabulary(["the", "film"])
    assert open_bundle(str(folder)) == bundle


def test_the_vocabulary_is_of_the_kind_that_the_config_names(tmp_path: Path) -> None:
    config = CONFIG.model_copy(update={"embedding": EmbeddingConfig(kind="wordpieces", size=4)})
    bundle = write(tmp_path / "model", {"vocabulary.txt": b"[UNK]\nfilm\n##s\n"}, config=config)
    assert bundle.vocabulary() == WordpieceVocabulary(["[UNK]", "film", "##s"])


def test_a_file_that_holds_no_vocabulary_is_refused(tmp_path: Path) -> None:
    bundle = write(tmp_path / "model", {"vocabulary.txt": b"film\nfilm\n"})
    with pytest.raises(BundleError, match=r"vocabulary\.txt.*'film' occurs twice"):
        bundle.vocabulary()


def test_the_digest_of_the_manifest_follows_the_stated_rule(folder: Path) -> None:
    before = (folder / "manifest.json").read_bytes()
    reseal(folder, lambda raw: None)
    assert (folder / "manifest.json").read_bytes() == before


@pytest.mark.parametrize("name", WRITTEN)
def test_every_changed_byte_is_refused(folder: Path, name: str) -> None:
    path = folder / name
    content = path.read_bytes()
    for position in range(len(content)):
        for bit in (0, 5):
            mutant = bytearray(content)
            mutant[position] ^= 1 << bit
            path.write_bytes(mutant)
            with pytest.raises(BundleError, match=path.name):
                open_bundle(folder)


@pytest.mark.parametrize("name", WRITTEN)
@pytest.mark.parametrize("keep", [0, 0.5, -1])
def test_a_truncated_file_is_refused(folder: Path, name: str, keep: float) -> None:
    path = folder / name
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * keep) if keep >= 0 else -1])
    with pytest.raises(BundleError, match=path.name):
        open_bundle(folder)


@pytest.mark.parametrize("name", WRITTEN)
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(BundleError, match=Path(name).name):
        open_bundle(folder)


def test_swapped_files_are_refused(folder: Path) -> None:
    (folder / "README.md").write_bytes(FILES["vocabulary.txt"])
    (folder / "vocabulary.txt").write_bytes(FILES["README.md"])
    with pytest.raises(BundleError, match=r"vocabulary\.txt|README\.md"):
        open_bundle(folder)


def test_a_file_changed_after_opening_is_refused(folder: Path) -> None:
    bundle = open_bundle(folder)
    (folder / "onnx/model.onnx").write_bytes(bytes(256))
    (folder / "vocabulary.txt").write_bytes(b"the\nfirm\n")
    with pytest.raises(BundleError, match=r"model\.onnx.*damaged; export, copy or install"):
        bundle.read("onnx/model.onnx")
    with pytest.raises(BundleError, match=r"vocabulary\.txt.*damaged"):
        bundle.vocabulary()


def test_a_file_that_the_bundle_does_not_have_is_named_with_those_it_has(folder: Path) -> None:
    with pytest.raises(BundleError, match=r"no model\.safetensors; it has README\.md, config\.json"):
        open_bundle(folder).read("model.safetensors")


def test_unlisted_files_are_refused_but_hidden_ones(folder: Path) -> None:
    (folder / ".gitattributes").write_text("x")
    (folder / ".cache").mkdir()
    (folder / ".cache" / "x").write_text("x")
    open_bundle(folder)
    (folder / "onnx" / "weights.pkl").write_text("x")
    with pytest.raises(BundleError, match=r"weights\.pkl: not listed"):
        open_bundle(folder)


@pytest.mark.parametrize("name", ["vocabulary.txt", "manifest.json", "onnx/model.onnx"])
def test_a_link_in_place_of_a_file_is_refused(folder: Path, tmp_path: Path, name: str) -> None:
    (folder / name).rename(tmp_path / "elsewhere")
    (folder / name).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BundleError, match=rf"{name}: not a plain file"):
        open_bundle(folder)


def test_a_link_in_place_of_a_folder_is_refused(folder: Path, tmp_path: Path) -> None:
    (folder / "onnx").rename(tmp_path / "elsewhere")
    (folder / "onnx").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BundleError, match="onnx: a link"):
        open_bundle(folder)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_in_place_of_a_file_is_not_waited_for(folder: Path) -> None:
    (folder / "vocabulary.txt").unlink()
    os.mkfifo(folder / "vocabulary.txt")
    with pytest.raises(BundleError, match="not a plain file"):
        open_bundle(folder)


@pytest.mark.parametrize(
    "name", ["../outside", "a/../../outside", "/etc/passwd", "a\\..\\b", "C:/b", ".hidden", "", "a//b", "a/", "a\n", "é"]
)
def test_names_that_lead_out_of_the_folder_are_refused(folder: Path, name: str) -> None:
    (folder.parent / "outside").write_bytes(b"x")
    reseal(folder, lambda raw: raw["files"].update({name: record(b"x")}))
    with pytest.raises(BundleError, match=r"manifest\.json: files"):
        open_bundle(folder)
    with pytest.raises(BundleError, match="files"):
        write(folder.parent / "other", {**FILES, name: b"x"})
    assert not (folder.parent / "other").exists()


@pytest.mark.parametrize(
    "change",
    [
        lambda raw: raw.update(extra=1),
        lambda raw: raw.update(schema_version=0),
        lambda raw: raw.update(schema_version="1"),
        lambda raw: raw.update(files=[]),
        lambda raw: raw.update(files={"vocabulary.txt": {}}),
        lambda raw: raw["files"]["vocabulary.txt"].update(size=-1),
        lambda raw: raw["files"]["vocabulary.txt"].update(mode=1),
        lambda raw: raw["producer"].update(extra=1),
        lambda raw: raw.pop("producer") and raw.update(producer=None),
        lambda raw: raw["files"].pop("vocabulary.txt"),
    ],
)
def test_a_manifest_of_another_form_is_refused(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    reseal(folder, change)
    with pytest.raises(BundleError):
        open_bundle(folder)


@pytest.mark.parametrize(
    "text", ["", "[]", "null", "{}", "NaN", "[" * 100_000, '{"digest": 1', "\x00", '{"a": ' * 5000, "9" * 9999]
)
def test_what_is_no_manifest_is_refused(folder: Path, text: str) -> None:
    (folder / "manifest.json").write_text(text)
    with pytest.raises(BundleError, match=r"manifest\.json"):
        open_bundle(folder)


def test_a_huge_manifest_is_not_read(folder: Path) -> None:
    with (folder / "manifest.json").open("r+b") as file:
        file.truncate(1 << 40)
    with pytest.raises(BundleError, match="a manifest has at most"):
        open_bundle(folder)


def test_a_newer_schema_says_what_is_needed(folder: Path) -> None:
    reseal(folder, lambda raw: raw.update(schema_version=2, producer={"name": "thinstack", "version": "9.1"}, novel=1))
    with pytest.raises(BundleError, match=r'schema 2, but .* up to 1; .*pip install --upgrade "thinstack>=9\.1"'):
        open_bundle(folder)


def test_nothing_of_a_manifest_is_put_into_a_command_but_a_version(folder: Path) -> None:
    reseal(folder, lambda raw: raw.update(schema_version=2, producer={"version": '"; rm x'}))
    with pytest.raises(BundleError, match=r'--upgrade "thinstack"$'):
        open_bundle(folder)


def test_a_newer_config_says_what_is_needed(folder: Path) -> None:
    newer = json.dumps({**json.loads((folder / "config.json").read_bytes()), "schema_version": 7, "novel": 1}).encode()
    (folder / "config.json").write_bytes(newer)
    reseal(folder, lambda raw: raw["files"].update({"config.json": record(newer)}))
    with pytest.raises(BundleError, match=r"config\.json: schema 7.*newer thinstack"):
        open_bundle(folder)


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"labels": 1}', b"\xff", b"[" * 100_000])
def test_a_config_that_is_none_is_refused(folder: Path, content: bytes) -> None:
    (folder / "config.json").write_bytes(content)
    reseal(folder, lambda raw: raw["files"].update({"config.json": record(content)}))
    with pytest.raises(BundleError, match=r"config\.json"):
        open_bundle(folder)


# -- names ------------------------------------------------------------------------------------------------------------


def test_bundled_models_are_found_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "bundled" / "tiny")
    write(tmp_path / "bundled" / "other")
    (tmp_path / "bundled" / "no_model").mkdir()
    monkeypatch.setattr(bundles, "BUNDLED", tmp_path / "bundled")
    monkeypatch.chdir(tmp_path)
    assert bundled_names() == ["other", "tiny"]
    assert open_bundle("tiny").path == tmp_path / "bundled" / "tiny"
    with pytest.raises(UnknownNameError, match="unknown model 'huge'; known: other, tiny"):
        open_bundle("huge")
    with pytest.raises(UnknownNameError, match="known: other, tiny"):
        thinstack.load("huge")
    with pytest.raises(BundleError, match="no such folder; bundled models have the names other, tiny"):
        open_bundle("./tiny")
    write(tmp_path / "tiny", data="of one's own")
    assert open_bundle("tiny").manifest.data == "of one's own"


@pytest.mark.parametrize("path", ["a\0b", "x" * 5000, "", "loop", "a/\0"])
def test_odd_paths_get_a_typed_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises((BundleError, UnknownNameError)):
        open_bundle(path)


def test_a_file_is_no_bundle(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(b"")
    with pytest.raises(BundleError, match="a file; expected the folder"):
        open_bundle(tmp_path / "model.onnx")


# -- writing ----------------------------------------------------------------------------------------------------------


def test_a_bundle_takes_the_place_of_an_old_one(folder: Path) -> None:
    write(folder, {**FILES, "cases.json": b"[]"})
    bundle = open_bundle(folder)
    assert bundle.read("cases.json") == b"[]"
    write(folder)
    assert not (folder / "cases.json").exists()
    assert [path.name for path in folder.parent.iterdir()] == ["model"]


def test_an_empty_folder_and_missing_parents_are_no_obstacle(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    write(tmp_path / "empty")
    assert write(tmp_path / "a" / "b" / "model") == open_bundle(tmp_path / "a" / "b" / "model")


def test_nothing_but_a_bundle_is_overwritten(tmp_path: Path, folder: Path) -> None:
    other = tmp_path / "web"
    other.mkdir()
    (other / "manifest.json").write_text('{"name": "a web page"}')
    file = tmp_path / "file"
    file.write_text("x")
    (folder / ".git").mkdir()
    (folder / ".git" / "HEAD").write_text("x")
    for path, message in [(other, "not empty and not a bundle"), (file, "a file"), (folder, r"holds \.git/HEAD")]:
        with pytest.raises(BundleError, match=message):
            write(path)
    assert (other / "manifest.json").read_text() == '{"name": "a web page"}'
    assert (folder / ".git" / "HEAD").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "model", "web"]


@pytest.mark.parametrize("name", ["config.json", "manifest.json"])
def test_written_files_cannot_be_given(tmp_path: Path, name: str) -> None:
    with pytest.raises(BundleError, match=name):
        write(tmp_path / "model", {**FILES, name: b"{}"})


@pytest.mark.parametrize("metrics", [{"a": float("nan")}, {"a": [float("inf")]}, {"a": object()}])
def test_metrics_are_json(tmp_path: Path, metrics: dict[str, Any]) -> None:
    with pytest.raises(BundleError, match="metrics"):
        write(tmp_path / "model", metrics=metrics)


def test_a_bundle_that_could_not_be_opened_is_not_put_in_place(folder: Path) -> None:
    with pytest.raises(BundleError, match=r"vocabulary\.txt"):
        write(folder, {"onnx/model.onnx": b""})
    assert open_bundle(folder).read("onnx/model.onnx") == FILES["onnx/model.onnx"]


class Killed(BaseException):
    """The end of the process: no handler of ours may count on running after it."""


class Steps:
    """Lets so many calls that change the disk through, then fails all that follow."""

    NAMES = ("mkdir", "fsync", "rename", "replace", "unlink", "rmdir", "open")

    def __init__(self, monkeypatch: pytest.MonkeyPatch, allowed: int, error: BaseException, *, forever: bool):
        self.left, self.error, self.forever = allowed, error, forever
        for name in self.NAMES:
            monkeypatch.setattr(os, name, self.counted(getattr(os, name)))

    def counted(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapper(*args: Any, **named: Any) -> Any:
            self.left -= 1
            if self.left < 0 and (self.forever or self.left == -1):
                raise self.error
            return call(*args, **named)

        return wrapper


def ends_at_each_step(folder: Path, error: BaseException, *, forever: bool) -> list[tuple[bytes, bool]]:
    """Of a writer that ends at its first, second, ... step: the bundle that is found, and whether it ended early."""
    found = []
    for allowed in range(200):
        path = folder / str(allowed) / "model"
        write(path, {**FILES, "README.md": b"old"})
        failed = False
        with pytest.MonkeyPatch.context() as patch:
            steps = Steps(patch, allowed, error, forever=forever)
            try:
                write(path, {**FILES, "README.md": b"new"})
            except (Killed, BundleError):
                failed = True
        found.append((open_bundle(path).read("README.md"), failed))
        write(path, {**FILES, "README.md": b"newer"})
        assert open_bundle(path).read("README.md") == b"newer"
        if steps.left >= 0:
            return found
    raise AssertionError("the writer took more than 200 steps")


def test_a_writer_killed_at_any_step_leaves_a_whole_bundle(tmp_path: Path) -> None:
    found = [content for content, _ in ends_at_each_step(tmp_path, Killed(), forever=True)]
    assert found == sorted(found, reverse=True)  # old up to the step that puts the new one in place
    assert found.count(b"old") > 10
    assert found[-1] == b"new"


def test_a_disk_error_at_any_step_leaves_a_whole_bundle(tmp_path: Path) -> None:
    found = ends_at_each_step(tmp_path, OSError("no space left on device"), forever=False)
    assert all(content == b"new" for content, failed in found if not failed)
    assert sum(content == b"old" for content, failed in found if failed) > 10


def test_a_failed_write_leaves_nothing_beside_the_bundle(folder: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        Steps(patch, 5, OSError("no space left on device"), forever=False)
        with pytest.raises(BundleError, match="cannot be written: no space left on device"):
            write(folder)
    assert [path.name for path in folder.parent.iterdir()] == ["model"]


def test_the_old_bundle_goes_back_if_the_new_one_cannot_take_its_place(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rename = os.rename

    def refuse_new(source: Path, target: Path) -> None:
        if source.suffix == ".thinstack-new":
            raise PermissionError("a file of it is open")
        rename(source, target)

    monkeypatch.setattr(os, "rename", refuse_new)
    with pytest.raises(BundleError, match="a file of it is open"):
        write(folder, {**FILES, "README.md": b"new"})
    assert [path.name for path in folder.parent.iterdir()] == ["model"]
    assert open_bundle(folder).read("README.md") == FILES["README.md"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no permission bits")
def test_a_bundle_can_be_read_by_whom_the_umask_lets(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        write(tmp_path / "model")
    finally:
        os.umask(before)
    assert (tmp_path / "model").stat().st_mode & 0o777 == 0o755
    assert (tmp_path / "model" / "vocabulary.txt").stat().st_mode & 0o777 == 0o644


def test_a_moved_bundle_is_still_whole(folder: Path, tmp_path: Path) -> None:
    shutil.move(folder, tmp_path / "moved")
    assert open_bundle(tmp_path / "moved").read("README.md") == FILES["README.md"]
