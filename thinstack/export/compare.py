"""Compare what a runtime makes of a model with the model itself."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from thinstack.core.forest import Forest
from thinstack.errors import ExportError
from thinstack.export.own_parse import as_given, worst_choice
from thinstack.export.samples import Scores, eager_scores, makes_trees
from thinstack.models import Model

__all__ = ["Run", "RuntimeReport", "compare", "differences", "distance"]

Run = Callable[[Forest], Scores]


@dataclass(frozen=True, slots=True)
class RuntimeReport:
    """How far a runtime is from the model: the largest and the mean difference of a score, relative
    where scores exceed 1.

    `cases`, `trees` and `nodes` are what was compared: so many batches, of so many trees and nodes
    in all.
    """

    runtime: str
    version: str
    cases: int
    trees: int
    nodes: int
    max_error: float
    mean_error: float


def compare(
    runtime: str,
    version: str,
    run: Run,
    model: Model,
    batches: Iterable[Forest],
    tolerance: float,
    *,
    outputs: Sequence[str] | None = None,
    on_average: bool = False,
) -> RuntimeReport:
    """Run the batches in both. The model must be in evaluation mode; see `differences` for one that
    makes its trees itself.

    `outputs` are those to compare, all that the model gives by default. `on_average` holds the mean
    difference, not the largest, against the tolerance: for a runtime that rounds where the model
    does not, so that a rounding near the border between two choices can move single scores far, and
    of its own trees it is only asked that they are trees.

    Raises ExportError if a score differs by more than `tolerance`, or is missing, if trees are none
    or not the given ones, or a choice in the runtime's own is, to the model, the worse one by more
    than `tolerance`.
    """
    errors, cases, trees, nodes = differences(
        run, model, batches, np.inf if on_average else tolerance, outputs
    )
    report = RuntimeReport(
        runtime, version, cases, trees, nodes, float(errors.max(initial=0)), float(errors.mean())
    )
    error = report.mean_error if on_average else report.max_error
    if not error <= tolerance:
        kind = " on average" if on_average else ""
        raise ExportError(
            f"{runtime} gives scores that differ by {error:.2g}{kind} from the model's; allowed "
            f"{tolerance:.0e}"
        )
    return report


def distance(found: NDArray[np.float32], wanted: NDArray[np.float32]) -> NDArray[np.float64]:
    """Difference of each score; relative to a score beyond 1, such as that of a whole tree, for so
    are its rounding errors."""
    exact = wanted.astype(np.float64)
    scaled: NDArray[np.float64] = np.abs(found - exact) / np.maximum(1, np.abs(exact))
    return scaled


def differences(
    run: Run,
    model: Model,
    batches: Iterable[Forest],
    tolerance: float,
    outputs: Sequence[str] | None = None,
) -> tuple[NDArray[np.float64], int, int, int]:
    """Differences of all scores as `distance` has them, and the number of batches, trees and nodes.

    Where the model is to make the trees, both are compared over those of the runtime. Raises
    ExportError if the shapes of scores differ, for trees that are none or not the given ones, and
    for a choice in the runtime's own that to the model is the worse one by more than `tolerance`.
    """
    found, cases, trees, nodes = [], 0, 0, 0
    for forest in batches:
        scores, same = run(forest), forest
        if model.parses:
            same = as_given(model, forest, scores)
            if makes_trees(model, forest):
                _check_choices(model, same, tolerance)
        wanted = eager_scores(model, same)
        for name in outputs or model.output_names:
            if scores[name].shape != wanted[name].shape:
                raise ExportError(
                    f"{name} of shape {scores[name].shape} where the model gives "
                    f"{wanted[name].shape}, for {len(forest.sizes)} trees"
                )
            if name != "parse":
                found.append(distance(scores[name], wanted[name]).ravel())
        cases, trees = cases + 1, trees + len(forest.sizes)
        nodes += int(forest.sizes.sum())
    return np.concatenate(found), cases, trees, nodes


def _check_choices(model: Model, forest: Forest, tolerance: float) -> None:
    lost = worst_choice(model, forest)
    if not lost <= tolerance:
        raise ExportError(
            f"the runtime takes a transition that scores {lost:.2g} less than the other one; "
            f"allowed {tolerance:.0e}"
        )
