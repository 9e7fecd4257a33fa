"""`python -m reproduce held-out`: what the lesson `rated.v1` leaves out, and all of it."""

import csv
import io
import json

import numpy as np
import pytest
from typer.testing import CliRunner

from reproduce.__main__ import app
from thinstack.core import Tree
from thinstack.core.scale import FIVE
from thinstack.errors import DataError
from thinstack.training.lesson import Treebank
from thinstack.training.lessons.rated import Rated


def held_out(*arguments):
    return CliRunner().invoke(app, ["held-out", *map(str, arguments)], catch_exceptions=False)


def test_the_lesson_and_the_command_share_the_texts_out(tmp_path):
    rows = [(f"text {chr(97 + n % 26)}{chr(97 + n // 26)}", "a, b", 1 + n % 5) for n in range(200)]
    stream = io.StringIO()
    csv.writer(stream).writerows([("review", "more", "stars"), *rows, (" ", "", 5)])
    (tmp_path / "rows.csv").write_text(stream.getvalue(), encoding="utf-8")
    result = held_out(tmp_path / "rows.csv", "--text-column", "review", "--one-in", 4)
    held = [json.loads(line) for line in result.output.splitlines()]
    lesson = Rated(
        tables=["rows.csv"], text_column="review", label_column="stars", held_out=4, skip_bad=True
    )
    parse = lambda sentences: list(map(Tree.right, sentences))  # noqa: E731
    treebank = Treebank([], 5, folders=[tmp_path], parse=parse, labels=FIVE)
    taken = [" ".join(one.tree.words) for one in lesson.trees(treebank, np.random.default_rng(0))]
    assert sorted([*taken, *[row["review"] for row in held]]) == sorted(text for text, *_ in rows)
    assert 30 < len(held) < 70
    assert {row["more"] for row in held} == {"a, b"}
    both = [tmp_path / "rows.csv"] * 2
    rest = held_out(*both, "--text-column", "review", "--one-in", 4, "--rest").output.splitlines()
    assert sorted(json.loads(line)["review"] for line in rest) == sorted(taken * 2)


@pytest.mark.parametrize(
    ("column", "named"), [("review", "--text-column"), ("text", "one in 1000000")]
)
def test_tables_without_a_held_out_row(tmp_path, column, named):
    (tmp_path / "rows.csv").write_text("text,label\ngood,1\n", encoding="utf-8")
    with pytest.raises(DataError, match=named):
        held_out(tmp_path / "rows.csv", "--text-column", column, "--one-in", 1_000_000)
