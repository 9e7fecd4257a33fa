"""What is said of a trained model of texts: beside its rival, and while it learns."""

import io

import pytest
import tiny_texts
from rich.console import Console

from thinstack.training.loop.measuring import Answers
from thinstack.training.tasks.texts.report import show_texts

NO_ANSWERS = Answers(*[[]] * 5)


def figures(accuracy):
    return {"accuracy": accuracy, "macro_f1": 1.0, "binary_accuracy": None, "texts": 200}


def said(recipe, own, rival):
    file = io.StringIO()
    answers = NO_ANSWERS._replace(gold=[0], predicted=[0])
    show_texts(answers, figures(own), ("plain", figures(rival)), recipe, Console(file=file))
    return " ".join(file.getvalue().split())


@pytest.mark.parametrize(
    ("init", "tries"),
    [
        ("none", ("--init sentiment,", "--init sentiment-context")),
        ("sentiment", ("sentiment-context",)),
    ],
)
def test_where_the_rival_is_ahead_it_says_what_to_try(init, tries):
    recipe = tiny_texts.recipe(None if init == "none" else init, epochs=8)
    ahead = said(recipe, 70.0, 72.5)
    assert "ahead by 2.5 percentage points" in ahead
    assert all(each in ahead for each in (*tries, "more rows", "--epochs 16 or 4"))
    assert "ahead" not in said(recipe, 72.5, 72.5)


@pytest.mark.parametrize(("stop_on", "flattering"), [("dev", True), ("nothing", False)])
def test_figures_that_chose_the_epoch_are_called_too_good(stop_on, flattering):
    recipe = tiny_texts.recipe(None, stop_on=stop_on)
    assert ("slightly optimistic" in said(recipe, 70.0, 60.0)) == flattering
