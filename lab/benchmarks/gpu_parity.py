"""Whether a device gives what the CPU gives, in torch and in onnxruntime."""

import copy
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import torch
from export_subjects import Exportable, exportables
from torch import Tensor, nn

import thinstack
from thinstack.core import Forest, Tree
from thinstack.core import transitions as shapes
from thinstack.core.forest import join, without_trees
from thinstack.export.onnx.model import export_onnx
from thinstack.export.samples import sample_trees
from thinstack.runtime.session import start_session

TREES = [shapes.left(9), shapes.left(1), shapes.balanced(40)]


def subjects(only: str) -> Iterator[tuple[Exportable, Forest]]:
    """The bundled model and one of every registered cell, kind of trees, encoder and head, if their
    names hold `only`; each with the same trees."""
    for one in exportables(only, None, False):
        yield one, join(sample_trees(one.model, TREES, np.random.default_rng(0)))


@torch.inference_mode()
def cell_parity(device: str, only: str) -> dict[str, float]:
    """The largest difference between a model's scores on the CPU and on the device."""
    found = {}
    for one, forest in subjects(only):
        there = copy.deepcopy(one.model).to(device)
        here, moved = one.model(one.model.inputs(forest)), there(there.inputs(forest))
        found[one.name] = max(
            float((moved[name].cpu() - values).abs().max()) for name, values in here.items()
        )
    return found


def gradient_parity(device: str, only: str) -> dict[str, float]:
    """The largest difference between gradients of a model's weights, beyond 1 in proportion. What
    is derived is a sum of all scores, each with a factor of its own."""
    found = {}
    for one, forest in subjects(only):
        here = gradients(one.model, forest, "cpu")
        there = gradients(one.model, forest, device)
        found[one.name] = max(
            float(((there[name] - grad).abs() / grad.abs().clamp(min=1)).max())
            for name, grad in here.items()
        )
    return found


def gradients(model: nn.Module, forest: Forest, device: str) -> Mapping[str, Tensor]:
    """On the CPU, by the name of the weight; of a copy of the model on the device."""
    model = copy.deepcopy(model).to(device).train()
    for part in model.modules():
        if isinstance(part, nn.Dropout):
            part.p = 0.0
    scores = model(model.inputs(forest))
    factors = np.random.default_rng(0)
    for _, values in sorted(scores.items()):
        if values.requires_grad:
            drawn = factors.normal(size=tuple(values.shape)).astype(np.float32)
            values.backward(torch.from_numpy(drawn).to(device), retain_graph=True)
    return {
        name: weight.grad.to_dense().cpu()
        for name, weight in model.named_parameters()
        if weight.grad is not None
    }


def export_parity(device: str, only: str) -> dict[str, float]:
    """The largest difference between what a model's file for GPUs gives in onnxruntime on the CPU
    and on the device, over given trees and its own."""
    found = {}
    for one, given in subjects(only):
        content = export_onnx(one.model, one.config, vocabulary_digest="", device="gpu")
        here, there = (start_session(content, name, one.name) for name in ("cpu", device))
        found[one.name] = 0.0
        types = {each.name: each.type.removeprefix("tensor(")[:-1] for each in here.get_inputs()}
        names = [each.name for each in here.get_outputs()]
        for forest in (given, without_trees(given)) if one.model.parses else (given,):
            arrays = forest.inputs(one.model.input_names)
            feeds = {name: values.astype(types[name]) for name, values in arrays.items()}
            pairs = zip(here.run(names, feeds), there.run(names, feeds), strict=True)
            apart = [float(np.abs(a - b).max(initial=0)) for a, b in pairs]
            found[one.name] = max(found[one.name], *apart)
    return found


def bundle_parity(bundle: str, trees: Sequence[Tree], device: str) -> dict[str, float | str]:
    """Of a bundle's scores over the treebank's trees; and how many of its own trees are the same:
    rounding may decide between two that score alike."""
    cpu, other = (thinstack.load(bundle, device=name) for name in ("cpu", device))
    words, given = [tree.words for tree in trees], [tree.transitions for tree in trees]
    scores = zip(cpu.node_scores(words, given), other.node_scores(words, given), strict=True)
    own = zip(
        cpu.trees_and_scores(words, "self"), other.trees_and_scores(words, "self"), strict=True
    )
    same = sum(np.array_equal(one.transitions, two.transitions) for one, two in own)
    return {
        "the treebank's trees": max(float(np.abs(one - two).max()) for one, two in scores),
        "own trees that are the same": f"{same} of {len(trees)}",
    }
