"""Files that are whole wherever their writer ends; reading and writing text files."""

import errno
import os
import re
import stat
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinstack.data.files.outputs import check_output
from thinstack.data.files.writing import remove_leftovers, replacing, staging, write_atomically
from thinstack.data.tables.table import Table
from thinstack.data.trees.text_files import read_lines, read_text, write_lines
from thinstack.errors import DataError
from thinstack.integrations.corpora.inputs import open_corpus

PARTIAL = "{}.", ".partial"
posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such files or locks")


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_the_old_file_stays_until_the_new_one_is_whole(tmp_path):
    path = tmp_path / "a" / "b.json"
    write_atomically(path, "é")
    with replacing(path) as temporary:
        temporary.write_bytes(b"new")
        assert path.read_bytes() == "é".encode()
    assert path.read_bytes() == b"new"
    assert names(path.parent) == ["b.json"]


def test_two_writers_of_a_file_do_not_meet(tmp_path):
    path = tmp_path / "file"
    with replacing(path) as first:
        first.write_text("first")
        with replacing(path) as second:
            second.write_text("second")
        assert path.read_text() == "second"
    assert path.read_text() == "first"
    assert names(tmp_path) == ["file"]


def test_a_full_disk_leaves_the_old_file_and_is_told_of_it(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_text("old")

    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=f"No space left on device: '{re.escape(str(path))}'"):
        write_atomically(path, "new")
    assert path.read_text() == "old"
    assert names(tmp_path) == ["file"]


@posix
def test_what_a_killed_writer_left_is_removed_by_the_next_one(tmp_path):
    path = tmp_path / "file"
    others = ["file.0123456.partial", "file.partial", "other.01234567.partial", "xfile.partial"]
    for name in (*others, "file.01234567.partial"):
        (tmp_path / name).touch()
    write_atomically(path, "new")
    assert names(tmp_path) == sorted([*others, "file"])


@posix
@pytest.mark.parametrize("folder", [False, True])
def test_what_a_living_writer_has_begun_is_left_alone(tmp_path, folder):
    path = tmp_path / "made"
    with staging(path, *PARTIAL, folder=folder) as begun:
        remove_leftovers(path, *PARTIAL)
        assert begun.is_dir() == folder
        assert begun.exists()
    assert not begun.exists()
    left = tmp_path / "made.01234567.partial"
    if folder:
        (left / "inner").mkdir(parents=True)
    else:
        left.touch()
    remove_leftovers(path, *PARTIAL)
    assert names(tmp_path) == []


@posix
def test_a_trial_of_an_output_that_was_killed_leaves_nothing(tmp_path):
    (tmp_path / "out.txt.01234567.partial").touch()
    check_output(tmp_path / "out.txt", "--out")
    assert names(tmp_path) == []


@posix
def test_a_file_that_is_taken_for_a_leftover_at_once_is_made_again(tmp_path, monkeypatch):
    """Between its making and its locking."""
    made = os.open
    removed = []

    def opened(path, flags, mode=0o777):
        handle = made(path, flags, mode)
        if not flags & os.O_CREAT and not removed:
            removed.append(path.name)
            os.unlink(path)
        return handle

    monkeypatch.setattr(os, "open", opened)
    with replacing(tmp_path / "file") as temporary:
        assert temporary.name not in removed
        temporary.write_text("new")
    assert (tmp_path / "file").read_text() == "new"


@posix
def test_a_link_is_replaced_and_what_it_points_to_stays(tmp_path):
    victim, link = tmp_path / "victim", tmp_path / "link"
    victim.write_text("mine")
    link.symlink_to(victim)
    write_atomically(link, "new")
    assert victim.read_text() == "mine"
    assert (link.read_text(), link.is_symlink()) == ("new", False)


@posix
def test_devices_and_pipes_are_written_to_as_they_are(tmp_path):
    write_atomically(Path(os.devnull), "lost")
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_atomically(pipe, "read")
    assert os.read(reader, 10) == b"read"
    os.close(reader)
    first, second = os.pipe()
    write_atomically(Path(f"/dev/fd/{second}"), "too")
    assert os.read(first, 10) == b"too"
    os.close(first)
    os.close(second)
    with (tmp_path / "file").open("wb") as file:  # as a shell has redirected it
        write_atomically(Path(f"/dev/fd/{file.fileno()}"), "three")
    assert (tmp_path / "file").read_text() == "three"
    assert names(tmp_path) == ["file", "pipe"]


@posix
def test_a_file_can_be_read_by_whom_the_umask_lets(tmp_path):
    before = os.umask(0o027)
    try:
        write_atomically(tmp_path / "file", "x")
    finally:
        os.umask(before)
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o640


# -- text files


LINES = st.lists(
    st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"])), min_size=1
)


@given(LINES.filter(lambda lines: not any(line.endswith("\r") for line in lines)))
def test_lines_come_back_as_written(tmp_path_factory, lines):
    path = tmp_path_factory.getbasetemp() / "lines"
    write_lines(path, lines)
    assert read_lines(str(path)) == lines


def test_a_mark_at_the_start_is_no_text_and_a_second_one_is(tmp_path):
    path = tmp_path / "lines"
    path.write_bytes("\ufeffa\r\nb".encode())
    assert read_text(path) == "a\r\nb"
    assert read_lines(path) == ["a", "b"]
    write_lines(path, ["\ufeffa"])
    assert path.read_bytes() == "\ufeff\ufeffa\n".encode()
    write_lines(path, ["a", "\ufeff"])
    assert path.read_bytes() == "a\n\ufeff\n".encode()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (None, "toks: cannot be read: No such file"),
        ("\ufeff".encode(), "toks: .* found an empty file"),
        (b"a\ncaf\xe9\n", "toks:2: .* utf-8, found the byte 0xe9"),
    ],
)
def test_files_that_cannot_be_read_are_refused(tmp_path, data, message):
    if data is not None:
        (tmp_path / "toks").write_bytes(data)
    with pytest.raises(DataError, match=message):
        read_lines(tmp_path / "toks")


def test_other_encodings_are_read_when_named(tmp_path):
    (tmp_path / "toks").write_bytes(b"a\ncaf\xe9\n")
    assert read_text(tmp_path / "toks", "latin-1") == "a\ncafé\n"
    with pytest.raises(DataError, match="toks: unknown encoding 'klingon'"):
        read_text(tmp_path / "toks", "klingon")


def test_files_that_cannot_be_written_are_refused(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match=r"file/toks: .*File exists"):
        write_lines(tmp_path / "file" / "toks", ["a"])
    with pytest.raises(DataError, match=r"toks:2: '\\ud800'"):
        write_lines(tmp_path / "toks", ["a", "b\ud800"])


@pytest.mark.parametrize("name", ["x.xlsx", "X.XLS", "http://a.b/x.csv", "s3://b/x.csv"])
def test_spreadsheets_and_addresses_are_refused_by_name(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    if "/" not in name:
        Path(name).touch()
    for read in (lambda: list(Table(name).rows(["text"])), lambda: open_corpus(Path(name))):
        with pytest.raises(DataError, match=r"CSV|does not download") as caught:
            read()
        assert name in str(caught.value)


def test_the_home_folder_may_be_a_tilde(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "t.csv").write_text("text\nGood.\n", encoding="utf-8")
    assert [row.values["text"] for row in Table("~/t.csv").rows(["text"])] == ["Good."]
    assert [row.text for row in open_corpus(Path("~/t.csv")).rows()] == ["Good."]
