"""Batches to verify an export on, in other sizes than its examples, with the model's scores."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from thinstack.core import transitions as shapes
from thinstack.core.forest import Forest, join, text_sizes, without_trees
from thinstack.core.model.model import Model
from thinstack.core.transitions import MOST_BREAK

SOME = 64
"""If trees of this many words are tried, sentences of any length are tried as well."""

Scores = dict[str, NDArray[Any]]
"""Outputs by name: scores in float32, and transitions in whole numbers as `parse`."""
Steps = NDArray[np.int8]


def sample_shapes(generator: np.random.Generator, *, longest: int = 512) -> Iterator[list[Steps]]:
    """Iterate over forests to verify an export on, as lists of transitions: no tree, single trees
    of 1 to 512 words in all shapes, and batches of 3 and of 32 mixed trees, up to `longest`
    words."""
    yield []
    yield [shapes.left(1)]
    for words in (2, 7, 64, 512):
        if words <= longest:
            yield from ([shape(words)] for shape in (shapes.left, shapes.right, shapes.balanced))
            yield [random_tree(words, generator)]
    for trees in (3, 32):
        sizes = generator.integers(1, min(40, longest + 1), trees)
        yield [
            shapes.left(1),
            *(random_tree(int(words), generator) for words in sizes[:-2]),
            shapes.right(int(sizes[-1])),
        ]


def sample_trees(
    model: Model, forest: Sequence[Steps], generator: np.random.Generator
) -> list[Forest]:
    """Return a batch for each tree of the forest, with a similar tree over random words, or with a
    pair of them for a head that reads pairs."""
    number = 2 if model.head.reads == "pairs" else 1
    return [
        join([_sample_tree(model, steps, generator) for _ in range(number)]) for steps in forest
    ]


def sampled(model: Model, *, longest: int = 512) -> Iterator[Forest]:
    """Iterate over the same batches of `sample_shapes` at every call.

    For a model with a parser, there are also batches without trees, over some of these and over
    sentences of 1 to 200 words; if it joins sentences, also over texts of up to five sentences.
    """
    generator = np.random.default_rng(0)
    parsed: list[int] = []
    for trees in sample_shapes(generator, longest=longest):
        yield (forest := join(sample_trees(model, trees, generator)))
        # Once for sentences of these lengths.
        if model.parses and (lengths := forest.lengths.tolist()) != parsed:
            parsed = lengths
            yield without_trees(forest)
    if model.parses:
        sizes = (1, 200, 2, 31, 1, 90) if longest >= SOME else (1, longest, 2)
        uneven = [shapes.left(words) for words in sizes]
        yield (sentences := without_trees(join(sample_trees(model, uneven, generator))))
        if model.encoder.joins:
            breaks = [0, 3, 1, 3, MOST_BREAK, 0] if longest >= SOME else [1, 2, 0]
            yield as_texts(sentences, breaks)


def as_texts(sentences: Forest, breaks: Sequence[int]) -> Forest:
    """Return sentences without trees as texts, with these breaks after them, repeated as needed."""
    behind = np.resize(breaks, len(sentences.lengths))
    return sentences._replace(breaks=behind, sizes=text_sizes(sentences.lengths, behind))


def makes_trees(model: Model, forest: Forest) -> bool:
    """Return whether the model predicts the trees of this batch."""
    return model.parses and len(forest.lengths) > 0 == len(forest.transitions)


def eager_scores(model: Model, forest: Forest, by: Callable[..., Any] | None = None) -> Scores:
    """Return the outputs of a model in evaluation mode, or of its TorchScript `by`, by name."""
    with torch.no_grad():
        outputs = (by or model)(model.inputs(forest))
    return {name: outputs[name].numpy() for name in model.output_names}


def _sample_tree(model: Model, steps: Steps, generator: np.random.Generator) -> Forest:
    """Return the tree of `steps` with random words, or a similar one that the model reads."""
    words = int((steps == shapes.SHIFT).sum())
    counts = generator.choice([1, 1, 1, 2, 3, 9], words)
    pieces = words if "token_ids" in model.input_names else int(counts.sum())
    ids = generator.integers(0, model.embedding.table.shape[0], pieces)
    parents, slots = _parents(model, steps, generator)
    nodes = len(steps) if model.encoder.structure == "transitions" else len(parents)
    fields = {
        "token_ids": ids,
        "piece_ids": ids,
        "pieces_per_word": counts,
        "transitions": steps.astype(np.int64),
        "parents": parents,
        "slots": slots,
        "kinds": generator.integers(1, max(2, model.encoder.kinds + 1), nodes),
        "constituents": generator.integers(0, model.head.classes, nodes),
    }
    size = words if model.encoder.structure == "lengths" else nodes
    read = {name: fields[name] for name in model.input_names if name in fields}
    return Forest(sizes=np.array([size]), lengths=np.array([words]), **read)


def _parents(
    model: Model, steps: Steps, generator: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return parents and slots of the tree of `steps`, or of a random tree over its words."""
    arity = model.encoder.arity
    number = max(arity, 1)
    if model.encoder.words_at_leaves:
        parents, slots = shapes.parents_of(steps)
        every = np.tile(np.arange(max(arity, 2)), (len(steps), 1))
        chosen = np.sort(generator.permuted(every, axis=1)[:, :2], axis=1)
        slots = np.where(parents < 0, 0, chosen[parents, slots])
        below = np.flatnonzero(generator.random(len(parents)) < 0.2)  # a node with a single child
        above = len(parents) + np.arange(len(below))
        parents, slots = (np.concatenate([one, one[below]]) for one in (parents, slots))
        parents[below], slots[below] = above, generator.integers(0, number, len(below))
        return parents, slots
    words = int((steps == shapes.SHIFT).sum())
    order = generator.permutation(words)
    parents, slots = np.full(words, -1), np.zeros(words, np.int64)
    free = [(order[0], slot) for slot in range(number)]
    for node in order[1:]:
        place = int(generator.integers(len(free)))
        parents[node], slots[node] = free.pop(place) if arity else free[place]
        free += [(node, slot) for slot in range(number)]
    return parents, slots


def random_tree(words: int, generator: np.random.Generator) -> Steps:
    """Return the transitions (2n - 1,) of a random tree over n `words`."""
    steps, stack, left = [], 0, words
    while left or stack > 1:
        reduce = stack > 1 and (not left or generator.random() < 0.5)
        steps.append(shapes.REDUCE if reduce else shapes.SHIFT)
        stack, left = (stack - 1, left) if reduce else (stack + 1, left - 1)
    return np.array(steps, np.int8)
