"""`thinstack predict`: a line or a row for each text, and its answer before its sentences."""

import csv
import io
import re

import numpy as np
import pytest
from last_word_model import write_last_word_bundle
from rich.cells import cell_len
from rich.console import Console

import thinstack
from thinstack.cli import _COMMANDS
from thinstack.core.scale import FIVE
from thinstack.core.transitions import left
from thinstack.integrations.show.terminal import MOST_LINES, Answer
from thinstack.runtime.prediction import Prediction
from thinstack.runtime.result import Result
from thinstack.runtime.scored import Scored
from thinstack.runtime.views import View

LABELS = ("negative", "neutral", "positive")
TEXTS = ["It is good. An awful film", "so\n good", "", 'a "b", c', "very awful"]


def test_csv_has_a_row_for_each_text(cli, scale_folder):
    answer = cli("predict", *TEXTS, "--csv", "--model", scale_folder)
    assert answer.code == 0
    assert answer.err.startswith("warning: text 2 has no words\n")
    header, *rows = csv.reader(io.StringIO(answer.out, newline=""))
    assert header == ["text", "label", "polarity", *LABELS]
    assert [row[0] for row in rows] == TEXTS
    assert rows[2][1:] == [""] * 5
    for row, result in zip(rows, thinstack.load(scale_folder)(TEXTS), strict=True):
        if result.sentences:
            assert row[1] == result.label
            numbers = [result.polarity, *result.scores.values()]
            assert [*map(float, row[2:])] == pytest.approx(numbers, abs=1e-6)


def test_a_class_with_the_name_of_a_column_is_refused(cli, tmp_path):
    own = write_last_word_bundle(tmp_path / "own", labels=("text", "b", "c")).path
    answer = cli("predict", "good", "--csv", "--model", own)
    answer.check_refused("'text'")


def test_brief_is_a_line_for_each_text(cli, scale_folder, last_word):
    answer = cli("predict", *TEXTS, "a " * 200, "--brief", "--model", scale_folder)
    lines = answer.out.splitlines()
    assert [line[:10].strip() for line in lines] == [
        *("neutral", "positive", "no words", "neutral", "negative", "neutral")
    ]
    assert lines[1].endswith("so good"), "a text is one line"
    assert lines[4].split()[1].startswith("-0.")
    assert lines[5].endswith("a " * 199 + "a"), "whole where it is no terminal"
    answer = cli("predict", "good", "--brief", "--model", last_word.path)
    assert answer.out.split() == ["good", "good"], "no polarity without a scale"


@pytest.mark.parametrize("width", [20, 40, 80])
def test_brief_fits_a_terminal(cli, scale_folder, monkeypatch, width):
    monkeypatch.setattr(Console, "is_terminal", True)
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("NO_COLOR", "1")
    answer = cli("predict", "word " * 50, "wörd" * 50, "--brief", "--model", scale_folder)
    lines = re.sub(r"\x1b\[[\d;]*m", "", answer.out).splitlines()
    assert len(lines) == 2
    assert all(width - 9 <= cell_len(line) <= width for line in lines)


def test_the_answer_for_a_text_comes_first(cli, scale_folder):
    result = thinstack.load(scale_folder)(TEXTS[0])
    lines = cli("predict", TEXTS[0], "--model", scale_folder).out.splitlines()
    assert lines[0] == f"{result.label} {result.polarity:+.2f}: {TEXTS[0]}"
    shares = {line.split()[1]: line.split()[2] for line in lines[2:5]}
    assert shares == {label: f"{score:.0%}" for label, score in result.scores.items()}
    assert [line.split(maxsplit=1)[1] for line in lines[6:8]] == ["It is good", "An awful"]
    assert lines[8] == "2 sentences: use --full to draw the trees"
    full = cli("predict", TEXTS[0], "--full", "--model", scale_folder).out.splitlines()
    assert full[:8] == lines[:8]
    trees = [cli("predict", each.text, "--model", scale_folder).out for each in result.sentences]
    assert "\n".join(full[9:]) + "\n" == "\n".join(trees)


CLASSES = {2: LABELS[::2], 5: FIVE, 9: tuple(f"class {number}" for number in range(9))}


@pytest.mark.parametrize("width", [20, 80])
@pytest.mark.parametrize("classes", CLASSES)
def test_a_text_is_drawn_in_twelve_lines(classes, width):
    view, random = View.of(CLASSES[classes]), np.random.default_rng(0)
    words = ["a", "splendid", "film" * 20]
    sentences = [
        Prediction.of_words(words, Scored(left(3), shares.astype(np.float32)), view)
        for shares in random.dirichlet([0.1] * classes, (20, 5))
    ]
    out = io.StringIO()
    result = Result(" ".join(words * 20), tuple(sentences), view)
    Console(file=out, width=width).print(Answer(result, more="more"))
    lines = out.getvalue().splitlines()
    assert len(lines) == MOST_LINES - max(0, 5 - classes)
    assert max(map(cell_len, lines)) <= width


@pytest.mark.parametrize("command", [*(command.__name__ for command in _COMMANDS), ""])
def test_help_fits_eighty_columns_and_shows_defaults(cli, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "80")
    answer = cli(*filter(None, [command]), "--help")
    assert answer.code == 0
    lines = answer.out.splitlines()
    assert max(map(len, lines)) <= 80
    if command == "predict":
        said = " ".join(answer.out.split())
        for default in ("sentiment", "the model's classes", "400", "detected in each file", "0.01"):
            assert f"[default: {default}" in said
    if not command:
        assert "..." not in answer.out.split("Commands:")[1], "no summary is cut"
