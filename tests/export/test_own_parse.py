"""Trees that a runtime makes, right and wrong ones."""

import copy

import numpy as np
import pytest
import torch
from plain_parts import PlainCell, plain_spinn

from thinstack.core.forest import Forest
from thinstack.errors import ExportError
from thinstack.export.compare import as_given, compare, worst_choice
from thinstack.export.samples import Scores, eager_scores

MODEL = plain_spinn(PlainCell(2, inner=True))
SENTENCES = Forest(token_ids=np.arange(9), lengths=np.array([5, 1, 3]), sizes=np.array([9, 1, 5]))
TREES = [0, 0, 1, 0, 0, 1, 1, 0, 1, *[0], *[0, 0, 0, 1, 1]]


def parsed(steps: list[int]) -> Scores:
    return {"parse": np.array(steps, np.int32)}


def test_trees_are_given_as_they_were_found() -> None:
    found = as_given(MODEL, SENTENCES, parsed(TREES))
    assert found.transitions.tolist() == TREES
    assert found.transitions.dtype == np.int64
    assert found.token_ids is SENTENCES.token_ids
    assert as_given(MODEL, found, parsed(TREES)) is found


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        (TREES[:-1], r"gives \(14,\) transitions where the sentences have 15"),
        ([*TREES[:9], 1, *TREES[10:]], "makes no tree of sentence 1: .*REDUCE"),
        ([0, 1, 0, *TREES[3:]], "makes no tree of sentence 0: .*fewer than two"),
        (
            [*TREES[:10], 0, 0, 1, 0, 0],
            "makes no tree of sentence 2: transition 4 .* leaves 3 nodes",
        ),
        ([*TREES[:10], 0, 0, 2, 0, 1], "makes no tree of sentence 2: transition 2 is 2"),
    ],
)
def test_what_is_no_tree_is_refused(steps: list[int], message: str) -> None:
    with pytest.raises(ExportError, match=message):
        as_given(MODEL, SENTENCES, parsed(steps))


def test_given_trees_are_to_be_kept() -> None:
    given = SENTENCES._replace(transitions=np.array(TREES))
    with pytest.raises(ExportError, match="other trees than it was given"):
        as_given(MODEL, given, parsed([*TREES[:10], 0, 0, 1, 0, 1]))


def own_parse() -> list[int]:
    return eager_scores(MODEL, SENTENCES)["parse"].tolist()


def other_trees() -> list[int]:
    """The model's own trees but for the last sentence, of which there are two."""
    return own_parse()[:10] + (
        [0, 0, 1, 0, 1] if own_parse()[10:] == [0, 0, 0, 1, 1] else [0, 0, 0, 1, 1]
    )


@pytest.mark.parametrize("scale", [0.01, 10])
def test_a_choice_is_as_bad_as_it_scores_less(scale: float) -> None:
    """Relative to scores beyond 1."""
    model = copy.deepcopy(MODEL)
    with torch.no_grad():
        model.encoder.tracker.w_transition.mul_(scale)
        model.encoder.tracker.b_transition.mul_(scale)
    assert worst_choice(model, as_given(MODEL, SENTENCES, parsed(own_parse()))) < 0
    # The other tree differs by the third transition of five, its only choice, after the same two
    # words.
    wrong = as_given(MODEL, SENTENCES, parsed(other_trees()))
    with torch.no_grad():
        scores = model.joint(model.inputs(wrong)).choices[12].numpy()
    assert (np.abs(scores).max() > 1) == (scale > 1)
    lost = np.abs(np.diff(scores)).item() / (np.abs(scores).max() if scale > 1 else 1)
    assert worst_choice(model, wrong) == pytest.approx(lost, rel=1e-5)


def test_where_there_is_no_choice_nothing_is_lost() -> None:
    forest = Forest(
        token_ids=np.arange(3), lengths=np.array([1, 2]), transitions=np.array([0, 0, 0, 1])
    )
    assert worst_choice(MODEL, forest) == -np.inf


def over(trees: list[int]) -> object:
    """A runtime that makes these trees, and scores them as the model does."""
    return lambda forest: eager_scores(MODEL, forest._replace(transitions=np.array(trees)))


def test_a_runtime_is_compared_over_its_own_trees() -> None:
    assert compare("mine", "1", over(own_parse()), MODEL, [SENTENCES], 1e-5).nodes == 15
    with pytest.raises(ExportError, match=r"less than the other one; allowed 1e-05"):
        compare("mine", "1", over(other_trees()), MODEL, [SENTENCES], 1e-5)
    # Were the difference within tolerance, its scores would be right over the trees that it made.
    assert compare("mine", "1", over(other_trees()), MODEL, [SENTENCES], 10).max_error < 1e-6


def test_scores_over_its_own_trees_are_to_be_the_models() -> None:
    def run(forest: Forest) -> Scores:
        scores = eager_scores(MODEL, forest)
        return scores | {"node_scores": scores["node_scores"] + np.float32(0.01)}

    with pytest.raises(ExportError, match="mine gives scores that differ by"):
        compare("mine", "1", run, MODEL, [SENTENCES], 1e-5)
