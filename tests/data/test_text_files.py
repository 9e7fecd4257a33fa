"""Reading and writing text files."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinstack.data.trees.text_files import read_lines, read_text, write_lines
from thinstack.errors import DataError

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
        (b"a\ncaf\xe9\n", "toks:2: .* utf-8, found the byte 0xe9 at position 5"),
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
