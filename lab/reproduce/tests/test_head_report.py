"""`python -m reproduce heads`: its page, its picture and its errors, with a parse given by hand."""

import re
from functools import partial

import pytest
from command_line import run_command
from test_head_words import PARSE, SENTENCE, TREE, WORDS, made

from reproduce import head_report
from reproduce.__main__ import app
from reproduce.head_report import picture
from reproduce.heads import Lexicalised


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    (tmp_path / "dev.txt").write_text(f"{SENTENCE}\n")
    monkeypatch.setattr(head_report, "train_parser", lambda *files: tmp_path)
    monkeypatch.setattr(head_report, "parse", lambda parser, sentences: [PARSE for _ in sentences])
    monkeypatch.setattr(head_report, "figures", lambda parser: {"uas": 84.25})
    given = ["--data", tmp_path, "--file", "dev.txt", "--out", tmp_path / "out"]
    command = partial(run_command, monkeypatch, capsys, "heads", commands=app)
    return lambda *bundles: command(*bundles, *given)


def test_the_page_and_the_picture(run, tmp_path):
    left = made(tmp_path / "left", options={"lexicalize": "left"})
    right = made(tmp_path / "right", options={"lexicalize": "right"})
    answer = run(left.path, right.path)
    assert (answer.code, answer.err) == (0, "")
    page = (tmp_path / "out" / "heads.md").read_text()
    rows = {
        cells[1].strip(): [cell.strip() for cell in cells[2:-1]]
        for cells in (line.split("|") for line in page.splitlines() if line.startswith("|"))
    }
    # Of six phrases. Heads from the left: good, the, on, is, is, It; from the right: road four
    # times and two full stops; by the parse: always road; function words first: road twice, on, is.
    assert rows["always the left child"] == ["0.0", "50.0", "16.7", "100.0"]
    assert rows["always the right child"] == ["66.7", "33.3", "0.0", "0.0"]
    assert rows["bundle, 2 models"][:2] == ["33.3 ± 47.1", "41.7 ± 11.8"]
    assert rows["the parse"][0] == rows["the parse, function words first"][1] == "100.0"
    assert "84.2% of" in page
    assert "--data DATA --file dev.txt" in page
    assert "heads.svg" in answer.out


def test_each_node_shows_its_head_word_and_its_class(tmp_path):
    model = Lexicalised(made(tmp_path))
    drawn = picture(model, ["( It ( ( is ( on ( the ( good road ) ) ) ) . ) )"])
    found = re.findall(r'class="sign"[^>]*>([^<]*)<', drawn)
    (heads,), (classes,) = model.heads([TREE]), model.classes([TREE])
    signs = ["-", "0", "+"]
    expected = [f"{WORDS[head]} {signs[c]}" for head, c in zip(heads, classes, strict=True)]
    assert sorted(found) == sorted(expected)
    assert found[0] == expected[-1]  # the whole sentence
    assert {word.split()[0] for word in found} > {"It"}


def test_the_sentences_of_the_picture_can_be_drawn(tmp_path):
    drawn = picture(Lexicalised(made(tmp_path)))
    assert drawn.count('role="tree"') == len(head_report.DRAWN)


def test_a_model_without_head_words_is_a_message(run, tmp_path):
    code, _, err = run(made(tmp_path, name="s_lstm.v1").path)
    assert (code, "with head words, found the cell s_lstm.v1" in err) == (2, True)


def test_classes_that_are_no_scale_are_a_message(run, tmp_path, monkeypatch):
    monkeypatch.setattr("test_head_words.LABELS", ("bad", "so-so", "good"))
    code, _, err = run(made(tmp_path).path)
    assert (code, "from negative over neutral to positive, found bad, so-so, good: ch" in err) == (
        2,
        True,
    )
