"""`lab/benchmarks/beside.py`: its figures, the tables that it takes, and its page."""

from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture(scope="module")
def modules():
    for name in ("transformers", "tokenizers", "spacy", "sklearn"):
        pytest.importorskip(name)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(FOLDER)
        import beside
        import beside_page
        import beside_rivals
        import beside_sets

        yield beside, beside_sets, beside_rivals, beside_page


def rival(module, values):
    """One that says these numbers, and takes those above 1 for positive."""
    values = np.array(values, float)
    sides = np.sign(values) * (abs(values) > 1)
    return module.Rival("one", "a number", "above 1", lambda texts: module.Opinions(values, sides))


def test_figures(modules):
    beside, sets, rivals, _ = modules
    texts = sets.Texts("set", [*"abcde"], np.array([-2.0, -1.0, 0.0, 1.0, 1.0]))
    found = beside.figures(rival(rivals, [-3, 0.5, 9, 1, 2]), texts)
    expected = {"own": 50, "undecided": 50, "sign": 75, "cut": 100}
    assert {name: found[name] for name in expected} == expected
    assert found["r"] == pytest.approx(np.corrcoef([-3, 0.5, 9, 1, 2], [-2, -1, 0, 1, 1])[0, 1])


@pytest.mark.parametrize(
    ("values", "sides", "share"),
    [([1, 1, 1], [1, -1, 1], 2 / 3), ([3, 1, 2], [1, -1, 1], 1), ([1, 2], [1, -1], 1 / 2)],
)
def test_texts_of_one_number_are_on_one_side_of_a_cut(modules, values, sides, share):
    found = modules[0].best_cut(np.array(values, float), np.array(sides))
    assert found == pytest.approx(share)


@pytest.mark.parametrize(
    ("labels", "numbers"),
    [
        (["positive", "neutral", "negative"], [1, 0, -1]),
        (["5", "3", "1"], [2, 0, -2]),
        (["-3.5", "0.5"], [-3.5, 0.5]),
    ],
)
def test_a_table(modules, tmp_path, labels, numbers):
    path = tmp_path / "tweets.csv"
    rows = "".join(f"a text,{label}\n" for label in labels)
    path.write_text(f"said,airline_sentiment\n{rows}", encoding="utf-8")
    found = modules[1].read_table(f"tweets={path}:said:airline_sentiment")
    assert (found.name, found.texts) == ("tweets", ["a text"] * len(labels))
    np.testing.assert_allclose(found.numbers, numbers)


def test_restaurants_are_sentences_of_one_opinion(modules, tmp_path, monkeypatch):
    monkeypatch.setattr(modules[1], "is_held_out", lambda text, one_in: "D" not in text)
    path = tmp_path / "terms.jsonl"
    terms = [("It is n't bad .", "positive"), ("A .", "positive"), ("A .", "negative")]
    terms += [("B .", "neutral"), ("C .", "negative"), ("C .", "negative"), ("D .", "positive")]
    lines = (f'{{"text": "{text}", "label": "{label}"}}\n' for text, label in terms)
    path.write_text("".join(lines), encoding="utf-8")
    found = modules[1].restaurants(path)
    assert found.texts == ["It isn't bad.", "C."]
    assert found.numbers.tolist() == [1, -1]


def test_the_page(modules, monkeypatch):
    beside, sets, rivals, page = modules
    monkeypatch.setattr(page, "version", lambda name: f"of {name}")
    texts = sets.Texts("film", [*"abc"], np.array([-2.0, 1.0, 1.0]))
    one = rival(rivals, [-3, 2, 2])
    found = page.page_of(
        [texts],
        {"one": {"film": beside.figures(one, texts) | {"seconds": 2.0}}},
        {"one": ("a number", "above 1")},
    )
    assert "| always the commoner side | 66.7 | - |\n| one | 100.0 | 2 |" in found
    assert "2 positive and 1 negative texts" in found
    assert "vaderSentiment of vaderSentiment" in found
