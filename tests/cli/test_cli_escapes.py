"""Names that hold control characters or markup are shown escaped, and taken as they are; texts may
begin with a minus sign."""

from shutil import copytree

import pytest
from command_line import run_command

from thinstack.data.files.writing import write_atomically

ODD = "\x1b[31mX\u202e\u200f[/b]"
SHOWN = r"\x1b[31mX\u202e\u200f[/b]"


@pytest.fixture
def cli(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    return lambda *args: run_command(monkeypatch, capsys, *args)


def check(answer, code):
    said = answer.out + answer.err
    assert answer.code == code, said
    assert SHOWN in said.replace("\n", "").replace("│", "").replace("  ", "")
    assert not {"\x1b", "\u202e", "\u200f"} & set(said)


@pytest.mark.parametrize(
    "args",
    [
        ("predict", "--model", f"./{ODD}", "good"),
        ("predict", "--source", ODD, "good"),
        ("predict", "--input", ODD, "--out", "o"),
        ("predict", "--html", f"/dev/null/{ODD}", "good"),
        ("evaluate", "sentiment", ODD),
        ("evaluate", "--suite", ODD),
        ("train", f"{ODD}.toml", "--out", "o"),
        ("train", f"{ODD}.csv", "--out", "o"),
        ("export", "sentiment", ODD),
        (ODD,),
    ],
    ids=lambda args: " ".join(args).replace(ODD, "X"),
)
def test_of_errors(cli, args):
    check(cli(*args), 2)


def test_of_an_option_that_is_none(cli):
    """Typer's own message; it escapes control characters only."""
    answer = cli("predict", "--\x1b[31mX", "good")
    assert (answer.code, "\x1b" in answer.err, r"--\x1b[31mX" in answer.err) == (2, False, True)


def test_bytes_that_are_no_utf8_in_the_name_of_a_model(cli):
    answer = cli("predict", "--model", b"./\xff".decode("utf-8", "surrogateescape"), "good")
    assert (answer.code, r"error: \udcff: no such folder" in answer.err) == (2, True)


def test_of_what_is_done(cli, last_word, tmp_path):
    model, trees = tmp_path / ODD.replace("/", "|"), tmp_path / f"{ODD[:6]}.txt"
    copytree(last_word.path, model)
    trees.write_text("(2 (2 so) (2 good))\n")
    answer = cli("evaluate", f"./{model.name}", trees)
    assert answer.code == 0, answer.err
    title = answer.out.splitlines()[0]
    assert title == f"./{SHOWN.replace('/', '|')} on {tmp_path}/\\x1b[31mX.txt, source gold"
    (tmp_path / "in.csv").write_text("text\ngood\n")
    done = cli("predict", "--input", "in.csv", "--out", ODD[:6], "-m", model, "--jobs", "0")
    assert done.code == 0
    assert done.err.endswith("the scores are in \\x1b[31mX\n")


def test_of_what_doctor_finds(cli, monkeypatch):
    monkeypatch.setattr("thinstack.cli.checks.package_checks", lambda: iter(()))
    answer = cli("doctor", "--model", f"./{ODD}")
    assert answer.code == 1
    assert SHOWN in answer.out
    assert "\x1b" not in answer.out


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
