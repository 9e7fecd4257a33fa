"""Comparing a runtime with the model, by runtimes whose faults are known."""

import numpy as np
import pytest
from export_models import make_model

from thinstack.core import transitions as shapes
from thinstack.core.forest import Forest, join
from thinstack.errors import ExportError
from thinstack.export.compare import compare, distance
from thinstack.export.samples import Scores, eager_scores, sample_trees

MODEL = make_model("words").eval()
BATCHES = [
    join(sample_trees(MODEL, trees, np.random.default_rng(1)))
    for trees in ([shapes.left(4), shapes.left(1)], [shapes.right(3)])
]


def off_by(error: float, node: int = 0) -> object:
    def run(forest: Forest) -> Scores:
        scores = eager_scores(MODEL, forest)
        scores["node_scores"][node, 1] += error
        return scores

    return run


def test_the_report_holds_the_differences_of_all_scores() -> None:
    report = compare("mine", "1.5", off_by(0.25), MODEL, BATCHES, 0.3)
    counts = report.cases, report.trees, report.nodes
    assert (report.runtime, report.version, counts) == ("mine", "1.5", (2, 3, 13))
    assert report.max_error == pytest.approx(0.25, rel=1e-5)
    assert report.mean_error == pytest.approx(2 * 0.25 / (3 * (13 + 3)), rel=1e-5)


@pytest.mark.parametrize(("error", "shown"), [(0.25, r"0\.25"), (np.nan, "nan"), (np.inf, "inf")])
def test_scores_that_differ_are_refused(error: float, shown: str) -> None:
    with pytest.raises(ExportError, match=f"mine .* {shown} .* 1e-05"):
        compare("mine", "1", off_by(error, node=-1), MODEL, BATCHES, 1e-5)


def test_a_missing_score_is_refused() -> None:
    def run(forest: Forest) -> Scores:
        scores = eager_scores(MODEL, forest)
        return scores | {"node_scores": scores["node_scores"][1:]}

    with pytest.raises(ExportError, match=r"node_scores .*\(7, 3\).*\(8, 3\), for 2 trees"):
        compare("mine", "1", run, MODEL, BATCHES, 1e-5)


def test_differences_of_scores_beyond_1_are_relative() -> None:
    found, wanted = np.array([[0.5, -1700.17]], np.float32), np.array([[0.4, -1700.0]], np.float32)
    np.testing.assert_allclose(distance(found, wanted), [[0.1, 0.17 / 1700]], rtol=1e-3)
