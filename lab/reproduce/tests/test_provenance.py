"""The digest of a recipe says whether figures of it still hold."""

import copy
import json
from pathlib import Path

import pytest

from reproduce.provenance import UNREAD, recipe_digest
from thinstack.training.recipe import Recipe

DEFAULTS = Path(__file__).parent / "recipe_defaults.json"

SMALLEST = {
    "name": "a",
    "task": {"name": "phrases.v1"},
    "data": {"train": "train.txt", "dev": "dev.txt"},
    "model": {
        "labels": ["bad", "good"],
        "embedding": {"kind": "words", "size": 2},
        "cell": {"name": "nary_lstm.v1", "hidden_size": 2},
        "head": {"name": "node_classifier.v1"},
    },
}


def digest(part="", rival=None, /, **fields):
    raw = copy.deepcopy(SMALLEST)
    (raw.setdefault(part, {}) if part else raw).update(fields)
    return recipe_digest(Recipe.model_validate(raw), rival)


def test_a_default_that_is_written_out_changes_nothing():
    assert digest("training", epochs=10, rule="adagrad") == digest()


@pytest.mark.parametrize(
    ("part", "fields"),
    [
        ("training", {"epochs": 11}),
        ("training", {"rule": "adam"}),
        ("data", {"train": "other.txt"}),
        ("model", {"trees": "dependency", "cell": {"name": "child_sum_lstm.v1", "hidden_size": 2}}),
    ],
)
def test_what_figures_depend_on_changes_it(part, fields):
    assert digest(part, **fields) != digest()


def test_what_no_figure_depends_on_changes_nothing():
    assert digest("", name="b", description="B") == digest()
    assert digest("training", seeds=[7, 8]) == digest()
    assert digest("card", license="mit") == digest()


def test_a_rival_depends_on_the_data_only():
    def of(part="", **fields):
        return digest(part, "bayes", **fields)

    assert of() == of("training", epochs=11) == of("model", embedding={"kind": "words", "size": 3})
    changes = of("data", train="other.txt"), of("model", labels=["a", "c"])
    assert len({of(), *changes, of("training", stop_on="nothing")}) == 4


def test_defaults_are_what_they_were():
    """Digests leave out defaults. If this fails because a default changed, raise
    `reproduce.provenance.DEFAULTS` and write the file again; a new field is only added to it."""
    found = Recipe.model_validate(SMALLEST).model_dump(mode="json", exclude=UNREAD)
    assert found == json.loads(DEFAULTS.read_text(encoding="utf-8"))
