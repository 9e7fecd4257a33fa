"""`thinstack predict --aspects` and `--about`: what texts say of what."""

import csv
import io
import json
import re
import warnings

import pytest
from aspect_models import LABELS
from last_word_model import write_last_word_bundle
from rich.cells import cell_len
from rich.console import Console

import thinstack
from thinstack.errors import NoMentionWarning

TEXTS = ["A good battery! The staff is awful.", "", "so good", "a screen, good staff"]
SIGNS = {"negative": "-", "neutral": "0", "positive": "+"}


@pytest.fixture(params=[("--aspects",), ("--about", "staff", "--about", "screen|display")])
def ask(request, cli, aspect_folder):
    """Calls the command for TEXTS, and gives what Python says too."""
    about = request.param[1::2]

    def call(*options):
        answer = cli("predict", *TEXTS, *request.param, *options, "--model", aspect_folder)
        assert answer.code == 0
        assert answer.err == "warning: text 1 has no words\n"
        results = thinstack.load(aspect_folder)(TEXTS)
        return answer, [[*each.about(*about)] if about else each.aspects for each in results]

    return call


def test_each_text_is_drawn_with_its_aspects(ask, aspect_folder):
    answer, found = ask()
    blocks = answer.out.rstrip("\n").split("\n\n")
    heads, lines = blocks[::2], [block.splitlines() for block in blocks[1::2]]
    results = [each for each in thinstack.load(aspect_folder)(TEXTS) if each.sentences]
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
        assert line == f"{start}  {each}{because} | {TEXTS[place]}"


def test_json_has_the_aspects_of_each_text(ask):
    answer, found = ask("--json")
    for data, text, aspects in zip(answer.json, TEXTS, found, strict=True):
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
    assert list(rows[0]) == [*names, *LABELS[1:]]
    for row, (number, each) in zip(rows, numbered, strict=True):
        assert (row["text"], row["aspect"], row["label"]) == (TEXTS[number], each.text, each.label)
        assert TEXTS[number][int(row["start"]) : int(row["end"])] == each.text
        assert row.get("asked") == each.asked
        assert row["because"] == str(each.because or "")
        polarity = float(row["positive"]) - float(row["negative"])
        assert float(row["polarity"]) == pytest.approx(polarity, abs=2e-6)


@pytest.mark.parametrize("width", [20, 40, 80])
def test_aspects_fit_a_terminal(cli, aspect_folder, monkeypatch, width):
    monkeypatch.setattr(Console, "is_terminal", True)
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("NO_COLOR", "1")
    text = f"{'wörd ' * 50}good battery awful {'staff ' * 3}"
    for option in ("--brief", "--full"):
        more = [option] if option == "--brief" else []
        answer = cli("predict", "--about", "battery", text, *more, "--model", aspect_folder)
        lines = re.sub(r"\x1b\[[\d;]*m", "", answer.out).splitlines()
        assert all(cell_len(line) <= width for line in lines)


def test_where_no_class_is_probable_it_says_so(cli, aspect_folder):
    asked = ("predict", "--aspects", "--abstain", "0.95", "--model", aspect_folder, "good battery")
    assert re.search(r"^ +\? +battery +\+0\.86$", cli(*asked).out, re.MULTILINE)
    assert cli(*asked, "--brief").out.split() == ["uncertain", "+0.86", "battery"]


def test_the_default_of_about_is_the_model_of_sentiment(cli):
    answer = cli("predict", "--about", "battery", "a great battery", "--json")
    assert answer.json[0]["aspects"][0]["label"] == "very positive"


def test_a_class_with_the_name_of_a_column_is_refused(cli, tmp_path):
    labels = ("no term", "because", "good")
    own = write_last_word_bundle(tmp_path / "own", labels=labels).path
    answer = cli("predict", "--aspects", "good", "--csv", "--model", own)
    answer.check_refused("'because'")


def test_a_term_that_no_text_has_is_said(cli, aspect_folder):
    options = "--about", "battery", "--about", "zoom", "--model", aspect_folder
    with warnings.catch_warnings():
        warnings.simplefilter("always", NoMentionWarning)
        answer = cli("predict", "--brief", "A good battery", *options)
    assert answer.code == 0
    assert re.findall("'(zoom|battery)'", answer.err) == ["zoom"]
