"""`thinstack train TABLE --task aspects`: from rows of terms to a model that finds them."""

import csv
import json
import re

import pytest
import tiny_texts

import thinstack
from thinstack.evaluate.accuracy import ASPECT_NAMES

pytestmark = pytest.mark.usefixtures("short_samples")

THREE = ("negative", "neutral", "positive")
COLUMNS = ("text", "start", "end", "label")
SAID = {"good": "positive", "bad": "negative", "the": "neutral"}


def rows():
    """In each third text there is no term; else the plot or film is one."""
    for number in range(48):
        term, said = ("film", "plot")[number % 2], (*SAID,)[number % 5 % 3]
        text = f"The {term} is {said} {number}." if number % 3 else f"It is {said} {number}."
        yield text, *((4, 8, SAID[said]) if number % 3 else ("", "", ""))


def write(path, given, columns=COLUMNS):
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([columns, *given])
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("aspects")
    write(folder / "terms.csv", [*rows(), ("A dull plot.", 2, 5, "negative")])
    tiny_texts.start(folder / "start", labels=THREE, runs=True)
    return folder


def test_from_rows_of_terms_to_aspects(cli, folder):
    out = folder / "out"
    given = ("train", folder / "terms.csv", "--task", "aspects", "--init", folder / "start")
    given += ("--out", out, "--skip-bad", "--seed", 2)
    answer = cli(*given)
    assert (answer.code, answer.err) == (0, "")
    assert "unusable rows: 1 " in answer.out
    assert "terms.csv:50: expected start and end" in (out / "skipped.txt").read_text("utf-8")
    assert "terms (training + development): negative " in answer.out
    counts = re.findall(r"(negative|neutral|positive) (\d+) \+ ([1-9])", answer.out)
    labels = [label for *_, label in rows()]
    assert [int(a) + int(b) for _, a, b in counts] == [labels.count(name) for name in THREE]
    results = json.loads((out / "results.json").read_text("utf-8"))
    assert [*results["seeds"]] == ["2"]
    for source in ("gold", "self"):
        assert results["dev"][source].keys() >= ASPECT_NAMES.keys()
        assert results["dev"][source]["term_f1"]["mean"] > 90
    assert "aspects" in results["suites"]
    model = out / "model-best"
    card = " ".join((model / "README.md").read_text("utf-8").split())
    assert f"| {' | '.join(ASPECT_NAMES.values())} |" in card
    assert "so that every term is a phrase" in card
    assert not re.search(r"\d\.\d{4}", card.partition("## Calibration")[0])
    assert "| auto, raw text | this file | " in card
    text = "It is good. The plot is bad."
    (found,) = cli("predict", "--model", model, "--aspects", "--json", text).json
    assert [each["text"] for each in found["aspects"]] == ["plot"]
    again = cli(*given)
    assert (again.code, "epoch 1" in again.out) == (0, False)


BEFORE = ("It is.", "", "", "")


@pytest.mark.usefixtures("without_installed_models")
@pytest.mark.parametrize(
    ("given", "options", "problem"),
    [
        ([("It is.", 0, 2, "positive"), ("It is.", 3, 5, "conflict")], (), "found conflict, posit"),
        ([("It is.", 0, 2, "positive"), ("It is.", 3, 5, "neutral")], (), "found neutral, positi"),
        ([BEFORE, BEFORE], (), "t.csv, label: expected rows with .* of terms, found only texts"),
        ([BEFORE, ("It is.", 0, 2, "")], (), "found only texts"),
        (None, ("--init", "none"), "model.parser: .*--init sentiment"),
        (None, ("--init", "other"), "task.guide, or .*other does not"),
        (None, (), "unknown model 'aspects'.*pip install ./models/thinstack-aspects"),
        (None, ("--init", "sentiment", "--scale"), "--scale: .*leave it out"),
        (None, ("--span-group", "sc"), "--span-group: .*--task spans"),
        (None, ("--init", "sentiment", "--labels", "a,b"), "model.labels: .*found no term, a, b"),
        (None, ("--label", "said"), "column 'said', found 'text', 'start', 'end', 'label'"),
    ],
)
def test_what_cannot_be_learnt_is_refused_in_one_line(cli, tmp_path, given, options, problem):
    table = write(tmp_path / "t.csv", [*rows()] if given is None else given)
    tiny_texts.start(tmp_path / "other", runs="other" in options)
    options = [tmp_path / each if each == "other" else each for each in options]
    answer = cli("train", table, "--task", "aspects", "--out", tmp_path / "out", *options)
    answer._replace(out="").check_refused()
    assert re.search(problem, answer.err)


def test_rows_in_memory_with_gaps_as_a_frame_has_them(folder, tmp_path):
    nothing = float("nan")
    frame = [
        {"text": text, "start": start or nothing, "end": end or nothing, "label": label or None}
        for text, start, end, label in rows()
    ]
    given = [{"text": "It is the film."}, *frame, {"text": "Who is it?"}]
    settings = {"labels": THREE, "dev": frame[:9], "init": str(folder / "start"), "epochs": 1}
    model = thinstack.train_texts(given, task="aspects", out=tmp_path / "out", **settings)
    assert model.labels == THREE
    assert model.config.labels == ("no term", *THREE)
    assert model("The film is bad.").about("film")[0].probability == 1
    card = (tmp_path / "out" / "model-best" / "README.md").read_text("utf-8")
    assert "thinstack evaluate BUNDLE DATA" not in card
