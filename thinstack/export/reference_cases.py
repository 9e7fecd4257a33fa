"""The reference cases of an export: inputs, and the scores that every runtime in every language
must give for them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thinstack.core import transitions as shapes
from thinstack.core.config import SCHEMA_VERSION, ModelConfig
from thinstack.core.forest import Forest, join, without_trees
from thinstack.core.model.model import Model
from thinstack.export.compare import as_given, worst_choice
from thinstack.export.quantize import Quantize, dequantised
from thinstack.export.samples import eager_scores, random_tree, sample_trees

TOLERANCE = 1e-4
# By which the better transition should score more, and how often words are drawn for its sake.
LEAD, DRAWS = 1e-2, 30


def reference_cases(
    model: Model, config: ModelConfig, *, quantize: Quantize = "none"
) -> dict[str, Any]:
    """A few inputs and the scores that they must give, as data for JSON. Any runtime of any
    language can check itself on them.

    A model with a parser gets each input twice: with given trees, and with words whose trees it
    makes itself and without much doubt.

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
        "inputs": {name: getattr(forest, name).tolist() for name in model.input_names},
        "outputs": {
            name: (values if values.dtype.kind == "i" else values.astype(float).round(7)).tolist()
            for name, values in outputs.items()
        },
    }
