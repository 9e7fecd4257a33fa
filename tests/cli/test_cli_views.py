"""`--classes`, `--abstain`, `--aggregation`, the calibration error, and texts that the model cannot
read."""

import json
import re

import numpy as np
import pytest
from bundle_folders import GOLDEN

import thinstack
from thinstack.data.tables.table import Table
from thinstack.data.trees.treebank import read_labelled
from thinstack.evaluate.accuracy import calibration_error
from thinstack.evaluate.text_evaluation import evaluate_table

TREES = """(4 (2 It) (4 (2 is) (4 superb)))
(1 (2 It) (1 (2 is) (1 bad)))
(2 (2 It) (2 (2 is) (2 blue)))
(3 (2 It) (3 (2 is) (3 good)))
"""
TEXTS = "text,label\nIt is superb,very positive\nIt is bad,negative\nIt is blue,neutral\n"


@pytest.mark.parametrize("settings", [{"classes": 3}, {"classes": 2}, {"abstain": 0.6}], ids=str)
def test_what_is_predicted_is_what_the_library_shows(cli, settings):
    options = [part for name, value in settings.items() for part in (f"--{name}", str(value))]
    text = "The acting is superb. It was not bad at all."
    result = thinstack.load("sentiment", **settings)(text)
    assert cli("predict", text, "--json", *options).json == [result.to_dict()]


@pytest.fixture
def files(tmp_path):
    trees, table = tmp_path / "trees.txt", tmp_path / "texts.csv"
    trees.write_text(TREES, encoding="utf-8")
    table.write_text(TEXTS, encoding="utf-8")
    return trees, table


def test_figures_of_a_view_are_those_of_its_classes(cli, files):
    trees, table = files
    found = {c: cli("evaluate", trees, "--classes", c, "--json").json for c in ("5", "3", "2")}
    counts = ("roots", "binary_roots", "phrases", "binary_phrases")
    assert [found[c]["roots"] for c in found] == [4, 4, 3]
    assert all(found[c]["binary_roots"] == 3 for c in found)
    assert [found["2"][name] for name in counts] == [3, 3, 9, 9]
    assert found["2"]["root_accuracy"] == found["5"]["root_binary_accuracy"]
    of_texts = {c: cli("evaluate", table, "--classes", c, "--json").json for c in ("5", "3", "2")}
    assert [of_texts[c]["texts"] for c in found] == [3, 3, 2]
    assert [len(of_texts[c]["confusion"]) for c in found] == [5, 3, 2]
    assert of_texts["3"]["accuracy"] == 100


def test_the_calibration_error_is_shown(cli, files, sentiment):
    trees, table = files
    labelled = read_labelled(trees, sentiment.labels)
    found = sentiment.predict_trees([tree for tree, _ in labelled])
    gold = np.array([ids[-1] for _, ids in labelled])
    roots = calibration_error(np.stack([one.node_scores[-1] for one in found]), gold)
    out = " ".join(cli("evaluate", trees).out.split())
    assert f"calibration error, sentences │ {roots:.2f} │ 4 │" in out
    assert "calibration error, phrases" in out
    assert "calibration error" in cli("evaluate", table).out


@pytest.mark.filterwarnings("always::thinstack.errors.LanguageWarning")
@pytest.mark.parametrize(
    ("texts", "warned"),
    [
        (("\U0001f9b7",), "warning: text 0: .* 1 of the 1 words, such as '\U0001f9b7'"),
        (("A good film.", "\U0001f9b7 \U0001f9b4 ok!"), "warning: text 1: .* 2 of the 3 words"),
        (("Das ist ein sehr guter Film", "любовь"), "warning: text 0: .*English.* 1 of the 6"),
        (("A good film \U0001f60d.", "...", "terrific; zxqvyk"), ""),
    ],
)
@pytest.mark.parametrize("how", [(), ("--jsonl",), ("--json",)])
def test_a_text_that_the_model_cannot_read_is_warned_about(cli, texts, warned, how):
    answer = cli("predict", *how, *texts)
    assert answer.code == 0
    assert re.match(warned, answer.err) if warned else answer.err == ""
    assert answer.err.count("\n") == bool(warned)
    assert "warning" not in answer.out


COMPOSING = GOLDEN / "texts"
LINES = ["The good film. Odd cafe films! Good.", "Odd.", "Films. The the good cafe."]
MODEL = ("--model", COMPOSING, "--no-isolated")


@pytest.fixture(scope="module")
def expected():
    """The scores of the lines, by the aggregation."""

    def scores(aggregation):
        model = thinstack.load(COMPOSING, threads=1, isolated=False, aggregation=aggregation)
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
        model = thinstack.load(COMPOSING, threads=1, isolated=False, aggregation=aggregation)
        figures, _ = evaluate_table(model, Table(table))
        options = ("--aggregation", aggregation, "--no-isolated", "--json")
        found = cli("evaluate", COMPOSING, table, *options).json
        errors.append(found["calibration_error"])
        assert errors[-1] == pytest.approx(figures["calibration_error"], abs=1e-3)
    assert errors[0] != pytest.approx(errors[1], abs=1e-2)
