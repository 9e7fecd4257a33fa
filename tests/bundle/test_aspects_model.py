"""The models of aspects that are distributions of their own."""

import re
from pathlib import Path

import pytest

import thinstack
from thinstack.bundle import open_bundle
from thinstack.integrations.report.frames import model_name
from thinstack.training.recipe import Recipe

ROOT = Path(__file__).parents[2]
MOST = {"aspects": 30e6, "aspects-small": 5e6}  # bytes of the graph and the vocabulary


def folder(name):
    return ROOT / "models" / f"thinstack-{name}" / f"thinstack_{name.replace('-', '_')}" / "model"


@pytest.fixture(scope="module", params=MOST)
def name(request):
    return request.param


@pytest.fixture(scope="module")
def predictor(name):
    return thinstack.load(folder(name), threads=1)


def test_it_is_the_model_of_its_recipe(name):
    recipe, bundle = (
        Recipe.read(ROOT / "lab" / "recipes" / f"{name}.toml"),
        open_bundle(folder(name)),
    )
    assert bundle.config == recipe.model
    assert bundle.manifest.metrics["recipe"] == recipe.name
    files = [bundle.manifest.files[each].size for each in ("onnx/model.onnx", "vocabulary.txt")]
    assert sum(files) <= MOST[name]


def test_the_card_names_its_sources_and_their_terms(name):
    bundle = open_bundle(folder(name))
    card = bundle.read("README.md").decode("utf-8")
    for text in (card, bundle.manifest.data):
        for source in ("Apache-2.0", "Pontiki", "Hu and Liu", "research", "sentiment"):
            assert source in text


def rows(text):
    """The cells of a table, by the model that stands first."""
    lines = re.findall(r"^\| `?([\w-]+)`?[^|]*\|(.+)\|$", text[: text.index("\n\n", 3)], re.M)
    return {model: re.findall(r"[\d.]+", cells) for model, cells in lines}


def test_the_pages_have_the_figures_of_the_results():
    results = (ROOT / "lab" / "results" / "aspects.md").read_text("utf-8")
    restaurants, laptops = (rows(part[part.index("| |") :]) for part in results.split("## ")[1:3])
    page = (ROOT / "docs" / "figures.md").read_text("utf-8")
    shown = rows(page[page.index("|---", page.index("| raw text, as shipped | restaurants")) :])
    assert shown.keys() == restaurants.keys()
    for model, told in shown.items():
        assert told[:4] == [*restaurants[model][:2], *laptops[model][:2]]
    readme = (ROOT / "README.md").read_text("utf-8")
    said = re.search(r"So (\d+)% of SemEval.* (\d+)% \(small: (\d+)%\)", readme).groups()
    models = ("sentiment", "aspects", "aspects-small")
    assert [int(each) for each in said] == [round(float(restaurants[one][0])) for one in models]


def test_it_finds_terms_and_what_is_said_of_them(predictor):
    battery, camera = predictor("The battery is terrible, but the camera is gorgeous.").aspects
    assert (battery.text, battery.label, battery.because.text) == (
        "battery",
        "negative",
        "is terrible",
    )
    assert (camera.text, camera.label, camera.because.text) == ("camera", "positive", "is gorgeous")
    assert predictor("I bought it in May and used it for a week.").aspects == ()


def test_what_is_asked_about(predictor):
    said = predictor("We loved the rooms, but the wifi never worked.").about("room", "wifi|network")
    assert [(each.text, each.label) for each in said] == [
        ("rooms", "positive"),
        ("wifi", "negative"),
    ]


def test_a_report_says_which_model_has_read(name, predictor):
    assert model_name(predictor) == name
