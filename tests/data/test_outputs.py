"""The rule for files that commands write: none replaces what is read, and all are tried first."""

import json
import os
import signal
import stat
import sys
from itertools import product

import pytest

from thinstack.bundle.writing import replacing_folder
from thinstack.data.files.outputs import check_apart, check_output
from thinstack.data.files.signals import stoppable
from thinstack.data.files.writing import replacing, write_atomically
from thinstack.errors import InputError, StoppedError

posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such files or rights")


@pytest.fixture
def table(tmp_path):
    """A table in a folder, with links to both beside it."""
    table = tmp_path / "in" / "t.csv"
    (table.parent / "sub").mkdir(parents=True)
    table.write_text("text\nGood.\n")
    if sys.platform != "win32":
        os.link(table, tmp_path / "hard.csv")
        (tmp_path / "soft.csv").symlink_to(table)
        (tmp_path / "folder").symlink_to(table.parent)
    return table


@posix
@pytest.mark.parametrize(
    ("read", "outs"),
    [
        ("in/t.csv", "in/t.csv in/sub/../t.csv hard.csv soft.csv folder/t.csv"),
        ("in", "in/new.html folder/new.html in/new/er.html soft.csv"),
        *[("soft.csv", "in/t.csv"), ("folder", "in/new.html"), ("new.html", "new.html")],
    ],
)
def test_what_is_read_is_not_written_over(table, tmp_path, monkeypatch, outs, read):
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.csv")}
    monkeypatch.chdir(tmp_path)
    for start, out in product((tmp_path, type(tmp_path)()), outs.split()):
        for also in ([], [None, "hf://user/name", 0]):
            with pytest.raises(InputError):
                check_output(start / out, "--out", [*also, str(start / read)])
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.csv")} == before


def test_what_an_open_file_reads_is_not_written_over(table):
    with table.open("rb") as file, pytest.raises(InputError):
        check_output(table, "--out", [file.fileno()])


def test_a_folder_that_holds_what_is_read_is_not_replaced(table, tmp_path):
    with pytest.raises(InputError):
        check_apart(table.parent, "--out", [table])
    check_apart(tmp_path / "out", "--out", [table, table.parent])


@pytest.mark.parametrize("out", ["in", "in/t.csv/x.html", "x" * 400, f"new/{'x' * 400}", "a\0b"])
def test_what_cannot_be_written_is_refused_and_leaves_nothing(table, tmp_path, out):
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(ValueError, match=r"file|folder"):
        check_output(tmp_path / out, "--out")
    assert sorted(tmp_path.rglob("*")) == before


@posix
@pytest.mark.skipif(getattr(os, "geteuid", int)() == 0, reason="root may write anywhere")
def test_a_folder_without_the_right_to_write_is_refused(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(InputError):
        check_output(tmp_path / "new" / "x.html", "--out")


@pytest.mark.parametrize("there", [None, "old"])
@pytest.mark.parametrize("came", [None, "theirs"])
def test_a_file_that_came_meanwhile_stays(table, there, came):
    path = table.parent / "x.html"
    if there:
        path.write_text(there)
    output = check_output(path, "--out", [table])
    if came is None:
        output.write("ours")
        assert path.read_text() == "ours"
    else:
        path.write_text(came)
        with pytest.raises(InputError):
            output.write("ours")
        assert path.read_text() == came
    assert {each.name for each in table.parent.iterdir()} == {"sub", "t.csv", "x.html"}


def test_a_text_that_is_not_unicode_is_written_with_escapes(tmp_path):
    check_output(tmp_path / "x.json", "--out").write(json.dumps("b\udcff", ensure_ascii=False))
    assert json.loads((tmp_path / "x.json").read_text("utf-8")) == "b\udcff"


@posix
def test_devices_and_redirected_files_pass(table, tmp_path):
    check_output(os.devnull, "--out", [os.devnull]).write("lost")
    with (tmp_path / "out").open("wb") as file:
        check_output(f"/dev/fd/{file.fileno()}", "--out").write("kept")
    assert (tmp_path / "out").read_text() == "kept"


@posix
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o400, 0o664])
def test_rights_are_those_of_what_is_replaced(tmp_path, mode):
    path, folder = tmp_path / "file", tmp_path / "folder"
    path.write_text("old")
    path.chmod(mode)
    with replacing(path) as temporary:
        assert stat.S_IMODE(temporary.stat().st_mode) == mode | 0o600, "while it is written, too"
    write_atomically(path, "new")
    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == ("new", mode)
    folder.mkdir()
    folder.chmod(mode | 0o700)
    with replacing_folder(folder) as new:
        (new / "x").touch()
    assert stat.S_IMODE(folder.stat().st_mode) == mode | 0o700


# -- Ctrl-C and SIGTERM: one message, an exit code, and the handlers that were there


@pytest.fixture
def handlers():
    """The handlers that a command finds, which a test must leave behind."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_is_an_error_with_the_code_of_shells(handlers, number, code):
    left = []

    def work():
        try:
            signal.raise_signal(number)
        except Exception:
            left.append("hidden")
        except BaseException as error:
            error.add_note(" after epoch 2")
            raise
        finally:
            left.append("tidied")

    said = r"^stopped; call again after epoch 2$"
    with pytest.raises(StoppedError, match=said) as caught, stoppable("stopped; call again"):
        work()
    assert caught.value.code == code
    assert left == ["tidied"]


def test_the_second_signal_is_the_systems(handlers):
    found = []

    def work():
        try:
            signal.raise_signal(signal.SIGTERM)
        finally:
            found.extend(map(signal.getsignal, (signal.SIGINT, signal.SIGTERM)))

    with pytest.raises(StoppedError), stoppable("stopped"):
        work()
    assert found == [signal.SIG_DFL] * 2


def test_a_signal_that_was_ignored_still_is(handlers):
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with stoppable("stopped"):
            signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_errors_pass(handlers):
    with pytest.raises(ValueError, match="mine"), stoppable("stopped"):
        raise ValueError("mine")
