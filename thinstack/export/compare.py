"""Compare what a runtime makes of a model with the model itself.

Two runtimes round differently, so that they may part where two choices of a parser score alike,
and with them all scores after that. So the trees that a runtime makes are given to the model,
which says what each choice was worth and what the scores over them are.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from thinstack.core.forest import Forest
from thinstack.core.transitions import first_fault
from thinstack.errors import ExportError
from thinstack.export.samples import Scores, eager_scores, makes_trees
from thinstack.models import Model
from thinstack.runtime.reference import distance

__all__ = ["Run", "RuntimeReport", "as_given", "compare", "worst_choice"]

Run = Callable[[Forest], Scores]


@dataclass(frozen=True, slots=True)
class RuntimeReport:
    """How far a runtime is from the model: the largest and the mean `distance` of a score, over so
    many batches (`cases`), of so many trees and nodes in all."""

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
    """Run the batches in both; the model must be in evaluation mode. Where it is to make the trees,
    both are compared over those of the runtime.

    `outputs` are those to compare, all that the model gives by default. `on_average` holds the mean
    difference, not the largest, against the tolerance: for a runtime that rounds where the model
    does not, so that a rounding near the border between two choices can move single scores far, and
    of its own trees it is only asked that they are trees.

    Raises ExportError if a score differs by more than `tolerance`, or is missing, if trees are none
    or not the given ones, or a choice in the runtime's own is, to the model, the worse one by more
    than `tolerance`.
    """
    found, cases, trees, nodes = [], 0, 0, 0
    for forest in batches:
        scores = run(forest)
        same = as_given(model, forest, scores)
        chosen = makes_trees(model, forest) and not on_average
        if chosen and not (lost := worst_choice(model, same)) <= tolerance:
            raise ExportError(
                f"the runtime's tree holds a choice that scores {lost:.2g} less than the best one; "
                f"allowed {tolerance:.0e}"
            )
        wanted = eager_scores(model, same)
        for name in outputs or model.output_names:
            if scores[name].shape != wanted[name].shape:
                raise ExportError(
                    f"{name} of shape {scores[name].shape} where the model gives "
                    f"{wanted[name].shape}, for {len(forest.sizes)} trees"
                )
            if name != "parse":
                found.append(distance(scores[name], wanted[name]).ravel())
        cases, trees, nodes = cases + 1, trees + len(forest.sizes), nodes + int(forest.sizes.sum())
    errors = np.concatenate(found)
    largest, mean = float(errors.max(initial=0)), float(errors.mean())
    if not (mean if on_average else largest) <= tolerance:
        error = f"{mean:.2g} on average" if on_average else f"{largest:.2g}"
        raise ExportError(
            f"{runtime} gives scores that differ by {error} from the model's; allowed "
            f"{tolerance:.0e}"
        )
    return RuntimeReport(runtime, version, cases, trees, nodes, largest, mean)


def as_given(model: Model, forest: Forest, found: Scores) -> Forest:
    """The batch, with the trees that a runtime `found` for it if the model has a parser.

    Raises ExportError unless these are one tree for each sentence, and the given ones if there were
    any.
    """
    if not model.parses:
        return forest
    parse = found["parse"]
    if not makes_trees(model, forest):
        if not np.array_equal(parse, forest.transitions):
            raise ExportError("the runtime gives other trees than it was given")
        return forest
    if parse.shape != (nodes := forest.sizes.sum(),):
        raise ExportError(
            f"the runtime gives {parse.shape} transitions where the sentences have {nodes}"
        )
    if fault := first_fault(parse, forest.sizes):
        raise ExportError(f"the runtime makes no tree of sentence {fault[0]}: {fault[1]}")
    return forest._replace(transitions=parse.astype(np.int64))


def worst_choice(model: Model, forest: Forest) -> float:
    """The encoder's `worst_choice` of these trees."""
    with torch.no_grad():
        joint = model.joint(model.inputs(forest))
        taken = torch.from_numpy(forest.transitions)
        return model.encoder.worst_choice(joint.choices, joint.free, taken)
