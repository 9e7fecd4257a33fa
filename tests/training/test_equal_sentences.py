"""Sentences that should have the same label: their minibatches, and the loss on their
difference."""

import dataclasses

import numpy as np
import pytest
import tiny_recipe
import torch
from runs import drawn as drawn_model

from thinstack.training.examples.datasets import load_datasets
from thinstack.training.examples.example import minibatch, minibatch_places, together
from thinstack.training.loop.losses import group_loss, joint_losses
from thinstack.training.task import Step


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
    assert same.tolist() == order.tolist()
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
    (plain, _), _ = joint_losses(Step(model, batch, recipe.training))
    (more, _), _ = joint_losses(Step(model, batch, recipe.training), group_weight=3.0)
    logits = model.joint(model.inputs(batch.forest)).logits
    difference = group_loss(logits, batch).item()
    assert difference > 1e-4
    assert more.item() - plain.item() == pytest.approx(3 * difference, rel=1e-3)
