"""What a model gives, computed one node at a time: every kind of encoder and of head, straight from
their definitions."""

from collections.abc import Sequence

import numpy as np
import torch
from export_models import Arrays
from torch import Tensor

from thinstack.core import Forest
from thinstack.core.cell import Cell, Links
from thinstack.models import Model
from thinstack.models.tree_encoder import TreeEncoder
from thinstack.testing import reference


def forest_of(inputs: Arrays) -> Forest:
    """The forest that a model's inputs describe."""
    if "parents" in inputs:
        parents, slots = inputs["parents"], inputs.get("slots", np.zeros_like(inputs["parents"]))
        return Forest(parents, slots, inputs.get("kinds", np.ones_like(parents)), parents[:0])
    found, slots, stack = [], [], []
    if "lengths" in inputs:
        for length in inputs["lengths"].tolist():
            found += [*range(len(found) + 1, len(found) + length), -1]
        slots = [0] * len(found)
    else:
        for node, step in enumerate(inputs["transitions"].tolist()):
            found.append(-1)
            slots.append(0)
            for slot in (1, 0) if step else ():
                child = stack.pop()
                found[child], slots[child] = node, slot
            stack.append(node)
    parents = np.array(found, np.int64)
    return Forest(parents, np.array(slots, np.int64), np.ones_like(parents), parents[:0])


@torch.no_grad()
def slow_scores(model: Model, inputs: Arrays) -> Arrays:
    """The outputs of a model of float64 in evaluation mode."""
    forest, head = forest_of(inputs), model.head
    words = model.embedding({name: torch.from_numpy(array) for name, array in inputs.items()})
    outputs, heads = _encode(model.encoder, words, forest)
    root_of = [_path(forest, node)[-1] for node in range(len(outputs))]
    roots = [node for node in range(len(outputs)) if root_of[node] == node]
    if head.reads == "pairs":
        pairs = [
            torch.cat([outputs[a], outputs[b]])
            for a, b in zip(roots[::2], roots[1::2], strict=True)
        ]
        return {
            "pair_scores": _score(model, pairs),
            "sentence_vectors": _stacked([outputs[node] for node in roots]),
        }
    if head.reads != "candidates":
        scores = _score(model, list(outputs))
        return {"node_scores": scores, "root_scores": scores[roots]}
    nodes, trees = np.zeros((len(outputs), head.classes)), np.zeros((len(roots), 1))
    for node in range(len(outputs)):
        below = sorted(
            np.flatnonzero(forest.parents == node).tolist(), key=lambda child: forest.slots[child]
        )
        if below:
            row = torch.cat([*(outputs[child] for child in below), heads[node]])
            nodes[node] = _score(model, [row])[0]
            trees[roots.index(root_of[node])] += nodes[node, inputs["constituents"][node]]
    return {"node_scores": nodes, "tree_scores": trees}


@torch.no_grad()
def slow_sentences(model: Model, inputs: Arrays, lengths: Sequence[int]) -> Arrays:
    """The outputs of a model of float64 in evaluation mode for sentences of so many words, one
    transition at a time."""
    arrays = {name: torch.from_numpy(array) for name, array in inputs.items()}
    given = arrays["transitions"] if len(inputs.get("transitions", ())) else None
    encoder, width = model.encoder, model.encoder.hidden_size
    words, sizes = model.embedding(arrays), 2 * np.array(lengths, np.int64) - 1
    nodes = reference.encode_spinn(
        encoder.cell, encoder.tracker, words, torch.tensor(lengths, dtype=torch.long), given
    )
    outputs = _rows([encoder.cell.output(state) for state in nodes.states], width, words)
    roots = outputs[np.cumsum(sizes) - 1]
    if model.head.reads == "pairs":
        found = {
            "pair_scores": model.head.scores(roots.view(len(sizes) // 2, 2 * width)),
            "sentence_vectors": roots,
        }
    else:
        found = {"node_scores": model.head.scores(outputs), "root_scores": model.head.scores(roots)}
    parse = {"parse": np.array(nodes.transitions, np.int64)} if model.parses else {}
    return {name: values.numpy() for name, values in found.items()} | parse


def _encode(encoder: TreeEncoder, words: Tensor, forest: Forest) -> tuple[Tensor, Tensor]:
    """Outputs and head-word vectors of all nodes, in node order."""
    leaves = torch.from_numpy(forest.leaves)
    whole = not encoder.words_at_leaves
    leaf_x, inner_x, own = (words[leaves], words[~leaves], words) if whole else (words, None, words)
    up = down = heads = words
    for layer in encoder.stack():
        cell = layer.up.cell
        states = reference.encode(cell, forest, leaf_x, inner_x)
        up = _rows([cell.output(state) for state in states], cell.hidden_size, words)
        heads = (
            _rows([state[cell.word_part] for state in states], encoder.word_size, words)
            if cell.word_part >= 0
            else up[:, :0]
        )
        if layer.down is not None:
            down = _descend(layer.down.cell, forest, heads if cell.word_part >= 0 else own)
        both = up if layer.down is None else torch.cat([up, down], 1)
        read, own = (up, down) if encoder.separate else (both, both)
        leaf_x, inner_x = read[leaves], read[~leaves]
    if layer.down is None:
        return up, heads
    paths = [_path(forest, node) for node in range(len(up))]
    below = [
        [leaf for leaf in np.flatnonzero(forest.leaves) if node in paths[leaf]]
        for node in range(len(up))
    ]
    means = _rows([down[found].mean(0, keepdim=True) for found in below], down.shape[1], words)
    parts = {"up": up, "down": down, "leaves": means}
    return torch.cat([parts[part] for part in encoder.readout], 1), heads


def _descend(cell: Cell, forest: Forest, inputs: Tensor) -> Tensor:
    states: dict[int, list[Tensor]] = {}
    for node in range(len(inputs)):
        for place in _path(forest, node)[::-1]:
            x, parent = inputs[place : place + 1], int(forest.parents[place])
            if place in states:
                continue
            if parent < 0:
                states[place] = cell.leaf(x)
                continue
            kind = torch.tensor([forest.slots[place] + 1])
            if cell.arity:
                above, links = (
                    [part.clone()[:, None] for part in states[parent]],
                    Links(kind[:0], kind[:, None]),
                )
            else:
                above, links = (
                    [part.clone() for part in states[parent]],
                    Links(torch.zeros_like(kind), kind),
                )
            states[place] = cell.compose(x, above, links)
    return _rows(
        [cell.output(states[node]) for node in range(len(inputs))], cell.hidden_size, inputs
    )


def _path(forest: Forest, node: int) -> list[int]:
    """The node, its parent and so on, up to the root."""
    parent = int(forest.parents[node])
    return [node] if parent < 0 else [node, *_path(forest, parent)]


def _rows(rows: list[Tensor], width: int, like: Tensor) -> Tensor:
    return torch.cat([like.new_zeros(0, width), *rows])


def _stacked(rows: list[Tensor]) -> np.ndarray:
    return torch.stack(rows).numpy()


def _score(model: Model, rows: list[Tensor]) -> np.ndarray:
    return torch.cat([model.head.scores(row[None]) for row in rows]).numpy()
