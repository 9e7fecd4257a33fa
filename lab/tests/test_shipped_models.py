"""The recipes of the models in this repository."""

import pytest
from pages import ROOT

from thinstack.bundle import open_bundle
from thinstack.training.recipe import Recipe

MODELS = ROOT / "models"
FOLDERS = {
    "sentiment": ROOT / "thinstack" / "bundle" / "bundled" / "sentiment",
    "sentiment-context": MODELS / "thinstack-sentiment-context" / "thinstack_sentiment_context",
    "sentiment-open": MODELS / "thinstack-sentiment-open" / "thinstack_sentiment_open",
    "aspects": MODELS / "thinstack-aspects" / "thinstack_aspects",
    "vectors": MODELS / "thinstack-vectors" / "thinstack_vectors",
    "aspects-small": MODELS / "thinstack-aspects-small" / "thinstack_aspects_small",
}


@pytest.mark.parametrize("name", FOLDERS)
def test_a_model_is_that_of_its_recipe(name):
    recipe = Recipe.read(ROOT / "lab" / "recipes" / f"{name}.toml")
    folder = FOLDERS[name]
    bundle = open_bundle(folder if name == "sentiment" else folder / "model")
    assert bundle.config == recipe.model
    assert bundle.manifest.metrics["recipe"] == recipe.name


RECIPES = sorted(ROOT.glob("lab/recipes/*.toml"))


@pytest.mark.parametrize("file", RECIPES, ids=lambda file: file.stem)
def test_every_recipe_can_be_read(file):
    """With the lessons of this folder, and those that are built in."""
    assert Recipe.read(file).name == file.stem


def test_grammars_lie_beside_the_recipes(tmp_path):
    recipe = Recipe.read(ROOT / "lab" / "recipes" / "sst.toml")
    (negated,) = (lesson for lesson in recipe.lessons if lesson.name == "negated.v1")
    path = negated.path(negated.files[0], recipe.folders(tmp_path))
    assert path == ROOT / "lab" / "recipes" / "grammar" / "english.json"
