"""Texts that begin with a minus sign, and folders where a file is to be written."""

import pytest

from thinstack.data.files.writing import write_atomically

TEXTS = ["-1 stars, terrible", "- a good film", "--jsn", "-- a dash", "-5", "-moving and slow"]


def said(answer):
    """What is in the box of the error, on one line."""
    return " ".join("".join(line.strip("│╭╰─╮╯") for line in answer.err.splitlines()).split())


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_like_an_option_is_one_after_two_minus_signs(cli, text):
    answer = cli("predict", text)
    assert answer.code == 2
    assert "put -- before the texts" in said(answer)
    answer = cli("predict", "--jsonl", "--", text)
    assert (answer.code, answer.out[:1]) == (0, "{")


def test_other_commands_and_errors_say_nothing_of_texts(cli, tmp_path):
    (tmp_path / "my model").mkdir()
    errors = [["plugins", "-1"], ["train", "-x", "a.csv"], ["predict", "--classes", "x"]]
    for arguments in (*errors, ["predict", f"-m{tmp_path / 'my model'}", "A good film."]):
        answer = cli(*arguments)
        assert (answer.code, "before the texts" in answer.err) == (2, False)


def test_a_folder_is_not_written_over(tmp_path):
    for folder in (tmp_path / "a.svg", tmp_path / "link"):
        if folder.name == "link":
            folder.symlink_to(tmp_path / "a.svg")
        else:
            folder.mkdir()
        with pytest.raises(IsADirectoryError, match="found a folder") as caught:
            write_atomically(folder, "text")
        assert caught.value.filename == str(folder)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.svg", "link"]
