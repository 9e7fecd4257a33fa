"""Trees whose root has one class of a set, and trees that should have the same label."""

import dataclasses

import numpy as np
import own_lessons
import pytest
import tiny_recipe
import torch
from runs import drawn as drawn_model
from test_parser_training import PARSER

import thinstack
from thinstack.core.scale import FIVE
from thinstack.plugins.heads.node_classifier import NodeClassifier
from thinstack.training.examples.datasets import load_datasets, read_items
from thinstack.training.examples.example import Minibatch, minibatch, minibatch_places, together
from thinstack.training.loop.losses import group_loss, joint_losses, task_loss
from thinstack.training.loop.teacher import within_set
from thinstack.training.loop.teaching import taught_trees
from thinstack.training.recipe import Recipe
from thinstack.training.task import Step

SETS = {"name": "sets.v1", "weight": 0.5}

pytestmark = pytest.mark.usefixtures("with_own_lessons")


def recipe_of(lesson, *, teacher=None, **settings):
    plain = tiny_recipe.recipe(**settings).model_dump()
    plain["model"]["labels"] = FIVE
    plain["lessons"] = [lesson]
    plain["teacher"] = teacher
    return Recipe.parse(plain, source="test")


# -- the loss


@pytest.mark.parametrize("root_weight", [0.0, 0.5])
def test_the_loss_of_a_set_has_the_gradient_of_its_mass(root_weight):
    """Against autograd of -log p(set); the other target is a class."""
    draw = torch.Generator().manual_seed(1)
    logits = torch.randn(3, 5, generator=draw, requires_grad=True)
    soft = np.array([[0, 0, 0, 0.25, 0.25], [0, 1, 0, 0, 0], [0, 0, 0, 0, 0]], np.float32)
    batch = minibatch_of(soft, counts=[1, 2], whole=[0, 2], sets=[0])
    head = NodeClassifier(hidden_size=2, classes=5)
    loss, cases = task_loss(head, logits, batch, root_weight)
    (found,) = torch.autograd.grad(loss, logits)
    p = torch.softmax(logits, 1)
    expected = -0.5 * (1 + root_weight) * p[0, 3:].sum().log() - p[1, 1].log()
    (wanted,) = torch.autograd.grad(expected, logits)
    torch.testing.assert_close(found, wanted, rtol=1e-5, atol=1e-7)
    assert cases == 2


def test_a_set_that_the_model_denies_has_a_finite_loss():
    logits = torch.tensor([[2000.0, 0, 0, -3000, -3000]], requires_grad=True)
    soft = np.array([[0, 0, 0, 0.5, 0.5]], np.float32)
    batch = minibatch_of(soft, counts=[1], whole=[0], sets=[0])
    loss, _ = task_loss(NodeClassifier(hidden_size=2, classes=5), logits, batch, 0.0)
    (found,) = torch.autograd.grad(loss, logits)
    assert found.tolist() == [[1, 0, 0, -0.5, -0.5]]


def minibatch_of(soft, *, counts, whole, sets):
    none = np.zeros(0, np.int64)
    targets, known = np.full(len(soft), -1), map(np.array, (counts, whole))
    return Minibatch(None, targets, none, none, len(counts), *known, soft, np.array(sets))


@pytest.mark.parametrize(
    ("classes", "expected"),
    [((3, 4), [0, 0, 0, 0.75, 0.25]), ((0,), [1, 0, 0, 0, 0]), ((1, 2), [0, 0.5, 0.5, 0, 0])],
)
def test_a_teacher_tells_the_classes_of_a_set_apart(classes, expected):
    taught = np.array([0.591, 0.008, 0.001, 0.3, 0.1])
    np.testing.assert_allclose(within_set(taught, classes), expected, atol=1e-12)


# -- in recipes


@pytest.mark.parametrize("teacher", [None, {"bundles": ["sentiment"], "alpha": 0.3}])
def test_a_teacher_labels_phrases_and_shares_out_the_set(data, teacher):
    recipe = recipe_of(SETS, teacher=teacher)
    train, held, dev = read_items(recipe, data)
    _, (_, taught) = taught_trees(recipe, train, held + dev, data)
    sst = thinstack.load("sentiment")
    for one, classes in zip(taught, own_lessons.SETS.values(), strict=True):
        soft, inside = one.soft, np.isin(range(5), classes)
        if teacher:
            (own,) = sst.node_scores([one.tree.words], [one.tree.transitions])
            shares = own[-1] * inside
            np.testing.assert_allclose(soft[-1], 0.5 * shares / shares.sum(), atol=1e-3)
            np.testing.assert_allclose(soft[:-1], 0.5 * own[:-1], atol=1e-3)
            assert one.root_set == ()
        else:
            assert soft[-1].tolist() == (0.5 * inside / len(classes)).tolist()
            assert not soft[:-1].any()
            assert one.root_set == classes


def test_a_text_has_the_mean_of_what_a_teacher_says_of_its_sentences(data):
    model = {"parser": PARSER, "aggregation": "tree"}
    lesson = {"name": "sets.v1", "sentences": True}
    recipe = recipe_of(lesson, model=model, teacher={"bundles": ["sentiment"]})
    train, held, dev = read_items(recipe, data)
    text = taught_trees(recipe, train, held + dev, data)[-1].trees[-3]
    words = [sentence.split() for sentence in ("A red box .", "It works .")]
    first, second = (
        one.scores for one in thinstack.load("sentiment").trees_and_scores(words, "self")
    )
    np.testing.assert_allclose(text.soft[:7], first, atol=1e-3)
    np.testing.assert_allclose(text.soft[7:-1], second, atol=1e-3)
    mean = (4 * first[-1] + 3 * second[-1]) / 7
    np.testing.assert_allclose(text.soft[-1, 3:], mean[3:] / mean[3:].sum(), atol=2e-3)
    assert not text.soft[-1, :3].any()


def test_the_sets_of_a_minibatch_are_where_their_roots_are(data):
    """Examples that a parser learns from come first, so places move."""
    recipe = recipe_of(SETS, sources=("left",))
    train = load_datasets(recipe, data).train
    mixed = [train[-3], train[0], train[-1]]
    for source in ("gold", "left"):
        batch = minibatch(mixed, [source] * 3)
        sizes = [len(each.gold.targets) for each in (train[0], train[-3], train[-1])]
        assert batch.sets.tolist() == [sum(sizes[:2]) - 1, sum(sizes) - 1]
        assert (batch.soft[batch.sets] > 0).tolist() == [
            [False, False, False, True, True],
            [False, False, True, False, False],
        ]


# -- sentences that should have the same label


@pytest.fixture(scope="module")
def examples(data):
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


def test_the_weight_of_groups_adds_the_difference(data):
    recipe = tiny_recipe.recipe()
    datasets = load_datasets(recipe, data)
    model = drawn_model(recipe, datasets)
    batch = minibatch(grouped(datasets.train[:4], [1, 1, None, None]), ["gold"] * 4)
    (plain, _), _ = joint_losses(Step(model, batch, recipe.training))
    (more, _), _ = joint_losses(Step(model, batch, recipe.training), group_weight=3.0)
    logits = model.joint(model.inputs(batch.forest)).logits
    difference = group_loss(logits, batch).item()
    assert difference > 1e-4
    assert more.item() - plain.item() == pytest.approx(3 * difference, rel=1e-3)
