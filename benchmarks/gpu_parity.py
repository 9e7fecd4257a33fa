"""Whether a device gives what the CPU gives, in torch and in onnxruntime, and which operators of
the bundled file run on it."""

import copy
import json
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from export_subjects import exportables
from own_parse import feeds_of

import thinstack
from thinstack._onnxruntime import import_onnxruntime
from thinstack.bundle import open_bundle
from thinstack.bundle.manifest import ONNX_FILE
from thinstack.core import Tree
from thinstack.core import transitions as shapes
from thinstack.core.forest import join
from thinstack.export.samples import sample_trees

onnxruntime = import_onnxruntime()


PROVIDERS = {"cuda": [("CUDAExecutionProvider", {"use_tf32": 0})], "cpu": []}
TREES = [shapes.left(9), shapes.left(1), shapes.balanced(40)]


@torch.inference_mode()
def cell_parity(device: str, only: str) -> dict[str, float]:
    """The largest difference between a model's scores on the CPU and on the device, over the same
    trees. The models are the bundled one and one of every registered cell, kind of trees, encoder
    and head, if their names hold `only`."""
    found = {}
    for one in exportables(only, None, False):
        forest = join(sample_trees(one.model, TREES, np.random.default_rng(0)))
        there = copy.deepcopy(one.model).to(device)
        here, moved = one.model(one.model.inputs(forest)), there(there.inputs(forest))
        found[one.name] = max(
            float((moved[name].cpu() - values).abs().max()) for name, values in here.items()
        )
    return found


def bundle_parity(trees: Sequence[Tree], device: str) -> dict[str, float | str]:
    """Of the bundled model's scores over the treebank's trees; and how many of its own trees are
    the same: rounding may decide between two that score alike."""
    cpu, other = (thinstack.load("sentiment", device=name) for name in ("cpu", device))
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


def operators(trees: Sequence[Tree], device: str) -> dict[str, str]:
    """How often each provider runs each operator of the bundled file, in one own parse of 64
    sentences. What the CPU runs beside a device is copied from there and back."""
    bundle, events = open_bundle("sentiment"), []
    with tempfile.TemporaryDirectory() as folder:
        options = onnxruntime.SessionOptions()
        options.enable_profiling, options.log_severity_level = True, 3
        options.profile_file_prefix = str(Path(folder) / "profile")
        providers = [*PROVIDERS[device], "CPUExecutionProvider"]
        session = onnxruntime.InferenceSession(bundle.read(ONNX_FILE), options, providers=providers)
        names = [each.name for each in session.get_inputs()]
        session.run(None, feeds_of(bundle, names, [tree.words for tree in trees[:64]]))
        events = json.loads(Path(session.end_profiling()).read_text(encoding="utf-8"))
    runs = Counter(
        (event["args"]["provider"], event["args"]["op_name"])
        for event in events
        if event.get("cat") == "Node" and "provider" in event.get("args", {})
    )
    by_provider: dict[str, Counter[str]] = {}
    for (provider, name), count in runs.items():
        by_provider.setdefault(provider, Counter())[name] += count
    return {
        provider: f"{counts.total():,}: "
        + ", ".join(f"{name} {count}" for name, count in counts.most_common())
        for provider, counts in sorted(by_provider.items())
    }
