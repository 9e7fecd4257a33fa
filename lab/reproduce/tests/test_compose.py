"""`python -m reproduce compose`: texts to read, as JSON and as trees."""

import json

import pytest
from typer.testing import CliRunner

from reproduce.__main__ import app
from thinstack.data.trees.brackets import from_brackets
from thinstack.errors import ConfigError

TREES = "(3 (2 it) (3 (2 so) (3 zesty)))\n" * 40


def compose(*options, number=60):
    result = CliRunner().invoke(app, ["compose", str(number), *options], catch_exceptions=False)
    assert result.exit_code == 0
    return result.output.splitlines()


def test_a_line_for_each_text():
    lines = [json.loads(line) for line in compose("--family", "question")]
    assert len(lines) == 60
    assert {line["family"] for line in lines} == {"question"}
    for line in lines:
        trees = [from_brackets(tree) for tree in line["sentences"]]
        assert line["text"].split() == [word for tree in trees for word in tree.words]
    assert len({line["label"] for line in lines}) > 2


def test_trees_with_words_of_a_treebank(tmp_path):
    (tmp_path / "train.txt").write_text(TREES, encoding="utf-8")
    options = ("--family", "statement", "--brackets", "--seed", "2")
    plain = compose(*options, number=600)
    more = compose(*options, "--treebank", str(tmp_path / "train.txt"), number=600)
    assert plain == compose(*options, number=600)
    assert not any("zesty" in line for line in plain)
    assert any("(3 zesty)" in line for line in more)
    assert all(from_brackets(line).labels[-1] in "01234" for line in more)


def test_held_out_frames_are_others():
    frames = [
        {json.loads(line)["frame"] for line in compose("--family", "time", *held)}
        for held in ([], ["--held-out"])
    ]
    assert not frames[0] & frames[1]


def test_an_unknown_family():
    with pytest.raises(ConfigError, match="'nobody'"):
        compose("--family", "nobody")
