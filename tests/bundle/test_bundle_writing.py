"""Writing bundles: whole or not at all."""

import os
import sys

import pytest
from bundle_folders import FILES, write

from thinstack.bundle import open_bundle
from thinstack.errors import BundleError


def test_a_bundle_takes_the_place_of_an_old_one(folder):
    write(folder, {**FILES, "cases.json": b"[]"})
    bundle = open_bundle(folder)
    assert bundle.read("cases.json") == b"[]"
    write(folder)
    assert not (folder / "cases.json").exists()
    assert [path.name for path in folder.parent.iterdir()] == ["model"]


def test_an_empty_folder_and_missing_parents_are_no_obstacle(tmp_path):
    (tmp_path / "empty").mkdir()
    write(tmp_path / "empty")
    assert write(tmp_path / "a" / "b" / "model") == open_bundle(tmp_path / "a" / "b" / "model")


def test_nothing_but_a_bundle_is_overwritten(tmp_path, folder):
    other = tmp_path / "web"
    other.mkdir()
    (other / "manifest.json").write_text('{"name": "a web page"}')
    file = tmp_path / "file"
    file.write_text("x")
    (folder / ".git").mkdir()
    (folder / ".git" / "HEAD").write_text("x")
    refused = {other: "web: neither empty", file: "a file", folder: r"contains \.git/HEAD"}
    for path, message in refused.items():
        with pytest.raises(BundleError, match=message):
            write(path)
    assert (other / "manifest.json").read_text() == '{"name": "a web page"}'
    assert (folder / ".git" / "HEAD").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "model", "web"]


@pytest.mark.parametrize("name", ["config.json", "manifest.json"])
def test_written_files_cannot_be_given(tmp_path, name):
    with pytest.raises(BundleError, match=name):
        write(tmp_path / "model", {**FILES, name: b"{}"})


def test_a_bundle_that_could_not_be_opened_is_not_put_in_place(folder):
    with pytest.raises(BundleError, match=r"vocabulary\.txt"):
        write(folder, {"onnx/model.onnx": b""})
    assert open_bundle(folder).read("onnx/model.onnx") == FILES["onnx/model.onnx"]


class Killed(BaseException):
    """The end of the process: no handler of ours may count on running after it."""


class Steps:
    """Lets so many calls that change the disk through, then fails all that follow."""

    NAMES = ("mkdir", "fsync", "rename", "replace", "unlink", "rmdir", "open")

    def __init__(self, monkeypatch, allowed, error, *, forever):
        self.left, self.error, self.forever = allowed, error, forever
        for name in self.NAMES:
            monkeypatch.setattr(os, name, self.counted(getattr(os, name)))

    def counted(self, call):
        def wrapper(*args, **named):
            self.left -= 1
            if self.left < 0 and (self.forever or self.left == -1):
                raise self.error
            return call(*args, **named)

        return wrapper


def ends_at_each_step(folder, error, *, forever):
    """Of a writer that ends at each of its steps: the bundle found, and whether it ended early."""
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


def test_a_writer_killed_at_any_step_leaves_a_whole_bundle(tmp_path):
    found = [content for content, _ in ends_at_each_step(tmp_path, Killed(), forever=True)]
    assert found == sorted(found, reverse=True)  # old up to the step that puts the new one in place
    assert found.count(b"old") > 10
    assert found[-1] == b"new"


def test_a_disk_error_at_any_step_leaves_a_whole_bundle(tmp_path):
    found = ends_at_each_step(tmp_path, OSError("no space left on device"), forever=False)
    assert all(content == b"new" for content, failed in found if not failed)
    assert sum(content == b"old" for content, failed in found if failed) > 10


def test_a_failed_write_leaves_nothing_beside_the_bundle(folder):
    with pytest.MonkeyPatch.context() as patch:
        Steps(patch, 5, OSError("no space left on device"), forever=False)
        with pytest.raises(BundleError, match="no space left on device"):
            write(folder)
    assert [path.name for path in folder.parent.iterdir()] == ["model"]


def test_the_old_bundle_goes_back_if_the_new_one_cannot_take_its_place(folder, monkeypatch):
    rename = os.rename

    def refuse_new(source, target):
        if source.suffix == ".thinstack-new":
            raise PermissionError("a file of it is open")
        rename(source, target)

    monkeypatch.setattr(os, "rename", refuse_new)
    with pytest.raises(BundleError, match="a file of it is open"):
        write(folder, {**FILES, "README.md": b"new"})
    assert [path.name for path in folder.parent.iterdir()] == ["model"]
    assert open_bundle(folder).read("README.md") == FILES["README.md"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no permission bits")
def test_a_bundle_can_be_read_by_whom_the_umask_lets(tmp_path):
    before = os.umask(0o022)
    try:
        write(tmp_path / "model")
    finally:
        os.umask(before)
    assert (tmp_path / "model").stat().st_mode & 0o777 == 0o755
    assert (tmp_path / "model" / "vocabulary.txt").stat().st_mode & 0o777 == 0o644
