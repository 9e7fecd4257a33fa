"""Models with a parser of distances, over given and own trees, and what the parser learns."""

import math

import numpy as np
import pytest
import torch

from thinstack.core.config import ModelConfig
from thinstack.core.transitions import breaks_of, over, right, spans_of
from thinstack.errors import ConfigError
from thinstack.plugins.build import build_model

LENGTHS = [4, 1, 7, 2]
CONFIG = {
    "labels": ["bad", "so-so", "good"],
    "embedding": {"kind": "words", "size": 6},
    "cell": {"name": "nary_lstm.v1", "hidden_size": 5},
    "head": {"name": "node_classifier.v1", "options": {"dropout": 0.0}},
}
PARSER = {"name": "distances.v1", "options": {"width": 8, "lstm": 6, "hidden": 9}}


def config_of(**fields):
    own = fields if "parser" in fields else {"parser": PARSER, "aggregation": "tree", **fields}
    return ModelConfig.parse({**CONFIG, **own}, source="test")


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    model = build_model(config_of(), entries=20).double().eval()
    with torch.no_grad():
        for weight in model.parameters():
            weight.uniform_(-0.9, 0.9)
    return model


def trees_of(lengths):
    return torch.from_numpy(np.concatenate([right(n) for n in lengths]).astype(np.int64))


@pytest.fixture
def inputs():
    words = np.random.default_rng(1).integers(0, 20, sum(LENGTHS))
    none = torch.zeros(0, dtype=torch.long)
    inputs = {"token_ids": torch.from_numpy(words), "lengths": torch.tensor(LENGTHS)}
    return inputs | {"breaks": torch.zeros(len(LENGTHS), dtype=torch.long), "transitions": none}


@pytest.fixture
def given(inputs):
    """With trees."""
    return inputs | {"transitions": trees_of(LENGTHS)}


def distances_of(model, inputs):
    """Of the gaps of each sentence."""
    found = model.encoder.parser(model.embed(inputs), inputs["lengths"])
    return [each.tolist()[:-1] for each in found.split(LENGTHS)]


def test_choose_trees_gives_the_trees_of_forward_and_composes_nothing(
    model, inputs, given, monkeypatch
):
    texts = inputs | {"breaks": torch.tensor([2, 0, 1, 0])}  # of two sentences each
    wanted = [model(each)["parse"] for each in (inputs, given, texts)]
    assert len(texts) == len(inputs)
    assert [len(each) for each in wanted] == [24, 24, 26]
    assert wanted[0].tolist() != wanted[1].tolist()
    monkeypatch.setattr(model.encoder.encoder, "encode", lambda *_: pytest.fail("it composed"))
    found = [model.choose_trees(each) for each in (inputs, given, texts)]
    assert all(map(torch.equal, found, wanted))
    inputs["lengths"][1] = 0
    with pytest.raises(ValueError, match="lengths must be at least 1"):
        model.choose_trees(inputs)


def test_scores_are_those_of_the_same_encoder_without_a_parser(model, inputs, given):
    plain = build_model(config_of(parser=None), entries=20).double().eval()
    state = {
        name.replace("encoder.encoder.", "encoder."): v for name, v in model.state_dict().items()
    }
    plain.load_state_dict({name: v for name, v in state.items() if ".parser." not in name})
    assert torch.equal(model(given)["parse"], given["transitions"])
    for each in (inputs, given):
        found = model(each)
        for name, scores in plain({**each, "transitions": found["parse"]}).items():
            torch.testing.assert_close(found[name], scores, rtol=0, atol=1e-14)


TEXTS = [*breaks_of(right(3)), 0]
"""The first three sentences are a text."""


def of_text(inputs):
    return inputs | {"breaks": torch.tensor(TEXTS)}


def test_a_text_is_a_tree_over_the_trees_of_its_sentences(model, inputs):
    alone, found = model(inputs), model(of_text(inputs))
    parses = alone["parse"].split([2 * n - 1 for n in LENGTHS])
    first = over(right(3), [parse.numpy() for parse in parses[:3]])
    np.testing.assert_array_equal(found["parse"], np.concatenate([first, parses[3]]))
    words = sum(LENGTHS[:3])
    own = np.arange(2 * words - 1)[:-2]  # the two that join stand last
    rows = np.concatenate([own, np.arange(2 * words - 1, len(found["parse"]))])
    torch.testing.assert_close(found["node_scores"][rows], alone["node_scores"], rtol=0, atol=1e-14)
    assert found["root_scores"].shape == (2, 3)
    given = model({**of_text(inputs), "transitions": found["parse"]})
    torch.testing.assert_close(given["node_scores"], found["node_scores"], rtol=0, atol=1e-14)


def by_hand(distances, transitions):
    """Loss, right cuts and cases, node by node."""
    loss, right, cases = 0.0, 0, 0
    for gaps, steps in zip(distances, transitions.split([2 * n - 1 for n in LENGTHS]), strict=True):
        spans = spans_of(steps.numpy())
        for node, step in enumerate(steps.tolist()):
            start, end = spans[node]
            if step == 1 and end - start > 2:
                span, cut = gaps[start : end - 1], gaps[spans[node - 1][0] - 1]
                loss += math.log(sum(map(math.exp, span))) - cut
                right, cases = right + (cut == max(span)), cases + 1
    return loss, right, cases


def test_the_loss_is_that_of_each_spans_cut(model, inputs, given):
    joint = model.joint(given)
    found = model.encoder.judge(joint.choices, joint.free, given["transitions"])
    loss, right, cases = by_hand(distances_of(model, given), given["transitions"])
    assert cases == 2 + 5
    assert (found.right, found.cases) == (right, cases)
    assert found.loss.item() == pytest.approx(loss, abs=1e-12)
    own = model(inputs)["parse"]
    found = model.encoder.judge(joint.choices, joint.free, own)
    assert found.right == found.cases > 0
    none = model.encoder.judge(joint.choices[:0], joint.free, own[:0])
    assert (none.loss.item(), none.right, none.cases) == (0, 0, 0)


def test_the_worst_choice(model, inputs, given):
    joint = model.joint(given)
    worst = -math.inf
    for gaps, n in zip(distances_of(model, given), LENGTHS, strict=True):
        for start in range(n - 2):  # right-branching: cut after the first word
            best = max(gaps[start:])
            worst = max(worst, (best - gaps[start] - 1 / 16) / max(1, abs(best)))
    found = model.encoder.worst_choice(joint.choices, joint.free, given["transitions"])
    assert found == pytest.approx(worst, abs=1e-12)
    own = model(inputs)["parse"]
    assert model.encoder.worst_choice(joint.choices, joint.free, own) <= 0
    assert model.encoder.worst_choice(joint.choices[:0], joint.free, own[:0]) == -math.inf


@pytest.mark.filterwarnings("ignore:`torch.jit.script` is:DeprecationWarning")
def test_scripted(model, inputs, given):
    scripted = torch.jit.script(model)
    for each in (given, inputs, of_text(inputs)):
        for name, found in scripted(each).items():
            torch.testing.assert_close(found, model(each)[name], rtol=0, atol=1e-14)


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"lengths": torch.tensor([4, 1, 7, 1])}, "13"),
        ({"lengths": torch.tensor([4, 0, 8, 2])}, "at least 1"),
        ({"transitions": torch.tensor([0, 1])}, "REDUCE"),
        ({"breaks": torch.tensor([1, 0])}, "expected 4 breaks, .* found 2"),
        ({"breaks": torch.tensor([])}, "expected 4 breaks, .* found 0"),
        ({"breaks": torch.tensor([1, 0, 1, 1])}, "the last break must be 0 .* found 1"),
        ({"breaks": torch.tensor([0, -1, 0, 0])}, "found -1 to 0"),
        ({"breaks": torch.tensor([0, 61_441, 0, 0])}, "between 0 and 61440, found 0 to 61441"),
        (
            {"breaks": torch.tensor([0, 1, 0, 0]), "transitions": trees_of(LENGTHS)},
            "lengths and transitions disagree",
        ),
        ({"transitions": trees_of([5, 7, 2])}, "lengths and transitions disagree"),
    ],
)
def test_refused(model, inputs, change, found):
    with pytest.raises(ValueError, match=found):
        model({**inputs, **change})


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ({"trees": "dependency"}, "dependency"),
        ({"encoder": {"tracker": {"size": 3}}}, "with an encoder.tracker"),
        ({"parser": None, "encoder": {"name": "spinn.v1"}}, "the tracker table"),
        ({"parser": None, "tree_source": "self"}, "needs a parser"),
        ({"parser": None, "aggregation": "tree"}, "aggregation = 'tree' needs a parser"),
    ],
)
def test_configurations_that_are_refused(fields, found):
    with pytest.raises(ConfigError, match=found):
        config_of(**fields)
