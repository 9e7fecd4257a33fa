"""Sentences that differ only in who is spoken of: the lesson `swapped.v1`, their minibatches, and
the loss on their difference."""

import dataclasses
import json
from random import Random

import numpy as np
import pytest
import tiny_recipe
import torch
from lesson_trees import labelled, treebank
from runs import drawn as drawn_model

from thinstack.data.trees.brackets import to_brackets
from thinstack.errors import ConfigError
from thinstack.training.examples.datasets import load_datasets
from thinstack.training.examples.example import minibatch, minibatch_places, together
from thinstack.training.lesson import Treebank
from thinstack.training.lessons._typos import misspell
from thinstack.training.lessons.swapped import Swapped
from thinstack.training.loop.losses import group_loss, joint_losses

LISTS = {
    "nationality": ["Greek", "Irish", "Sri Lankan", "gay"],
    "person_noun": ["actor", "cast"],
    "determiner": ["an", "the"],
}
PLACE = "(3 (2 (2 an) (1 actor)) (3 (2 is) (3 good)))"
NAME = "(1 (2 (2 the) (0 (0 Greek) (2 cook))) (1 (2 is) (1 bad)))"
NONE = "(1 (2 (2 actor) (2 gay)) (1 bad))"


def lesson(folder, lists=LISTS, **settings):
    content = {"lists": lists, "an_before": "[aeiouAEIOU]"}
    (folder / "lists.json").write_text(json.dumps(content), encoding="utf-8")
    settings = {"share": 4, "people": ["nationality"], "grammars": ["lists.json"]} | settings
    return Swapped(**settings)


def drawn(folder, *trees, lists=LISTS, **settings):
    known = treebank(*trees, classes=5)
    known = Treebank(known.trees, 5, folders=[folder], vocabulary=known.vocabulary)
    return lesson(folder, lists, **settings).trees(known, np.random.default_rng(1))


def bracketed(each):
    names = [str(label) for label in each.labels.tolist()]
    tree = type(each.tree).from_transitions(each.tree.transitions, each.tree.words, names)
    return to_brackets(tree)


def test_other_people_stand_where_people_stood(tmp_path):
    """Before a noun that follows a determiner, and in place of a word with a capital."""
    assert {bracketed(each) for each in drawn(tmp_path, PLACE, copies=4)} == {
        "(3 (2 (2 a) (1 (2 Greek) (1 actor))) (3 (2 is) (3 good)))",
        "(3 (2 (2 an) (1 (2 Irish) (1 actor))) (3 (2 is) (3 good)))",
        "(3 (2 (2 a) (1 (2 (2 Sri) (2 Lankan)) (1 actor))) (3 (2 is) (3 good)))",
        "(3 (2 (2 a) (1 (2 gay) (1 actor))) (3 (2 is) (3 good)))",
    }
    words = {" ".join(each.tree.words) for each in drawn(tmp_path, NAME, copies=4)}
    people = ("Greek", "Irish", "Sri Lankan", "gay")
    assert words == {f"the {word} cook is bad" for word in people}


def test_copies_are_a_group_and_soft_labels_stay(tmp_path):
    copies = drawn(tmp_path, PLACE, NAME, copies=2, share=2)
    groups = [each.group for each in copies]
    assert groups[::2] == groups[1::2]
    assert len(set(groups)) == 2
    assert all(len({each.tree.words for each in copies[at : at + 2]}) == 2 for at in (0, 2))
    soft = np.linspace(0, 1, 35, dtype=np.float16).reshape(7, 5)
    each = labelled(PLACE)._replace(soft=soft)
    known = Treebank([each], 5, folders=[tmp_path])
    copy = lesson(tmp_path).trees(known, np.random.default_rng(0))[0]
    assert copy.soft[-1].tolist() == soft[-1].tolist()
    assert copy.soft[[0, 1]].tolist() == [soft[0].tolist(), [0, 0, 1, 0, 0]]


@pytest.mark.parametrize(
    ("trees", "changes", "named"),
    [
        ([NONE], {}, ["nationality", "person_noun"]),
        ([PLACE], {"people": ["tribe"]}, ["'tribe'", "nationality"]),
        ([PLACE], {"nouns": "job"}, ["'job'"]),
        ([PLACE], {"lists": LISTS | {"determiner": {"+": ["an"]}}}, ["'determiner'"]),
    ],
)
def test_what_names_no_people_is_refused(trees, changes, named, tmp_path):
    with pytest.raises(ConfigError) as caught:
        drawn(tmp_path, *trees, **changes)
    assert all(part in str(caught.value) for part in named), caught.value


# -- minibatches and the loss


@pytest.fixture(scope="module")
def examples(tmp_path_factory):
    data = tiny_recipe.write_data(tmp_path_factory.mktemp("data"))
    return load_datasets(tiny_recipe.recipe(), data).train


def grouped(examples, groups):
    pairs = zip(examples, groups, strict=True)
    return [dataclasses.replace(example, group=group) for example, group in pairs]


def test_a_group_stays_together_in_minibatches(examples):
    groups = [7 if place in (3, 11, 20) else 8 if place in (5, 29) else None for place in range(30)]
    several, config = grouped(examples, groups), tiny_recipe.recipe(buckets=3).training
    for seed in range(5):
        draw = np.random.default_rng(seed)
        order, lengths = together(draw.permutation(30), several)
        assert sorted(order.tolist()) == [*range(30)]
        of_group = [groups[place] for place in order.tolist()]
        for group in (7, 8):
            first = of_group.index(group)
            assert set(of_group[first : first + groups.count(group)]) == {group}
            members = [place for place in range(30) if groups[place] == group]
            longest = max(examples[place].words for place in members)
            assert {lengths[place] for place in members} == {longest}
        batches = [*minibatch_places(order, lengths, config, draw)]
        assert sorted(place for batch in batches for place in batch) == [*range(30)]
        apart = [sum(groups[place] == 8 for place in batch) for batch in batches]
        assert sum(count > 0 for count in apart) <= 2


def test_without_groups_the_order_stays(examples):
    order = np.random.default_rng(0).permutation(30)
    same, lengths = together(order, examples)
    assert same is order
    assert lengths == [example.words for example in examples]


def test_the_difference_of_a_group_by_hand(examples):
    several = grouped(examples[:6], [1, None, 2, 1, 2, 3])
    batch = minibatch(several, ["gold"] * 6)
    torch.manual_seed(0)
    logits = torch.randn(len(batch.targets), 3, dtype=torch.float64)
    scores = logits[batch.whole].softmax(1).numpy()
    expected = 0.0
    for members in ([0, 3], [2, 4]):
        mean = scores[members].mean(0)
        expected += (scores[members] * np.log(scores[members] / mean)).sum()
    assert group_loss(logits, batch).item() == pytest.approx(expected, rel=1e-5)
    alone = minibatch(examples[:6], ["gold"] * 6)
    assert group_loss(logits, alone).item() == 0
    alike = torch.zeros_like(logits)
    assert group_loss(alike, batch).item() == pytest.approx(0, abs=1e-9)


def test_the_weight_of_groups_adds_the_difference(tmp_path):
    data, recipe = tiny_recipe.write_data(tmp_path), tiny_recipe.recipe()
    datasets = load_datasets(recipe, data)
    model = drawn_model(recipe, datasets)
    batch = minibatch(grouped(datasets.train[:4], [1, 1, None, None]), ["gold"] * 4)
    (plain, _), _ = joint_losses(model, batch, recipe.training)
    (more, _), _ = joint_losses(model, batch, recipe.training, group_weight=3.0)
    logits = model.joint(model.inputs(batch.forest)).logits
    difference = group_loss(logits, batch).item()
    assert difference > 1e-4
    assert more.item() - plain.item() == pytest.approx(3 * difference, rel=1e-3)


# -- spelling


def test_a_misspelt_word_has_the_letters_of_the_right_one():
    seen = set()
    for seed in range(300):
        words = ["It", "works", ",", "n't"]
        misspell(words, Random(seed))
        assert words[0] == "It"
        assert words[2:] == [",", "n't"]
        assert words[1][0] in "wW"
        assert set(words[1].lower()) <= set("works")
        seen.add(words[1])
    assert {"WORKS", "wroks", "wrks", "woorks", "woooorks"} <= seen
    short = ["not", "bad"]
    misspell(short, Random(0))
    assert short == ["not", "bad"]
