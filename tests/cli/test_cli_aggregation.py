"""`--aggregation`: a text as one tree, or as the mean of its sentences."""

import json
from pathlib import Path

import pytest

import thinstack
from thinstack.data.tables.table import Table
from thinstack.evaluate.text_evaluation import evaluate_table

TEXTS = Path(__file__).parents[1] / "golden" / "schema-1" / "texts"
LINES = ["The good film. Odd cafe films! Good.", "Odd.", "Films. The the good cafe."]
MODEL = ("--model", TEXTS, "--no-isolated")


@pytest.fixture(scope="module")
def expected():
    """The scores of the lines, by the aggregation."""

    def scores(aggregation):
        model = thinstack.load(TEXTS, threads=1, isolated=False, aggregation=aggregation)
        return [result.scores for result in model(LINES)]

    found = {name: scores(name) for name in ("tree", "mean")}
    assert found["tree"][0] != pytest.approx(found["mean"][0], abs=1e-3)
    return found


@pytest.mark.parametrize(("options", "aggregation"), [([], "tree"), (["mean"], "mean")])
def test_texts_and_corpora_are_read_as_asked(cli, tmp_path, expected, options, aggregation):
    asked = [part for value in options for part in ("--aggregation", value)]
    results = cli("predict", *LINES, "--json", *MODEL, *asked).json
    for result, scores in zip(results, expected[aggregation], strict=True):
        assert result["scores"] == pytest.approx(scores, abs=2e-6)
    table, out = tmp_path / "lines.txt", tmp_path / "out.jsonl"
    table.write_text("\n".join(LINES), encoding="utf-8")
    corpus = ("predict", "--input", table, "--out", out, "--output", "documents", "--jobs", 0)
    assert cli(*corpus, *MODEL, *asked).code == 0
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    for row, scores in zip(rows, expected[aggregation], strict=True):
        assert row["scores"] == pytest.approx(scores, abs=2e-6)


def test_a_table_is_evaluated_as_texts_are_read(cli, tmp_path):
    table = tmp_path / "texts.csv"
    table.write_text("\n".join(["text,label", *(f"{line},bad" for line in LINES)]), "utf-8")
    errors = []
    for aggregation in ("tree", "mean"):
        model = thinstack.load(TEXTS, threads=1, isolated=False, aggregation=aggregation)
        figures, _ = evaluate_table(model, Table(table))
        options = ("--aggregation", aggregation, "--no-isolated", "--json")
        found = cli("evaluate", TEXTS, table, *options).json
        errors.append(found["calibration_error"])
        assert errors[-1] == pytest.approx(figures["calibration_error"], abs=1e-3)
    assert errors[0] != pytest.approx(errors[1], abs=1e-2)
