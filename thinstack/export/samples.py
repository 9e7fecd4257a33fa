"""Inputs to try an export on, of other sizes than it was exported with, and what the model itself says of them."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from thinstack.config import SCHEMA_VERSION, ModelConfig
from thinstack.core import transitions as shapes
from thinstack.errors import ExportError
from thinstack.export.quantize import Quantize, dequantised
from thinstack.models import TreeModel, WordModel, WordpieceModel

__all__ = ["Inputs", "Scores", "eager_scores", "reference_cases", "sample_batches", "sample_inputs", "sampled", "signature"]

Inputs = dict[str, NDArray[np.int64]]
Scores = tuple[NDArray[np.float32], NDArray[np.float32]]
Steps = NDArray[np.int8]

SIGNATURES = {WordModel: ("token_ids", "transitions"), WordpieceModel: ("piece_ids", "pieces_per_word", "transitions")}


def signature(model: TreeModel) -> tuple[str, ...]:
    """Names of the model's inputs, in order. Raises ExportError if it is neither over words nor over wordpieces."""
    for known, names in SIGNATURES.items():
        if isinstance(model, known):
            return names
    raise ExportError(f"expected a WordModel or a WordpieceModel, got {type(model).__name__}")


def sample_inputs(model: TreeModel, trees: list[Steps], generator: np.random.Generator) -> Inputs:
    """Random word or piece ids, int64, for a forest of these trees."""
    steps = np.concatenate([np.zeros(0, np.int64), *trees])
    words = int((steps == shapes.SHIFT).sum())
    counts = generator.choice([1, 1, 1, 2, 3, 9], words)
    entries = model.embedding.table.shape[0]
    ids = generator.integers(0, entries, int(counts.sum()) if isinstance(model, WordpieceModel) else words)
    every = {"token_ids": ids, "piece_ids": ids, "pieces_per_word": counts, "transitions": steps}
    return {name: every[name].astype(np.int64) for name in signature(model)}


def sample_batches(generator: np.random.Generator, *, longest: int = 512) -> Iterator[list[Steps]]:
    """Forests to verify on: none, single trees of 1 to 512 words in all shapes, batches of 3 and 32 mixed trees."""
    yield []
    yield [shapes.left(1)]
    for words in (2, 7, 64, 512):
        if words <= longest:
            yield from ([shape(words)] for shape in (shapes.left, shapes.right, shapes.balanced))
            yield [_random_tree(words, generator)]
    for trees in (3, 32):
        sizes = generator.integers(1, 40, trees)
        yield [shapes.left(1), *(_random_tree(int(words), generator) for words in sizes[:-2]), shapes.right(int(sizes[-1]))]


def sampled(model: TreeModel, *, longest: int = 512) -> Iterator[Inputs]:
    """Inputs over `sample_batches`, the same at every call."""
    generator = np.random.default_rng(0)
    for trees in sample_batches(generator, longest=longest):
        yield sample_inputs(model, trees, generator)


def eager_scores(model: TreeModel, inputs: Inputs) -> Scores:
    """Node scores (N, C) and root scores (B, C) of the model, which must be in evaluation mode."""
    with torch.no_grad():
        nodes, roots = model(*(torch.from_numpy(inputs[name]) for name in signature(model)))
    return nodes.numpy(), roots.numpy()


def reference_cases(model: TreeModel, config: ModelConfig, *, quantize: Quantize = "none", seed: int = 0) -> dict[str, Any]:
    """A few inputs and the scores that they must give, fit for JSON: any runtime of any language can check itself on them.

    Returns `schema_version`, `labels`, `tolerance` and `cases`, each {"inputs": {name: [...]}, "outputs": {name: [[...]]}}.
    """
    generator = np.random.default_rng(seed)
    rounded = dequantised(model, quantize)
    forests = [
        [shapes.left(1)],
        [shapes.balanced(5)],
        [_random_tree(9, generator), shapes.left(1), shapes.right(4), shapes.left(3)],
    ]
    cases = []
    for trees in forests:
        inputs = sample_inputs(rounded, trees, generator)
        nodes, roots = eager_scores(rounded, inputs)
        outputs = {"node_scores": nodes.astype(float).round(7).tolist(), "root_scores": roots.astype(float).round(7).tolist()}
        cases.append({"inputs": {name: values.tolist() for name, values in inputs.items()}, "outputs": outputs})
    return {"schema_version": SCHEMA_VERSION, "labels": list(config.labels), "tolerance": 1e-4, "cases": cases}


def _random_tree(words: int, generator: np.random.Generator) -> Steps:
    steps, stack, left = [], 0, words
    while left or stack > 1:
        reduce = stack > 1 and (not left or generator.random() < 0.5)
        steps.append(shapes.REDUCE if reduce else shapes.SHIFT)
        stack, left = (stack - 1, left) if reduce else (stack + 1, left - 1)
    return np.array(steps, np.int8)
