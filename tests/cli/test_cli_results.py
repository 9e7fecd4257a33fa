"""`thinstack predict`: a line or a row for each text or aspect, and the answer before the
sentences."""

import csv
import io
import json
import re
import warnings

import numpy as np
import pytest
from aspect_models import LABELS as ASPECT_LABELS
from last_word_model import write_last_word_bundle
from rich.cells import cell_len
from rich.console import Console

import thinstack
from thinstack.cli import _COMMANDS
from thinstack.core.scale import FIVE
from thinstack.core.transitions import left
from thinstack.errors import NoMentionWarning
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


@pytest.mark.parametrize(("name", "options"), [("text", []), ("because", ["--aspects"])])
def test_a_class_with_the_name_of_a_column_is_refused(cli, tmp_path, name, options):
    labels = ("no term", name, "good") if options else (name, "b", "c")
    own = write_last_word_bundle(tmp_path / "own", labels=labels).path
    cli("predict", *options, "good", "--csv", "--model", own).check_refused(f"'{name}'")


def test_brief_is_a_line_for_each_text(cli, scale_folder, last_word):
    answer = cli("predict", *TEXTS, "a " * 200, "--brief", "--model", scale_folder)
    lines = answer.out.splitlines()
    labels = [line[:10].strip() for line in lines]
    assert labels == ["neutral", "positive", "no words", "neutral", "negative", "neutral"]
    assert lines[1].endswith("so good"), "a text is one line"
    assert lines[4].split()[1].startswith("-0.")
    assert lines[5].endswith("a " * 199 + "a"), "whole where it is no terminal"
    answer = cli("predict", "good", "--brief", "--model", last_word.path)
    assert answer.out.split() == ["good", "good"], "no polarity without a scale"


@pytest.mark.parametrize("width", [20, 40, 80])
def test_lines_fit_a_terminal(cli, scale_folder, aspect_folder, monkeypatch, width):
    monkeypatch.setattr(Console, "is_terminal", True)
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("NO_COLOR", "1")

    def widths(*args):
        shown = re.sub(r"\x1b\[[\d;]*m", "", cli("predict", *args).out)
        return [cell_len(line) for line in shown.splitlines()]

    brief = widths("word " * 50, "wörd" * 50, "--brief", "--model", scale_folder)
    assert len(brief) == 2
    assert width - 9 <= min(brief) <= max(brief) <= width
    text = f"{'wörd ' * 50}good battery awful {'staff ' * 3}"
    for options in (["--brief"], []):
        assert max(widths("--about", "battery", text, *options, "--model", aspect_folder)) <= width


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


def test_a_width_of_zero_is_unknown(cli, monkeypatch):
    monkeypatch.setenv("COLUMNS", "0")
    assert cli("predict", "A good film.").out.startswith("positive +0.")


SAID = ["A good battery! The staff is awful.", "", "so good", "a screen, good staff"]
SIGNS = {"negative": "-", "neutral": "0", "positive": "+"}


@pytest.fixture(params=[("--aspects",), ("--about", "staff", "--about", "screen|display")])
def ask(request, cli, aspect_folder):
    """Calls the command for SAID, and gives what Python says too."""
    about = request.param[1::2]

    def call(*options):
        answer = cli("predict", *SAID, *request.param, *options, "--model", aspect_folder)
        assert answer.code == 0
        assert answer.err == "warning: text 1 has no words\n"
        results = thinstack.load(aspect_folder)(SAID)
        return answer, [[*each.about(*about)] if about else each.aspects for each in results]

    return call


def test_each_text_is_drawn_with_its_aspects(ask, aspect_folder):
    answer, found = ask()
    blocks = answer.out.rstrip("\n").split("\n\n")
    heads, lines = blocks[::2], [block.splitlines() for block in blocks[1::2]]
    results = [each for each in thinstack.load(aspect_folder)(SAID) if each.sentences]
    assert heads == [f"{each.label} {each.polarity:+.2f}: {each.text}" for each in results]
    assert lines[1] == ["no aspects"]
    for shown, aspects in zip((lines[0], lines[2]), (found[0], found[3]), strict=True):
        assert len(shown) == len(aspects) > 0
        for line, each in zip(shown, aspects, strict=True):
            because = f" {each.because}" if each.because else ""
            expected = f"{SIGNS[each.label]} {each.text} {each.polarity:+.2f}{because}"
            assert " ".join(line.split()) == expected


def test_brief_is_a_line_for_each_aspect(ask):
    answer, found = ask("--brief")
    numbered = [(place, each) for place, some in enumerate(found) for each in some]
    for line, (place, each) in zip(answer.out.splitlines(), numbered, strict=True):
        because = f": {each.because}" if each.because else ""
        start = f"{place:4}  {each.label:9}  {each.polarity:+.2f}"
        assert line == f"{start}  {each}{because} | {SAID[place]}"


def test_json_has_the_aspects_of_each_text(ask):
    answer, found = ask("--json")
    for data, text, aspects in zip(answer.json, SAID, found, strict=True):
        assert list(data) == ["text", "label", "polarity", "scores", "aspects"]
        assert data["text"] == text
        assert data["aspects"] == [each.to_dict() for each in aspects]


def test_lines_of_json_and_rows_of_csv_are_for_each_aspect(ask):
    answer, found = ask("--jsonl")
    numbered = [(number, each) for number, some in enumerate(found) for each in some]
    lines = [json.loads(line) for line in answer.out.splitlines()]
    assert lines == [{"text_index": number} | each.to_dict() for number, each in numbered]
    answer, _ = ask("--csv")
    rows = [*csv.DictReader(io.StringIO(answer.out, newline=""))]
    asked = ["asked"] if numbered[0][1].asked else []
    names = ["text", "aspect", *asked, "start", "end", "label", "polarity", "because"]
    assert list(rows[0]) == [*names, *ASPECT_LABELS[1:]]
    for row, (number, each) in zip(rows, numbered, strict=True):
        assert (row["text"], row["aspect"], row["label"]) == (SAID[number], each.text, each.label)
        assert SAID[number][int(row["start"]) : int(row["end"])] == each.text
        assert row.get("asked") == each.asked
        assert row["because"] == str(each.because or "")
        polarity = float(row["positive"]) - float(row["negative"])
        assert float(row["polarity"]) == pytest.approx(polarity, abs=2e-6)


def test_where_no_class_is_probable_it_says_so(cli, aspect_folder):
    asked = ("predict", "--aspects", "--abstain", "0.95", "--model", aspect_folder, "good battery")
    assert re.search(r"^ +\? +battery +\+0\.86$", cli(*asked).out, re.MULTILINE)
    assert cli(*asked, "--brief").out.split() == ["uncertain", "+0.86", "battery"]


def test_the_default_of_about_is_the_model_of_sentiment(cli):
    answer = cli("predict", "--about", "battery", "a great battery", "--json")
    assert answer.json[0]["aspects"][0]["label"] == "very positive"


def test_a_term_that_no_text_has_is_said(cli, aspect_folder):
    options = "--about", "battery", "--about", "zoom", "--model", aspect_folder
    with warnings.catch_warnings():
        warnings.simplefilter("always", NoMentionWarning)
        answer = cli("predict", "--brief", "A good battery", *options)
    assert answer.code == 0
    assert re.findall("'(zoom|battery)'", answer.err) == ["zoom"]
