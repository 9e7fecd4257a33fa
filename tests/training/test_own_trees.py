"""A model that parses, in training: the joint objective, its own trees, buckets."""

from itertools import chain

import numpy as np
import pytest
import tiny_recipe
import torch
from runs import drawn, fresh, of_one

from thinstack.training.examples.datasets import load_datasets
from thinstack.training.examples.example import minibatch, minibatch_places, right_transitions
from thinstack.training.loop.losses import joint_losses
from thinstack.training.loop.measuring import agreement, own_trees, take_own_trees
from thinstack.training.loop.seeds import run_seed
from thinstack.training.recipe import TrainingConfig
from thinstack.training.task import Step

FEEDS = {
    "cell": {"name": "spinn_lstm.v1"},
    "model": {"encoder": {"tracker": {"size": 3, "lookahead": 2}}},
}
APART = {"model": {"encoder": {"tracker": {"size": 3, "feeds": False}}}}


def recipe_of(kind, **settings):
    return tiny_recipe.recipe(**kind, **{"sources": (), **settings})


@pytest.mark.parametrize("kind", [FEEDS, APART], ids=["feeds", "apart"])
def test_the_loss_is_that_of_the_nodes_and_of_the_free_choices(kind, data):
    recipe = recipe_of(kind)
    datasets = load_datasets(recipe, data)
    model = fresh(recipe, datasets).eval()
    examples = datasets.train[:9]
    batch = minibatch(examples, ["gold"] * 9, "dynamic")
    (task, parsing), counts = joint_losses(Step(model, batch, recipe.training))
    wanted_task = wanted_parsing = choices = nodes = 0.0
    for example in examples:  # one sentence at a time, by probabilities
        gold, inputs = example.gold, of_one(example)
        steps, labels = gold.forest.transitions, gold.targets
        scores = model(inputs)["node_scores"].detach().numpy()
        wanted_task -= np.log(scores[np.arange(len(steps)), labels]).sum()
        nodes += len(steps)
        probabilities = model.joint(inputs).choices.softmax(1).detach().numpy()
        stack, left = 0, example.words
        for step, pair in zip(steps.tolist(), probabilities, strict=True):
            if stack > 1 and left:
                wanted_parsing -= np.log(pair[step])
                choices += 1
            stack, left = (stack - 1, left) if step else (stack + 1, left - 1)
    assert counts == (nodes, choices)
    assert min(nodes, choices) > 9
    assert task.item() == pytest.approx(wanted_task, rel=1e-5)
    assert parsing.item() == pytest.approx(wanted_parsing, rel=1e-5)


@pytest.mark.parametrize("alpha", [0.0, 0.7])
def test_alpha_weighs_the_parser(alpha, data, tmp_path, monkeypatch):
    recipe = recipe_of(APART, epochs=1, batch_size=30, alpha=alpha)
    seen = []
    backward = torch.Tensor.backward
    monkeypatch.setattr(torch.Tensor, "backward", lambda loss: (seen.append(loss), backward(loss)))
    result = run_seed(recipe, load_datasets(recipe, data), 1, tmp_path)
    record = result.history[0]
    batch = minibatch(load_datasets(recipe, data).train, ["gold"] * 30, "dynamic")
    _, (nodes, choices) = joint_losses(Step(result.model, batch, recipe.training))
    expected = (record["loss"] * nodes + alpha * record["parsing_loss"] * choices) / 30
    assert len(seen) == 1
    assert seen[0].item() == pytest.approx(expected, rel=1e-5)


def test_own_trees_are_those_of_each_sentence_alone(data):
    recipe = recipe_of(FEEDS)
    datasets = load_datasets(recipe, data)
    model = drawn(recipe, datasets).train()
    trees = own_trees(model, datasets.train)
    assert model.training
    model.eval()
    for example, steps in zip(datasets.train, trees, strict=True):
        words = {name: of_one(example)[name] for name in ("token_ids", "lengths")}
        with torch.no_grad():
            alone = model(words)["parse"]
        assert steps.tolist() == alone.tolist()
    assert len({steps.tobytes() for steps in trees}) > len({len(steps) for steps in trees})


def test_in_the_first_epoch_own_trees_are_the_treebanks(data, tmp_path):
    recipe = recipe_of(FEEDS, epochs=1, sources=("self",))
    datasets = load_datasets(recipe, data)
    run_seed(recipe, datasets, 1, tmp_path)
    assert all(example.trees["self"] is example.gold for example in datasets.train)


def test_sentences_over_their_own_trees_are_taught_by_the_oracle(data):
    datasets = load_datasets(recipe_of(APART), data)
    model = drawn(recipe_of(APART), datasets)
    take_own_trees(model, datasets.train)
    batch = minibatch(datasets.train, ["self"] * 30, model.oracle)
    other = place = 0
    for example in datasets.train:
        gold, size = example.gold.forest.transitions, 2 * example.words - 1
        here = slice(place, place + size)
        steps, right = batch.forest.transitions[here], batch.right[here]
        wrong = steps.tolist() != gold.tolist()
        assert right.tolist() == (right_transitions(gold, steps) if wrong else gold).tolist()
        other += wrong
        place += size
    assert place == len(batch.right)
    assert other > 5


def minibatches(lengths, **settings):
    config = TrainingConfig(batch_size=4, **settings)
    random = np.random.default_rng(0)
    return minibatch_places(random.permutation(len(lengths)), lengths, config, random)


def test_buckets_make_minibatches_of_like_lengths():
    lengths = np.random.default_rng(1).integers(1, 60, 203).tolist()
    mixed, alike = list(minibatches(lengths, buckets=1)), list(minibatches(lengths))

    def spread(batches):
        return float(np.mean([np.ptp([lengths[i] for i in batch]) for batch in batches]))

    for batches in (mixed, alike):
        assert sorted(chain.from_iterable(batches)) == list(range(203))
        assert sorted(map(len, batches)) == [3, *[4] * 50]
    assert spread(alike) < spread(mixed) / 4
    longest = [max(lengths[i] for i in batch) for batch in alike[:20]]
    assert longest != sorted(longest), "long sentences must not always come last"


def test_agreement_is_counted_along_and_apart_from_the_gold_trees(data):
    recipe = recipe_of(APART)
    datasets = load_datasets(recipe, data)
    model = fresh(recipe, datasets).eval()
    examples = datasets.train
    take_own_trees(model, examples)
    right = cases = 0
    for example in examples:
        steps = example.gold.forest.transitions
        joint = model.joint(of_one(example))
        parts = (steps.tolist(), joint.free.tolist(), joint.choices.tolist())
        for step, free, pair in zip(*parts, strict=True):
            cases += free
            right += free and step == int(pair[1] > pair[0])
    found = agreement(model, examples)
    assert found["choices_right"] == pytest.approx(100 * right / cases)
    assert 0 < found["choices_right"] < 100
    assert found["exact_trees"] < 100


def test_transitions_are_compared_step_by_step_with_the_gold_trees(data):
    datasets = load_datasets(recipe_of(APART), data)
    first, second = [example for example in datasets.train if example.words == 4][:2]
    left, right = np.array([0, 0, 1, 0, 1, 0, 1]), np.array([0, 0, 0, 0, 1, 1, 1])
    for example in (first, second):
        example.trees["gold"] = example.trees["self"] = example.gold.over(left)
    model = fresh(recipe_of(APART), datasets)
    assert agreement(model, [first, second])["transitions_right"] == 100
    second.trees["self"] = second.gold.over(right)  # which differs at the third and the sixth step
    found = agreement(model, [first, second])["transitions_right"]
    assert found == pytest.approx(100 * 12 / 14)
