"""Settings of the papers' own trainings: what the loss reads, and how weights decay."""

import numpy as np
import pytest
import torch
from tiny_table import tiny, write_all
from training import tiny_recipe

from reproduce.learning import AS_RECIPES, Learning, with_labels
from reproduce.provenance import recipe_digest
from reproduce.run import job_of, run_one
from reproduce.table import Table
from thinstack.data.trees.brackets import from_brackets
from thinstack.data.words.vocabulary import WordVocabulary
from thinstack.errors import ConfigError
from thinstack.plugins.build import build_model
from thinstack.training.examples.example import examples_of

RATE = 0.05


@pytest.mark.parametrize(
    ("which", "kept"), [("roots", [-1, -1, -1, -1, 2]), ("roots+words", [1, 2, -1, -1, 2])]
)
def test_labels_of_roots_and_words_are_kept_over_any_tree(which, kept):
    tree = from_brackets("(2 (1 the) (0 (2 good) (1 film)))")
    config = tiny_recipe.recipe().model
    example = example_of(tree, np.array([1, 2, -1, 0, 2]), config)
    found = with_labels(example, which)
    assert found.gold.targets.tolist() == kept
    the, good, film, _, whole = kept  # the left-branching tree has no "good film"
    assert found.trees["left"].targets.tolist() == [the, good, -1, film, whole]
    assert found.parsed == example.parsed


def example_of(tree, labels, config):
    words = WordVocabulary(["the", "good", "film"])
    (found,) = examples_of([(tree, labels)], words, config, "nodes", ["left"])
    return found


def test_decoupled_decay_of_adam_is_torch_s_adamw_and_leaves_the_table_and_what_rests():
    def weights():
        torch.manual_seed(0)
        model = build_model(tiny_recipe.recipe().model, entries=6)
        return model, [w for name, w in model.named_parameters() if name != "embedding.table"]

    (model, mine), (_, theirs) = weights(), weights()
    table = model.embedding.table.detach().clone()
    one = torch.optim.Adam([*mine, model.embedding.table], lr=RATE)
    other = torch.optim.AdamW(theirs, lr=RATE, weight_decay=0.1)
    learning = Learning(decoupled_decay=True, weight_decay=0.1)
    with learning.prepared() as prepare:
        prepare(model)
        for _ in range(3):
            for weight, twin in zip(mine[1:], theirs[1:], strict=True):
                weight.grad = torch.randn(weight.shape)
                twin.grad = weight.grad.clone()
            model.embedding.table.grad = torch.zeros_like(table)
            one.step()
            other.step()
    for weight, twin in zip(mine, theirs, strict=True):
        torch.testing.assert_close(weight, twin, atol=1e-7, rtol=1e-6)
    assert torch.equal(model.embedding.table, table)
    before = mine[1].detach().clone()
    mine[1].grad = torch.zeros_like(before)
    torch.optim.SGD([mine[1]], lr=RATE).step()  # after the block nothing decays
    assert torch.equal(mine[1], before)


def test_a_table_takes_its_settings_from_the_recipe_and_trains_with_them(tmp_path):
    """The data of a recipe without them are a recipe's; the digest of the figures has both."""
    table = tiny()
    table["recipe"]["model"]["cell"] = {"name": "nary_lstm.v1", "hidden_size": 5}
    own = {"init": "glorot", "rule": "adam", "decoupled_decay": True, "labels": "roots"}
    table["rows"][0]["recipe"] = {"training": {**own, "weight_decay": 0.3}}
    path, data = write_all(tmp_path, table)
    read = Table.read(path)
    run, rvnn = (next(iter(read.runs([name]))) for name in ("lstm", "rvnn"))
    assert rvnn.learning == AS_RECIPES
    assert (run.learning.init, run.learning.labels, run.learning.weight_decay) == (
        "glorot", "roots", 0.3
    )  # fmt: skip
    assert (run.recipe.training.rule, run.recipe.training.weight_decay) == ("adam", 0.0)
    digests = {recipe_digest(run.recipe, None, own) for own in (run.learning, AS_RECIPES)}
    assert len(digests) == 2
    job = job_of(run, data=data, folder=tmp_path / "work", commit=None)
    assert run_one(job).figures["gold"]["phrases"] > 10  # figures are of all labels
    with pytest.raises(ConfigError, match="lstm"):
        read.show("lstm")


@pytest.mark.parametrize(
    ("settings", "names"),
    [
        ({"rule": "adamw", "decoupled_decay": True}, "adamw"),
        ({"labels": "roots", "alone": 1.0}, "alone"),
        ({"labels": "words"}, "labels"),
    ],
)
def test_what_does_not_fit_is_refused(settings, names):
    data = tiny()["recipe"]
    data["training"] |= settings
    table = Table.parse({**tiny(), "recipe": data}, source="test")
    with pytest.raises(ConfigError, match=names):
        table.runs()
