"""Comparison of a runtime with the model. Runtimes round differently, so they may choose different
trees if two choices of a parser score alike, which changes all later scores. The model therefore
scores the runtime's trees, and rates each of its choices. Reference cases are inputs with the
scores that every runtime in every language must return."""

import copy
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray

from thinstack.core import transitions as shapes
from thinstack.core.config import SCHEMA_VERSION, ModelConfig
from thinstack.core.forest import Forest, join, without_trees
from thinstack.core.model.model import Model
from thinstack.core.transitions import first_fault
from thinstack.errors import ExportError
from thinstack.export.quantize import Quantize, dequantised
from thinstack.export.samples import (
    Scores,
    as_texts,
    eager_scores,
    makes_trees,
    random_tree,
    sample_trees,
)
from thinstack.runtime.reference import TOLERANCE, distance, numbers

Run = Callable[[Forest], Scores]

ROUNDING_FACTOR: Final = 4
"""Allowed difference as a multiple of the model's own rounding error in float32."""
HARD_LIMIT: Final = 1e-2
"""Limit of the allowed difference; that of a wrong graph is larger."""


@dataclass(frozen=True, slots=True)
class RuntimeReport:
    """The differences between the scores of a runtime and the model's, over some batches."""

    runtime: str
    version: str
    cases: int  # batches
    trees: int
    nodes: int
    max_error: float  # the largest `thinstack.runtime.reference.distance` of a score
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
    """Compare a runtime with the model, which must be in evaluation mode. If the model should
    predict the trees, both use those of the runtime.

    Args:
        runtime, version: names for the report.
        run: returns the runtime's outputs for a batch.
        model, batches: the model and its inputs.
        tolerance: the largest difference allowed, or if the model itself rounds more in a batch,
            `ROUNDING_FACTOR` times its rounding error, up to `HARD_LIMIT`.
        outputs: names of the outputs to compare; by default those of the model.
        on_average: limit the mean difference, for a runtime that rounds where the model does not,
            which moves single scores far near the border between two choices.

    Raises ExportError if a score differs by more or is missing, or if the runtime returns no trees,
    or not the input trees. Unless `on_average`, no choice in its own trees may score less, by the
    model, than the best one by more than `tolerance`.
    """
    by_batch, sizes = [], []
    for forest in batches:
        scores = run(forest)
        same = as_given(model, forest, scores)
        chosen = makes_trees(model, forest) and not on_average
        if chosen and not (lost := worst_choice(model, same)) <= tolerance:
            raise ExportError(
                f"{runtime} made a parsing choice that scores {lost:.2g} less than the best "
                f"one; the limit is {tolerance:.0e}"
            )
        wanted = eager_scores(model, same)
        names = outputs or model.output_names
        errors = _errors(runtime, names, scores, wanted, trees=len(forest.sizes))
        largest = float(errors.max(initial=0))
        if not on_average and not largest <= tolerance:
            allowed = max(tolerance, min(ROUNDING_FACTOR * own_rounding(model, same), HARD_LIMIT))
            _check(runtime, largest, allowed)
        by_batch.append(errors)
        sizes.append(forest.sizes)
    errors, nodes = np.concatenate(by_batch), np.concatenate(sizes)
    largest, mean = float(errors.max(initial=0)), float(errors.mean())
    if on_average:
        _check(runtime, mean, tolerance, " on average")
    counts = len(sizes), len(nodes), int(nodes.sum())
    return RuntimeReport(runtime, version, *counts, largest, mean)


def _errors(
    runtime: str, names: Sequence[str], scores: Scores, wanted: Scores, *, trees: int
) -> NDArray[np.float64]:
    """Return the `distance` of each score of a batch from the expected one."""
    for name in names:
        if scores[name].shape != wanted[name].shape:
            raise ExportError(
                f"for {trees} trees, {runtime} returns {name} of shape {scores[name].shape}; "
                f"the model returns {wanted[name].shape}"
            )
    parts = [distance(scores[name], wanted[name]).ravel() for name in names if name != "parse"]
    return np.concatenate(parts)


def _check(runtime: str, error: float, allowed: float, kind: str = "") -> None:
    if not error <= allowed:
        raise ExportError(
            f"{runtime}'s scores differ from the model's by {error:.2g}{kind}; the limit is "
            f"{allowed:.0e}"
        )


def own_rounding(model: Model, forest: Forest) -> float:
    """Return the largest `distance` of the model's float32 from its float64 scores."""
    exact = eager_scores(copy.deepcopy(model).double(), forest)
    scores = eager_scores(model, forest)
    return float(_errors("the model", [*exact], scores, exact, trees=0).max(initial=0))


def as_given(model: Model, forest: Forest, scores: Scores) -> Forest:
    """Return the batch with the trees in a runtime's `scores`, if the model has a parser. Raises
    ExportError unless they are a tree for each sentence, and the trees of the batch if any."""
    if not model.parses:
        return forest
    parse = scores["parse"]
    if not makes_trees(model, forest):
        if not np.array_equal(parse, forest.transitions):
            raise ExportError("the runtime changes its input trees")
        return forest
    if parse.shape != (nodes := forest.sizes.sum(),):
        raise ExportError(
            f"expected {nodes} transitions from the runtime, found shape {parse.shape}"
        )
    if fault := first_fault(parse, forest.sizes):
        raise ExportError(f"the runtime cannot parse sentence {fault[0]}: {fault[1]}")
    return forest._replace(transitions=parse.astype(np.int64))


def worst_choice(model: Model, forest: Forest) -> float:
    """Return the encoder's `worst_choice` for the trees of a batch."""
    with torch.no_grad():
        joint = model.joint(model.inputs(forest))
        taken = torch.from_numpy(forest.sentence_transitions)
        return model.encoder.worst_choice(joint.choices, joint.free, taken)


# The margin by which the better transition should score more, and how often to draw words for it.
LEAD, DRAWS = 1e-2, 30


def reference_cases(
    model: Model, config: ModelConfig, *, quantize: Quantize = "none"
) -> dict[str, Any]:
    """Return a few inputs and the scores that any runtime must return for them, as data for JSON: a
    dict of `schema_version`, `labels`, `tolerance` and `cases`, each {"inputs": {name: [...]},
    "outputs": {name: [[...]]}}.

    A model with a parser gets each input twice: with trees, and with words whose trees it predicts
    without much doubt. If it joins sentences, there is also a batch of texts. Raises ExportError as
    `dequantised` does.
    """
    generator = np.random.default_rng(0)
    rounded = dequantised(model, quantize)
    forests = [
        [shapes.left(1)],
        [shapes.balanced(5)],
        [random_tree(9, generator), shapes.left(1), shapes.right(4), shapes.left(3)],
    ]
    batches = []
    for forest in forests:
        batches.append(join(sample_trees(rounded, forest, generator)))
        if rounded.parses:
            batches.append(_clear(rounded, forest, generator))
    if rounded.encoder.joins:
        batches.append(as_texts(_clear(rounded, forests[-1], generator), [1, 2, 0, 0]))
    cases = [
        {
            "inputs": {key: one.tolist() for key, one in batch.inputs(rounded.input_names).items()},
            "outputs": {key: numbers(one) for key, one in eager_scores(rounded, batch).items()},
        }
        for batch in batches
    ]
    return {
        "schema_version": SCHEMA_VERSION,
        "labels": list(config.labels),
        "tolerance": TOLERANCE,
        "cases": cases,
    }


def _clear(
    model: Model, forest: Sequence[NDArray[np.int8]], generator: np.random.Generator
) -> Forest:
    """Return sentences as long as these: of some random ones, those with the clearest own trees."""
    clearest, least = Forest(), np.inf
    for _ in range(DRAWS):
        inputs = without_trees(join(sample_trees(model, forest, generator)))
        lost = worst_choice(model, as_given(model, inputs, eager_scores(model, inputs)))
        if lost < least:
            clearest, least = inputs, lost
        if least < -LEAD:
            break
    return clearest
