"""`python -m reproduce contrast` and `checklist`, on rows in the formats of the public files."""

from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from reproduce.__main__ import app
from reproduce.public_sets import contrast_figures, failures_of
from thinstack import load
from thinstack.errors import DataError, InputError


def run(*arguments):
    return CliRunner().invoke(app, [*map(str, arguments)], catch_exceptions=False).output


def table(path, *rows):
    lines = ["Sentiment\tText", *("\t".join(row) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def pairs(tmp_path):
    """Of three pairs, the third has a wrong label in the original, the second in the contrast."""
    good, bad = "I loved it, a superb film.", "I hated it, an awful film."
    original = table(
        tmp_path / "original.tsv", ("Positive", good), ("Negative", bad), ("Negative", good)
    )
    contrast = table(
        tmp_path / "contrast.tsv", ("Negative", bad), ("Positive", bad), ("Positive", good)
    )
    return original, contrast


def test_contrast_pairs(pairs):
    figures = contrast_figures(load(classes=2), *pairs)
    assert figures == (3, pytest.approx(200 / 3), pytest.approx(200 / 3), pytest.approx(100 / 3))
    shown = run("contrast", *pairs)
    assert "3 pairs" in shown
    assert shown.count("66.7") == 2
    assert shown.count("33.3") == 1


def test_files_that_are_no_contrast_sets(pairs, tmp_path):
    model = load(classes=2)
    with pytest.raises(DataError, match=r"expected 3 rows.*found 1"):
        contrast_figures(model, pairs[0], table(tmp_path / "one.tsv", ("Positive", "Good.")))
    with pytest.raises(DataError, match="found 'mixed'"):
        contrast_figures(model, table(tmp_path / "odd.tsv", ("Mixed", "Good.")), pairs[1])


def test_predictions_in_the_format_of_checklist(tmp_path):
    texts, out = tmp_path / "tests_n500", tmp_path / "predictions"
    texts.write_text("I hated it.\nIt is a film.\nI loved it!\n...\n", encoding="utf-8")
    run("checklist", texts, "--out", out)
    rows = [line.split() for line in out.read_text(encoding="utf-8").splitlines()]
    assert [row[0] for row in rows] == ["0", "1", "2", "1"]
    assert all(sum(map(float, row[1:])) == pytest.approx(1, abs=1e-5) for row in rows)
    assert float(rows[0][1]) > 0.5 < float(rows[2][3])


class Suite:
    """As CheckList's: a test of four texts, one of which does not apply, and one run on two."""

    def __init__(self):
        vocabulary = SimpleNamespace(
            data=["a"] * 4, run_idxs=None, fail_idxs=lambda: [2], filtered_idxs=lambda: [0]
        )
        negation = SimpleNamespace(
            data=["a"] * 9, run_idxs=[3, 5], fail_idxs=lambda: [0, 1], filtered_idxs=list
        )
        self.tests = {"vocabulary": vocabulary, "negation": negation}

    def run_from_file(self, path, *, file_format, overwrite):
        assert (path, file_format, overwrite) == ("predictions", "pred_and_softmax", True)


def test_failures_of_a_suite():
    assert failures_of(Suite(), "predictions", ()) == [("vocabulary", 1, 3), ("negation", 2, 2)]
    (row,) = failures_of(Suite(), "predictions", ["vocabulary"])
    assert row.rate == pytest.approx(100 / 3)
    with pytest.raises(InputError, match="no test 'logic'"):
        failures_of(Suite(), "predictions", ["logic"])
