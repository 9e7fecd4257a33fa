"""`lab/benchmarks/suites.py`: what rivals get right, and its page."""

from pathlib import Path

import numpy as np
import pytest
import typer

from thinstack.evaluate.aspect_figures import Judged
from thinstack.evaluate.suite import AspectCase, Case
from thinstack.evaluate.suite_aspects import aspect_suite_figures
from thinstack.evaluate.suite_terms import CaseTerm

FOLDER = Path(__file__).parents[1] / "benchmarks"
CASES = [
    Case("a", "open", "names", "positive", "MFT", "-", "-", "one"),
    Case("b", "open", "names", "positive", "INV", "a", "-", "two"),
    Case("c", "open", "facts", "neutral", "MFT", "-", "-", "three"),
    Case("d", "open", "facts", "neutral", "MFT", "-", "-", "four"),
]


@pytest.fixture(scope="module")
def modules():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(FOLDER)
        import beside_rivals
        import suites
        import suites_page

        yield suites, suites_page, beside_rivals


@pytest.fixture
def measure(modules):
    """What measures a rival with these numbers, whose labels have a side above 0.3."""

    def call(*values):
        found = np.array(values)
        opinions = modules[2].Opinions(found, np.sign(found) * (abs(found) > 0.3))
        return modules[0].of_rival(modules[2].Rival("", "", "", lambda texts: opinions))

    return call


def test_a_number_is_margin_and_polarity(measure):
    figures = measure(0.5, 0.1, -0.25, -0.4)(CASES).figures
    assert {kind: each["right"] for kind, each in figures["kinds"].items()} == {
        "names": 2,
        "facts": 1,
    }
    sets = figures["sets"]
    assert (sets["right"], sets["total"], sets["spread"]) == (0, 1, pytest.approx(0.4))


def test_the_page(modules, measure, monkeypatch):
    monkeypatch.setattr(modules[1], "version", lambda name: f"of {name}")
    first, second = measure(0.5, 0.1, -0.25, -0.4), measure(0.5, 0.6, 0, 0)
    figures = {name: {"mine": each(CASES).figures} for name, each in (("A", first), ("B", second))}
    page = modules[1].page_of(figures)
    for row in (
        "| suite | of | A | B |",
        "| `mine` | 4 sentences | 75.0 | 100.0 |",
        "| `mine`, one side | 1 sets | 0.0 (0.40) | 100.0 (0.10) |",
        "| `mine` | facts | 2 | 50.0 | 100.0 |",
        "| `mine` | names | 1 | 0.0 (0.40) | 100.0 (0.10) |",
    ):
        assert f"\n{row}\n" in page
    old = "# Suites\n\n| suite | of | A |\n|---|---|---|\n| `mine` | 1 | 2 |\n\nMore.\n"
    new = modules[1].renewed(old, figures)
    assert new.startswith("# Suites\n\n| suite | of | A | B |\n|---|---|---|---|\n| `mine` | 4 sen")
    assert new.endswith("100.0 (0.10) |\n\nMore.\n")
    with pytest.raises(ValueError, match="found 0"):
        modules[1].renewed("# Suites\n", figures)


def test_a_model_that_says_nothing_of_terms_has_dashes(modules, measure, monkeypatch):
    monkeypatch.setattr(modules[1], "version", lambda name: f"of {name}")
    terms = (CaseTerm(0, 3, "positive"), CaseTerm(4, 7, "negative"))
    cases = [AspectCase("a", "open", "two", terms, "one two")]
    rival = modules[0].without_aspects(measure(0.5, 0.6, 0, 0))
    judged = [Judged([(0, 3, 1), (4, 7, -1)], [1, 1], [True, False], [(0, 3, 1)])]
    ours = {"aspects": aspect_suite_figures(cases, judged)[0]}
    figures = {"A": {"aspects": rival(cases).figures}, "B": ours}
    page = modules[1].page_of(figures)
    for row in (
        "| `aspects` | 2 terms | - | 50.0 |",
        "| `aspects` | two | 2 | - | 50.0 |",
        "| `aspects` | F1 of terms | - | 66.7 |",
        "| `aspects` | terms that are phrases | - | 50.0 |",
    ):
        assert f"\n{row}\n" in page
    assert rival(CASES) == measure(0.5, 0.6, 0, 0)(CASES)
    assert "## Terms" not in modules[1].page_of({"A": {"mine": rival(CASES).figures}})
    assert "F1" not in modules[1].page_of({"A": figures["A"]})


def test_half_of_what_an_encoder_needs_is_refused(modules, tmp_path):
    with pytest.raises(typer.BadParameter, match="--runs"):
        modules[0].main(tmp_path / "page.md", encoder=tmp_path)
