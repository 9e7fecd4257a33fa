"""lab/figures.md and docs/faq.md: their figures are those of `lab/results/`, rounded."""

import json
import re
from decimal import Decimal
from statistics import mean, stdev

import pytest
from pages import ROOT

import thinstack
from thinstack.evaluate.suite import halves, read_suite, suite_names
from thinstack.evaluate.suite_evaluation import evaluate_suite

PAGE = (ROOT / "lab" / "figures.md").read_text(encoding="utf-8")


def rows(text):
    """The cells of the first table of a text, by the first cell of each row."""
    lines = re.search(r"(^\|.*\n)+", text, re.MULTILINE)[0].splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {first: rest for first, *rest in cells[2:]}


def same(shown, whole):
    """Whether a cell rounds the figures of another, of which the first alone must be there."""
    pattern = r"([\d.]+)(?: ± ([\d.]+))?(?: \(([\d.]+))?"
    found = [re.match(pattern, cell.replace("**", "")) for cell in (shown, whole)]
    if None in found:
        return shown == whole
    for text, exact in zip(*(match.groups() for match in found), strict=True):
        if (text is None) != (exact is None):
            return False
        if text is not None:
            unit = Decimal(1).scaleb(Decimal(text).as_tuple().exponent)
            if abs(Decimal(text) - Decimal(exact)) > unit / 2:
                return False
    return True


def test_cells_that_differ():
    assert same("48.3 ± 0.7 (46.4)", "**48.29** ± 0.68 (46.40 ± 1.10)")
    for other in ("48.2 ± 0.7 (46.4)", "48.3 ± 0.8 (46.4)", "48.3 ± 0.7 (46.5)", "48.3", "-"):
        assert not same(other, "48.29 ± 0.68 (46.40)")


def test_negated_negatives_of_the_faq():
    page = (ROOT / "lab" / "results" / "sentiment-rivals.md").read_text(encoding="utf-8")
    faq = (ROOT / "docs" / "faq.md").read_text(encoding="utf-8")
    negated = [rows(page)[name][3] for name in ("sentiment", "sentiment-context")]
    assert re.search(
        r"`sentiment` gets ([\d.]+)%.*?`sentiment-context` gets ([\d.]+)%", faq, re.DOTALL
    ).groups() == tuple(negated)


SUITES = (ROOT / "lab" / "results" / "suites.md").read_text(encoding="utf-8")


def test_the_suite_of_polarity_beside_rivals():
    """Two pages have its figures."""
    suites = rows(SUITES[SUITES.index("\n| suite | of |") :])
    rivals = (ROOT / "lab" / "results" / "sentiment-rivals.md").read_text(encoding="utf-8")
    by_name = {name: cells[2] for name, cells in rows(rivals).items()}
    minilm = next(figure for name, figure in by_name.items() if name.startswith("all-minilm"))
    of_polarity = suites["`polarity`"]
    assert [*of_polarity[1:3], of_polarity[6]] == [
        by_name["sentiment"],
        by_name["sentiment-context"],
        minilm,
    ]


def right_answers(column):
    """A model's figures by suite and kind."""
    report = json.loads((ROOT / "lab" / "results" / "suites.json").read_text(encoding="utf-8"))
    return by_kind(report["models"][column])


COUNTED = ("total", "right", "accuracy")


def by_kind(suites):
    """The figures of suites, by suite and kind."""
    return {
        (suite, kind.replace("_", " ")): each
        for suite, figures in suites.items()
        for kind, each in ({"total": figures} | figures["kinds"]).items()
    }


def test_the_suites_are_those_of_the_bundled_model():
    """Another processor may turn one sentence of a kind."""
    predictor, shown = thinstack.load(isolated=False), right_answers("`sentiment`")
    found = by_kind(
        {
            suite: evaluate_suite(predictor, halves(read_suite(suite), "reported")).figures
            for suite in suite_names()
        }
    )
    assert shown.keys() == found.keys()
    for key, figures in shown.items():
        assert figures["total"] == found[key]["total"]
        assert abs(figures["right"] - found[key]["right"]) < 1.5, key


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("sentiment", "thinstack/bundle/bundled/sentiment"),
        (
            "sentiment-context",
            "models/thinstack-sentiment-context/thinstack_sentiment_context/model",
        ),
        ("sentiment-open", "models/thinstack-sentiment-open/thinstack_sentiment_open/model"),
    ],
)
def test_the_suites_are_those_that_the_bundles_state(name, folder):
    manifest = json.loads((ROOT / folder / "manifest.json").read_text(encoding="utf-8"))
    stated, shown = by_kind(manifest["metrics"]["suites"]), right_answers(f"`{name}`")
    assert ("polarity", "negated negatives") in stated
    for key, figures in stated.items():
        assert [shown[key][of] for of in COUNTED] == [figures[of] for of in COUNTED], key


def test_models_over_seeds():
    """Means and deviations of `seeds.json`, whose first seed is the shipped bundle."""
    models = json.loads((ROOT / "lab" / "results" / "seeds.json").read_text(encoding="utf-8"))
    table = PAGE[PAGE.index("\n### Over three seeds") :]
    names = re.search(r"^\| \|(.*)\|$", table, re.M)[1].replace("`", "").split(" | ")
    assert [name.strip() for name in names] == [*models]
    shown = rows(table)
    for place, (model, seeds) in enumerate(models.items()):
        for name, cells in shown.items():
            key = name.strip("`")
            values = [
                figures[key]
                for seed in seeds.values()
                for figures in seed.values()
                if key in figures
            ]
            assert len(values) == 3
            assert same(cells[place], f"{mean(values)} ± {stdev(values)}"), (model, name)
        for suite, accuracy in seeds["1"]["suites"].items():
            shipped = right_answers(f"`{model}`")[suite, "total"]["accuracy"]
            assert accuracy == pytest.approx(shipped, abs=1e-3)


def test_figures_of_raw_text_agree():
    """Seed 1 of the bundled model has the figures of its card."""
    models = json.loads((ROOT / "lab" / "results" / "seeds.json").read_text(encoding="utf-8"))
    card = (ROOT / "thinstack" / "bundle" / "bundled" / "sentiment" / "README.md").read_text(
        encoding="utf-8"
    )
    shown = re.search(r"^\| auto, raw text \| this file \| ([\d.]+) \| ([\d.]+) \|", card, re.M)
    texts = models["sentiment"]["1"]["texts"]
    assert [texts["film, five classes"], texts["film, binary"]] == [*map(float, shown.groups())]


def test_the_correlations_of_polarity():
    beside = (ROOT / "lab" / "results" / "beside.md").read_text(encoding="utf-8")
    rated = rows(beside[beside.index("\n## Rated product sentences") :])
    page = (ROOT / "docs" / "scores.md").read_text(encoding="utf-8")
    shown = re.search(r"r = ([\d.]+) with.*?, ([\d.]+) with.*?, and ([\d.]+) ", page, re.DOTALL)
    for text, model in zip(
        shown.groups(), ("`sentiment`", "`sentiment-context`", "VADER"), strict=True
    ):
        assert same(text, rated[model][-1]), model
