"""The model of aspects that is a distribution of its own, `thinstack-aspects`."""

from pathlib import Path

import pytest

import thinstack
from thinstack.bundle import open_bundle
from thinstack.training.recipe import Recipe

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "models" / "thinstack-aspects" / "thinstack_aspects" / "model"


@pytest.fixture(scope="module")
def bundle():
    return open_bundle(FOLDER)


@pytest.fixture(scope="module")
def predictor():
    return thinstack.load(FOLDER, threads=1)


def test_it_is_the_model_of_its_recipe(bundle):
    recipe = Recipe.read(ROOT / "recipes" / "aspects.toml")
    assert bundle.config == recipe.model
    assert bundle.manifest.metrics["recipe"] == recipe.name


def test_the_graph_and_the_vocabulary_have_thirty_megabytes_at_most(bundle):
    sizes = [bundle.manifest.files[name].size for name in ("onnx/model.onnx", "vocabulary.txt")]
    assert sum(sizes) <= 30e6


def test_the_card_names_its_sources_and_their_terms(bundle):
    card = bundle.read("README.md").decode("utf-8")
    names = ("MiniLM", "Apache-2.0", "Pontiki", "research", "sentiment-context")
    for text in (card, bundle.manifest.data):
        assert [name for name in names if name not in text] == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "The battery is terrible, but the camera is gorgeous.",
            [("battery", "negative"), ("camera", "positive")],
        ),
        ("Friendly waiters and cold soup.", [("waiters", "positive"), ("soup", "negative")]),
        ("I bought it in May and used it for a week.", []),
    ],
)
def test_it_finds_terms_and_what_is_said_of_them(predictor, text, expected):
    assert [(each.text, each.label) for each in predictor(text).aspects] == expected


def test_the_phrase_that_decides(predictor):
    battery, camera = predictor("The battery is terrible, but the camera is gorgeous.").aspects
    assert (battery.because.text, camera.because.text) == ("is terrible", "is gorgeous")
