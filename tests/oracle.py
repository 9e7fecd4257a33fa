"""What encoders and models give by `thinstack.testing.forests`, layer by layer, head by head."""

from typing import NamedTuple

import numpy as np
import torch
from spinn_reference import encode_spinn
from torch import Tensor

from thinstack.core import Forest
from thinstack.core.transitions import parents_of
from thinstack.testing import forests


def gradients(parts, wanted):
    """Of a sum with another weight for every number in `parts`, whose graph is kept."""
    weights = [torch.linspace(-1, 2, part.numel(), dtype=part.dtype) for part in parts]
    loss = sum((part.flatten() * weight).sum() for part, weight in zip(parts, weights, strict=True))
    found = torch.autograd.grad(loss, wanted, retain_graph=True, materialize_grads=True)
    return list(found)


def assert_agrees(run, expected, wanted, *, atol=1e-12, rtol_of_gradients=0.0):
    """What `run` gives, with and without recording, and its gradients."""
    found = list(run())
    torch.testing.assert_close(found, list(expected), rtol=0, atol=atol)
    with torch.no_grad():
        torch.testing.assert_close(list(run()), list(expected), rtol=0, atol=atol)
    if len(found[0]):
        of_expected = gradients(expected, wanted)
        torch.testing.assert_close(
            gradients(found, wanted), of_expected, rtol=rtol_of_gradients, atol=1e-10
        )


def outputs_top_down(cell, forest, inputs):
    """(N, H), from the roots down."""
    states = forests.encode_top_down(cell, forest, inputs)
    return _rows([cell.output(state) for state in states], cell.hidden_size, inputs)


def encode(encoder, forest, words):
    """Outputs (N, H) and head words (N, W) in node order: each layer on what the one below gave."""
    leaves = torch.from_numpy(forest.leaves)
    up_reads = down_reads = words
    for depth, layer in enumerate(encoder.stack()):
        cell, has_words = layer.up.cell, layer.up.cell.word_part >= 0
        at_leaves = depth == 0 and encoder.words_at_leaves
        inputs = (words, None) if at_leaves else (up_reads[leaves], up_reads[~leaves])
        states = forests.encode(cell, forest, *inputs)
        outputs = up = _rows([cell.output(state) for state in states], cell.hidden_size, words)
        heads = up[:, :0]
        if has_words:
            heads = _rows([state[cell.word_part] for state in states], encoder.word_size, words)
        if layer.down is None:
            up_reads = up
        else:
            read = heads if has_words else down_reads
            down = outputs_top_down(layer.down.cell, forest, read)
            both = torch.cat([up, down], 1)
            up_reads, down_reads = (up, down) if encoder.separate else (both, both)
            parts = {"up": up, "down": down, "leaves": leaf_means(forest, down)}
            outputs = torch.cat([parts[part] for part in encoder.readout], 1)
    return outputs, heads


def path(forest, node):
    """The node, its parent and so on, up to the root."""
    parent = int(forest.parents[node])
    return [node] if parent < 0 else [node, *path(forest, parent)]


def leaf_means(forest, values):
    """Mean of the values (N, W) of the leaves below each node."""
    paths = {int(leaf): path(forest, int(leaf)) for leaf in np.flatnonzero(forest.leaves)}
    below = [[leaf for leaf in paths if node in paths[leaf]] for node in range(len(values))]
    return _rows([values[leaf].mean(0, keepdim=True) for leaf in below], values.shape[1], values)


def forest_of(inputs):
    """The forest that a model's inputs describe."""
    if "parents" in inputs:
        parents, slots = inputs["parents"], inputs.get("slots", np.zeros_like(inputs["parents"]))
        return Forest(parents, slots, inputs.get("kinds", np.ones_like(parents)), parents[:0])
    if "lengths" in inputs:
        ends = np.cumsum(inputs["lengths"])
        parents = np.arange(1, ends[-1] + 1 if len(ends) else 1)
        parents[ends - 1] = -1
        slots = np.zeros_like(parents)
    else:
        parents, slots = parents_of(inputs["transitions"])
    return Forest(parents, slots, np.ones_like(parents), parents[:0])


@torch.no_grad()
def slow_scores(model, inputs):
    """The outputs of a model of float64 in evaluation mode."""
    forest, head = forest_of(inputs), model.head
    words = model.embedding({name: torch.from_numpy(array) for name, array in inputs.items()})
    outputs, heads = encode(model.encoder, forest, words)
    root_of = [path(forest, node)[-1] for node in range(len(outputs))]
    roots = [node for node in range(len(outputs)) if root_of[node] == node]
    if head.reads == "pairs":
        pairs = zip(roots[::2], roots[1::2], strict=True)
        scores = _score(model, [torch.cat([outputs[a], outputs[b]]) for a, b in pairs])
        return {"pair_scores": scores, "sentence_vectors": outputs[roots].numpy()}
    if head.reads != "candidates":
        scores = _score(model, list(outputs))
        return {"node_scores": scores, "root_scores": scores[roots]}
    nodes, trees = np.zeros((len(outputs), head.classes)), np.zeros((len(roots), 1))
    for node in range(len(outputs)):
        below = np.flatnonzero(forest.parents == node).tolist()
        below.sort(key=lambda child: forest.slots[child])
        if below:
            row = torch.cat([*(outputs[child] for child in below), heads[node]])
            nodes[node] = _score(model, [row])[0]
            trees[roots.index(root_of[node])] += nodes[node, inputs["constituents"][node]]
    return {"node_scores": nodes, "tree_scores": trees}


class Nodes(NamedTuple):
    """What SPINN gives in node order: outputs (N, H), scores of transitions (N, 2) and so on."""

    outputs: Tensor
    roots: Tensor
    choices: Tensor
    free: Tensor
    transitions: Tensor


def by_reference(cell, tracker, words, lengths, transitions=None):
    """Sentences by SPINN, one transition at a time."""
    found = encode_spinn(cell, tracker, words, lengths, transitions)
    outputs = _rows([cell.output(state) for state in found.states], cell.hidden_size, words)
    choices = _rows(found.choices, 2 if tracker.parses else 0, words)
    free, steps = torch.tensor(found.free).long(), torch.tensor(found.transitions).long()
    return Nodes(outputs, outputs[(2 * lengths - 1).cumsum(0) - 1], choices, free, steps)


@torch.no_grad()
def slow_sentences(model, inputs, lengths):
    """The outputs of a model of float64 in evaluation mode for sentences of so many words."""
    arrays = {name: torch.from_numpy(array) for name, array in inputs.items()}
    given = arrays["transitions"] if len(inputs.get("transitions", ())) else None
    encoder, head, sizes = model.encoder, model.head, torch.tensor(lengths, dtype=torch.long)
    found = by_reference(encoder.cell, encoder.tracker, model.embedding(arrays), sizes, given)
    if head.reads == "pairs":
        pairs = head.scores(found.roots.view(len(lengths) // 2, 2 * encoder.hidden_size))
        scores = {"pair_scores": pairs, "sentence_vectors": found.roots}
    else:
        nodes, roots = head.scores(found.outputs), head.scores(found.roots)
        scores = {"node_scores": nodes, "root_scores": roots}
    parse = {"parse": found.transitions} if model.parses else {}
    return {name: values.numpy() for name, values in (scores | parse).items()}


def _rows(rows, width, like):
    return torch.cat([like.new_zeros(0, width), *rows])


def _score(model, rows):
    return torch.cat([model.head.scores(row[None]) for row in rows]).numpy()
