"""Compare what a runtime makes of a model with the model itself."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from thinstack.errors import ExportError
from thinstack.export.samples import Inputs, Scores, eager_scores, forest_size
from thinstack.models import Model

__all__ = ["Run", "RuntimeReport", "compare", "differences", "distance"]

Run = Callable[[Inputs], Scores]


@dataclass(frozen=True, slots=True)
class RuntimeReport:
    """How far a runtime is from the model: the largest and the mean difference of a score, relative where scores exceed 1.

    `cases`, `trees` and `nodes` are what was compared: so many batches, of so many trees and nodes in all.
    """

    runtime: str
    version: str
    cases: int
    trees: int
    nodes: int
    max_error: float
    mean_error: float


def compare(runtime: str, version: str, run: Run, model: Model, batches: Iterable[Inputs], tolerance: float) -> RuntimeReport:
    """Run the batches in both. The model must be in evaluation mode.

    Raises ExportError if a score differs by more than `tolerance`, or is missing.
    """
    errors, cases, trees, nodes = differences(run, model, batches)
    report = RuntimeReport(runtime, version, cases, trees, nodes, float(errors.max(initial=0)), float(errors.mean()))
    if not report.max_error <= tolerance:
        raise ExportError(
            f"{runtime} gives scores that differ by {report.max_error:.2g} from the model's; allowed {tolerance:.0e}"
        )
    return report


def distance(found: NDArray[np.float32], wanted: NDArray[np.float32]) -> NDArray[np.float64]:
    """Difference of each score; relative to a score beyond 1, such as that of a whole tree, for so are its rounding errors."""
    exact = wanted.astype(np.float64)
    scaled: NDArray[np.float64] = np.abs(found - exact) / np.maximum(1, np.abs(exact))
    return scaled


def differences(run: Run, model: Model, batches: Iterable[Inputs]) -> tuple[NDArray[np.float64], int, int, int]:
    """Differences of all scores as `distance` has them, and the number of batches, trees and nodes.

    Raises ExportError if the shapes of scores differ.
    """
    found, cases, trees, nodes = [], 0, 0, 0
    for inputs in batches:
        size, scores = forest_size(inputs), run(inputs)
        for name, wanted in eager_scores(model, inputs).items():
            if scores[name].shape != wanted.shape:
                raise ExportError(
                    f"{name} of shape {scores[name].shape} where the model gives {wanted.shape}, for {size[0]} trees"
                )
            found.append(distance(scores[name], wanted).ravel())
        cases, trees, nodes = cases + 1, trees + size[0], nodes + size[1]
    return np.concatenate(found), cases, trees, nodes
