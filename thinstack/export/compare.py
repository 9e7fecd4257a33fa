"""Compare what a runtime makes of a model with the model itself.

Two runtimes round differently. So they may make different trees where two choices of a parser score
alike, and then all later scores differ too. The comparison therefore gives the runtime's trees to
the model. The model says what each choice was worth, and which scores belong to these trees.

Reference cases are inputs, and the scores that every runtime in every language must give for them.
"""

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
from thinstack.runtime.reference import distance, numbers

Run = Callable[[Forest], Scores]

ROUNDING_FACTOR: Final = 4
"""A runtime may differ by this many times the model's own loss in float32: both round, each in its
own order."""
HARD_LIMIT: Final = 1e-2
"""No larger difference is ever allowed. A wrong graph differs by more."""


@dataclass(frozen=True, slots=True)
class RuntimeReport:
    """How far the scores of a runtime are from the model's, over some batches.

    Attributes:
        runtime, version: the runtime.
        cases: number of batches.
        trees, nodes: number of trees and of nodes in all batches.
        max_error, mean_error: the largest and the mean `thinstack.runtime.reference.distance` of a
            score.
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
    """How far a runtime is from the model, which must be in evaluation mode. Both score the
    batches; if the model is to make the trees, both use the trees of the runtime.

    Args:
        runtime, version: names for the report.
        run: gives the runtime's outputs for a batch.
        model: the model.
        batches: what is scored.
        tolerance: the largest difference of a score that is allowed. In a batch where the model
            itself rounds more, as a trained one may over hundreds of words, `ROUNDING_FACTOR`
            times that is allowed, but never more than `HARD_LIMIT`.
        outputs: names of the outputs to compare; by default all that the model gives.
        on_average: compare the mean difference with the tolerance, not the largest one. This is for
            a runtime that rounds where the model does not: rounding near the border between two
            choices can move single scores far. Its own trees must then be trees, and nothing more.

    Raises ExportError if a score differs by more than is allowed, or is missing. Raises it too if
    the runtime gives no trees, or not the given ones. If it makes trees of its own, no choice in
    them may score less, by the model, than the best one by more than `tolerance`.
    """
    by_batch, cases, trees, nodes = [], 0, 0, 0
    for forest in batches:
        scores = run(forest)
        same = as_given(model, forest, scores)
        chosen = makes_trees(model, forest) and not on_average
        if chosen and not (lost := worst_choice(model, same)) <= tolerance:
            raise ExportError(
                f"{runtime} parses a tree with a choice that scores {lost:.2g} less than the "
                f"best one; allowed {tolerance:.0e}"
            )
        wanted = eager_scores(model, same)
        names = outputs or model.output_names
        errors = _errors(runtime, names, scores, wanted, trees=len(forest.sizes))
        largest = float(errors.max(initial=0))
        if not on_average and not largest <= tolerance:
            allowed = max(tolerance, min(ROUNDING_FACTOR * own_rounding(model, same), HARD_LIMIT))
            _check(runtime, largest, allowed)
        by_batch.append(errors)
        cases, trees, nodes = cases + 1, trees + len(forest.sizes), nodes + int(forest.sizes.sum())
    errors = np.concatenate(by_batch)
    largest, mean = float(errors.max(initial=0)), float(errors.mean())
    if on_average:
        _check(runtime, mean, tolerance, " on average")
    return RuntimeReport(runtime, version, cases, trees, nodes, largest, mean)


def _errors(
    runtime: str, names: Sequence[str], scores: Scores, wanted: Scores, *, trees: int
) -> NDArray[np.float64]:
    """The `distance` of each score of a batch from the wanted one."""
    for name in names:
        if scores[name].shape != wanted[name].shape:
            raise ExportError(
                f"{runtime} gives {name} of shape {scores[name].shape} where the model gives "
                f"{wanted[name].shape}, for {trees} trees"
            )
    parts = [distance(scores[name], wanted[name]).ravel() for name in names if name != "parse"]
    return np.concatenate(parts)


def _check(runtime: str, error: float, allowed: float, kind: str = "") -> None:
    if not error <= allowed:
        raise ExportError(
            f"{runtime} gives scores that differ by {error:.2g}{kind} from the model's; allowed "
            f"{allowed:.0e}"
        )


def own_rounding(model: Model, forest: Forest) -> float:
    """The largest `distance` of the model's scores in float32 from those in float64, over given
    trees."""
    exact = eager_scores(copy.deepcopy(model).double(), forest)
    scores = eager_scores(model, forest)
    errors = [distance(scores[name], exact[name]) for name in exact if name != "parse"]
    return max(float(error.max(initial=0)) for error in errors)


def as_given(model: Model, forest: Forest, scores: Scores) -> Forest:
    """The batch, with the trees in a runtime's `scores` of it if the model has a parser.

    Raises ExportError unless there is one tree for each sentence. If the batch had trees, they must
    be the same.
    """
    if not model.parses:
        return forest
    parse = scores["parse"]
    if not makes_trees(model, forest):
        if not np.array_equal(parse, forest.transitions):
            raise ExportError("the runtime returns other trees than its input")
        return forest
    if parse.shape != (nodes := forest.sizes.sum(),):
        raise ExportError(
            f"the runtime gives {parse.shape} transitions where the sentences have {nodes}"
        )
    if fault := first_fault(parse, forest.sizes):
        raise ExportError(f"the runtime makes no tree of sentence {fault[0]}: {fault[1]}")
    return forest._replace(transitions=parse.astype(np.int64))


def worst_choice(model: Model, forest: Forest) -> float:
    """The encoder's `worst_choice` for the trees of a batch, see
    `thinstack.core.encoder.Encoder`."""
    with torch.no_grad():
        joint = model.joint(model.inputs(forest))
        taken = torch.from_numpy(forest.sentence_transitions)
        return model.encoder.worst_choice(joint.choices, joint.free, taken)


TOLERANCE = 1e-4
# By which the better transition should score more, and how often words are drawn for its sake.
LEAD, DRAWS = 1e-2, 30


def reference_cases(
    model: Model, config: ModelConfig, *, quantize: Quantize = "none"
) -> dict[str, Any]:
    """A few inputs and the scores that they must give, as data for JSON. Any runtime of any
    language can check itself on them.

    A model with a parser gets each input twice: with given trees, and with words whose trees it
    makes itself and without much doubt. If it joins sentences, there is also a batch of texts.

    Returns a dict of `schema_version`, `labels`, `tolerance` and `cases`. A case is {"inputs":
    {name: [...]}, "outputs": {name: [[...]]}}.

    Raises ExportError as `dequantised` does.
    """
    generator = np.random.default_rng(0)
    rounded = dequantised(model, quantize)
    forests = [
        [shapes.left(1)],
        [shapes.balanced(5)],
        [random_tree(9, generator), shapes.left(1), shapes.right(4), shapes.left(3)],
    ]
    cases = []
    for forest in forests:
        batch = join(sample_trees(rounded, forest, generator))
        cases.append(_case(rounded, batch))
        if rounded.parses:
            cases.append(_case(rounded, _clear(rounded, forest, generator)))
    if rounded.encoder.joins:
        texts = as_texts(_clear(rounded, forests[-1], generator), [1, 2, 0, 0])
        cases.append(_case(rounded, texts))
    return {
        "schema_version": SCHEMA_VERSION,
        "labels": list(config.labels),
        "tolerance": TOLERANCE,
        "cases": cases,
    }


def _clear(
    model: Model, forest: Sequence[NDArray[np.int8]], generator: np.random.Generator
) -> Forest:
    """Sentences as long as these, whose trees the model makes itself: of some drawings the one with
    the clearest choices."""
    clearest, least = Forest(), np.inf
    for _ in range(DRAWS):
        inputs = without_trees(join(sample_trees(model, forest, generator)))
        lost = worst_choice(model, as_given(model, inputs, eager_scores(model, inputs)))
        if lost < least:
            clearest, least = inputs, lost
        if least < -LEAD:
            break
    return clearest


def _case(model: Model, forest: Forest) -> dict[str, Any]:
    outputs = eager_scores(model, forest)
    return {
        "inputs": {
            name: values.tolist() for name, values in forest.inputs(model.input_names).items()
        },
        "outputs": {name: numbers(values) for name, values in outputs.items()},
    }
