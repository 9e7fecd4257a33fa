"""The k best trees of a beam against all trees of a sentence, one by one."""

import itertools

import numpy as np
import pytest
import torch
from core.configured import ENTRIES, SPINN, far_from_zero

from reproduce.beam import k_best
from thinstack.core import Forest
from thinstack.core.transitions import first_fault
from thinstack.training.examples.example import Example
from thinstack.training.examples.labelled import LabelledForest
from thinstack.training.loop.measuring import own_trees

TREES = {1: 1, 2: 1, 3: 2, 4: 5, 5: 14, 6: 42}  # Catalan numbers
PARSERS = {
    "apart": {"encoder": {"tracker": {"size": 3, "lookahead": 2}}},
    "feeding": {"encoder": {"tracker": {"size": 3}}, "cell": SPINN},
    "any number of children": {
        "encoder": {"tracker": {"size": 3, "feeds": False}},
        "cell": {"name": "child_sum_lstm.v1"},
    },
}


def parser(name):
    settings = {**PARSERS[name]}
    tracker = {"feeds": name == "feeding", **settings.pop("encoder")["tracker"]}
    return far_from_zero(settings.pop("cell", None), encoder={"tracker": tracker})


def sentence(words, number=0):
    """Random words over a balanced tree."""
    random, nodes = np.random.default_rng([words, number]), 2 * words - 1
    forest = Forest(
        sizes=np.array([nodes]),
        lengths=np.array([words]),
        transitions=np.array([0] * words + [1] * (words - 1)),
        token_ids=random.integers(ENTRIES, size=words),
    )
    none = np.full(nodes, -1)
    return Example({"gold": LabelledForest(forest, none, nodes - 1)})


def all_trees(words):
    steps = itertools.product((0, 1), repeat=2 * words - 1)
    sizes = np.array([2 * words - 1])
    return [one for one in steps if first_fault(np.array(one), sizes) is None]


def log_prob(model, example, steps):
    """Of a tree, from the scores of the model that goes along it."""
    inputs = model.inputs(example.gold.over(np.array(steps)).forest)
    with torch.inference_mode():
        joint = model.joint(inputs)
    chosen = joint.choices.log_softmax(1).gather(1, torch.tensor(steps).unsqueeze(1)).squeeze(1)
    return float(chosen[joint.free > 0].sum())


def as_dict(found):
    return dict(zip(map(tuple, found.transitions.tolist()), found.log_probs.tolist(), strict=True))


@pytest.mark.parametrize("name", PARSERS)
@pytest.mark.parametrize("words", [1, 2, 3, 4, 5])
def test_a_beam_as_wide_as_there_are_trees_finds_all(name, words):
    model, example = parser(name), sentence(words)
    wanted = {steps: log_prob(model, example, steps) for steps in all_trees(words)}
    assert len(wanted) == TREES[words]
    (found,) = k_best(model, [example], TREES[words])
    assert as_dict(found) == pytest.approx(wanted, abs=1e-9)
    assert np.exp(found.log_probs).sum() == pytest.approx(1)
    assert (np.diff(found.log_probs) <= 0).all()


@pytest.mark.parametrize("name", PARSERS)
def test_sentences_do_not_affect_each_other(name):
    """Also where they end before others, and where they have fewer trees than the beam is wide."""
    model = parser(name)
    examples = [sentence(words, n) for n, words in enumerate([3, 6, 1, 5, 6, 2, 4])]
    for example, together in zip(examples, k_best(model, examples, 7), strict=True):
        (alone,) = k_best(model, [example], 7)
        assert len(together.log_probs) == min(7, TREES[example.words])
        assert as_dict(together) == pytest.approx(as_dict(alone), abs=1e-9)
        assert len(as_dict(together)) == len(together.log_probs)  # none twice
        for steps, found in as_dict(together).items():
            assert found == pytest.approx(log_prob(model, example, steps), abs=1e-9)


@pytest.mark.parametrize("name", PARSERS)
def test_a_beam_of_one_is_the_models_own_parse(name):
    model, examples = parser(name), [sentence(words, 1) for words in (9, 2, 12, 1, 30)]
    found = [one.transitions[0].tolist() for one in k_best(model, examples, 1)]
    assert found == [steps.tolist() for steps in own_trees(model, examples)]
