"""Runtimes with known faults, compared with the model: their scores and their trees."""

import copy
from functools import partial

import numpy as np
import pytest
import torch
from export_models import make_model
from plain_parts import PlainCell, plain_spinn

from thinstack.core import transitions as shapes
from thinstack.core.forest import Forest, join
from thinstack.errors import ExportError
from thinstack.export.compare import as_given, compare, own_rounding, worst_choice
from thinstack.export.samples import eager_scores, sample_trees
from thinstack.runtime.reference import distance

MODEL = make_model("words").eval()
BATCHES = [
    join(sample_trees(MODEL, trees, np.random.default_rng(1)))
    for trees in ([shapes.left(4), shapes.left(1)], [shapes.right(3)])
]
PARSER = plain_spinn(PlainCell(2, inner=True))
SENTENCES = Forest(token_ids=np.arange(9), lengths=np.array([5, 1, 3]), sizes=np.array([9, 1, 5]))
OWN = eager_scores(PARSER, SENTENCES)["parse"].tolist()
LEFT, RIGHT = [0, 0, 1, 0, 1], [0, 0, 0, 1, 1]
OTHER = OWN[:10] + (LEFT if OWN[10:] == RIGHT else RIGHT)
"""The model's own trees but for the last sentence, of which there are two."""


def off_by(error, model=MODEL, node=0):
    def run(forest):
        scores = eager_scores(model, forest)
        scores["node_scores"][node, 1] += error
        return scores

    return run


def without_a_row(forest):
    scores = eager_scores(MODEL, forest)
    return scores | {"node_scores": scores["node_scores"][1:]}


def over(trees):
    """A runtime that makes these trees, and scores them as the model does."""
    return lambda forest: eager_scores(PARSER, forest._replace(transitions=np.array(trees)))


def parsed(steps):
    return {"parse": np.array(steps, np.int32)}


def test_the_report_holds_the_differences_of_all_scores():
    report = compare("mine", "1.5", off_by(0.25), MODEL, BATCHES, 0.3)
    counts = report.cases, report.trees, report.nodes
    assert (report.runtime, report.version, counts) == ("mine", "1.5", (2, 3, 13))
    assert report.max_error == pytest.approx(0.25, rel=1e-5)
    assert report.mean_error == pytest.approx(2 * 0.25 / (3 * (13 + 3)), rel=1e-5)


@pytest.mark.parametrize(
    ("run", "model", "message"),
    [
        (off_by(0.25, node=-1), MODEL, r"mine's .* 0\.25.* limit is 1e-05"),
        (off_by(np.nan, node=-1), MODEL, "mine's .* nan.* limit is 1e-05"),
        (off_by(np.inf, node=-1), MODEL, "mine's .* inf.* limit is 1e-05"),
        (without_a_row, MODEL, r"for 2 trees, .*node_scores .*\(7, 3\).*\(8, 3\)"),
        (over(OTHER), PARSER, "less than the best one; the limit is 1e-05"),
        (off_by(0.01, PARSER), PARSER, "mine's scores differ"),
    ],
)
def test_a_runtime_that_differs_is_refused(run, model, message):
    batches = BATCHES if model is MODEL else [SENTENCES]
    with pytest.raises(ExportError, match=message):
        compare("mine", "1", run, model, batches, 1e-5)


def test_a_runtime_may_round_as_much_as_the_model_does():
    """Logits that are all greater by 1,000 have the same probabilities, but fewer digits for
    them. Without that, the same difference is an error."""
    wide = copy.deepcopy(MODEL)
    with torch.no_grad():
        wide.head.linear.bias.add_(1000.0)
    own = max(own_rounding(wide, batch) for batch in BATCHES)
    assert 1e-6 < own < 1e-4
    assert max(own_rounding(MODEL, batch) for batch in BATCHES) < own / 20
    assert compare("mine", "1", off_by(2 * own, wide), wide, BATCHES, 1e-7).max_error > own
    for model in (wide, MODEL):
        with pytest.raises(ExportError, match="mine's scores differ"):
            compare("mine", "1", off_by(6 * own, model), model, BATCHES, 1e-7)


def test_each_batch_is_judged_by_what_the_model_rounds_in_it(monkeypatch):
    """A difference on three words is no better for a model that rounds much over others."""
    of = {3: 0.0, 5: 1.0}
    monkeypatch.setattr(
        "thinstack.export.compare.own_rounding", lambda model, forest: of[int(forest.lengths.sum())]
    )
    for batches in (BATCHES, BATCHES[::-1]):
        with pytest.raises(ExportError, match=r"by 0\.005.* limit is 1e-04"):
            compare("mine", "1", off_by(0.005), MODEL, batches, 1e-4)
    assert compare("mine", "1", off_by(0.005), MODEL, BATCHES[:1], 1e-4).cases == 1


def test_a_model_that_rounds_everything_away_is_refused():
    wide = copy.deepcopy(MODEL)
    with torch.no_grad():
        wide.head.linear.bias.add_(1e7)
    assert max(own_rounding(wide, batch) for batch in BATCHES) > 0.01
    with pytest.raises(ExportError, match=r"by 0\.02.* limit is 1e-02"):
        compare("mine", "1", off_by(0.02, wide), wide, BATCHES, 1e-7)


def test_differences_of_scores_beyond_1_are_relative():
    found, wanted = np.array([[0.5, -1700.17]], np.float32), np.array([[0.4, -1700.0]], np.float32)
    np.testing.assert_allclose(distance(found, wanted), [[0.1, 0.17 / 1700]], rtol=1e-3)


def test_a_runtime_is_compared_over_its_own_trees():
    against = partial(compare, "mine", "1", model=PARSER, batches=[SENTENCES])
    assert against(over(OWN), tolerance=1e-5).nodes == 15
    # Were the choice within tolerance, its scores would be right over the trees that it made.
    assert against(over(OTHER), tolerance=10).max_error < 1e-6


@pytest.mark.parametrize("scale", [0.01, 20])
def test_a_choice_is_as_bad_as_it_scores_less(scale):
    """Relative to scores beyond 1."""
    model = copy.deepcopy(PARSER)
    with torch.no_grad():
        model.encoder.tracker.w_transition.mul_(scale)
        model.encoder.tracker.b_transition.mul_(scale)
    assert worst_choice(model, as_given(PARSER, SENTENCES, parsed(OWN))) < 0
    # The other tree differs by the third transition of five, its only choice, after the same two
    # words.
    wrong = as_given(PARSER, SENTENCES, parsed(OTHER))
    with torch.no_grad():
        scores = model.joint(model.inputs(wrong)).choices[12].numpy()
    assert (np.abs(scores).max() > 1) == (scale > 1)
    lost = np.abs(np.diff(scores)).item() / (np.abs(scores).max() if scale > 1 else 1)
    assert worst_choice(model, wrong) == pytest.approx(lost, rel=1e-5)
