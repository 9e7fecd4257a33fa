"""What can be held against the trees that a runtime makes: that they are trees, and that each
choice in them is a right one.

Two runtimes round differently, so that they may part where SHIFT and REDUCE score alike, and with
them all scores after that. So the trees of a runtime are given to the model, which says what each
choice was worth and what the scores over them are.
"""

import numpy as np
import torch

from thinstack.core.forest import Forest
from thinstack.core.transitions import first_fault
from thinstack.errors import ExportError
from thinstack.export.samples import Scores, makes_trees
from thinstack.models import Model

__all__ = ["as_given", "worst_choice"]


def as_given(model: Model, forest: Forest, found: Scores) -> Forest:
    """The batch of a model with a parser, with the trees that a runtime `found` for it.

    Raises ExportError unless these are one tree for each sentence, and the given ones if there were
    any.
    """
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
