"""Bundles, whose digests fit what was changed; ONNX files before the gate; checkpoints."""

import json
import tempfile
from contextlib import suppress
from functools import cache, partial
from pathlib import Path

import numpy as np
import torch
from bundle_folders import record, sealed
from fuzz.changes import any_of, mutated_bytes, mutated_json, mutated_lines, mutated_safetensors
from fuzz.onnx_changes import mutated_onnx
from fuzz.target import Target
from fuzz.text_targets import GOLDEN

import thinstack
from thinstack.bundle import open_bundle
from thinstack.bundle.gate.onnx_gate import check_onnx, initializers
from thinstack.bundle.manifest import CASES_FILE, ONNX_FILE, WEIGHTS_FILE
from thinstack.bundle.weights import load_model
from thinstack.runtime.reference import check_cases
from thinstack.training.loop.learner import load_checkpoint, save_checkpoint

SENTENCES = [["the", "film"], ["The", "film", "is", "not", "good", "."]]
MANIFEST = "manifest.json"
KINDS = {
    "onnx structure": ("onnx/model.onnx", mutated_onnx),
    "onnx bytes": ("onnx/model.onnx", mutated_bytes),
    "config": ("config.json", mutated_json),
    "config bytes": ("config.json", mutated_bytes),
    "manifest": (MANIFEST, mutated_json),
    "manifest bytes": (MANIFEST, mutated_bytes),
    "vocabulary": ("vocabulary.txt", mutated_lines),
    "vocabulary bytes": ("vocabulary.txt", mutated_bytes),
    "safetensors": ("model.safetensors", mutated_safetensors),
}
"""The file that each kind changes, and how."""
INPUTS = {"onnx structure": 60, "onnx bytes": 60, "safetensors": 60}


@cache
def files_of(name):
    """The files of a golden bundle."""
    folder = GOLDEN / name
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def bundle(base, name, use):
    """Use the bundle with an input in place of a file; every digest fits."""

    def used(content, folder):
        files = files_of(base)
        where = folder / base
        if not where.exists():
            for other, whole in files.items():
                (where / other).parent.mkdir(parents=True, exist_ok=True)
                (where / other).write_bytes(whole)
        (where / name).write_bytes(content)
        if name != MANIFEST:
            raw = json.loads(files[MANIFEST])
            raw["files"][name] = record(content)
            (where / MANIFEST).write_bytes(sealed(raw))
        return use(where)

    return used


def run(folder, *, isolated=False):
    """All that a user does with a bundle without torch."""
    found = open_bundle(folder)
    found.relabel()
    predictor = thinstack.load(folder, threads=1, isolated=isolated)
    scores = predictor.predict(SENTENCES)
    for one in scores:
        assert np.isfinite(one.node_scores).all()
        json.dumps(one.to_dict(), allow_nan=False)
    return len(scores[0].labels)


def weights(folder):
    return len(load_model(folder).state_dict())


def cases(folder):
    return check_cases(open_bundle(folder)).holds


def resealed(change):
    """The manifest changed so, most often with a digest that fits."""

    def changed(content, random):
        made = change(content, random)
        if random.random() < 0.8:
            with suppress(ValueError, TypeError, AttributeError, RecursionError):
                made = sealed(json.loads(made))
        return made

    return changed


def gate(content, folder):
    """What passes the gate has weights that can be read."""
    check_onnx(content, source="model.onnx")
    return min(len(initializers(content, source="model.onnx")), 9)


@cache
def modules():
    torch.manual_seed(0)
    module = torch.nn.Linear(2, 1)
    optimizer = torch.optim.Adagrad(module.parameters(), lr=0.1)
    module(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    return {"model": module}, {"model": optimizer}


def checkpoint(content, folder):
    (folder / "a.safetensors").write_bytes(content)
    return len(load_checkpoint(folder / "a.safetensors", *modules(), 1))


def checkpoints():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.safetensors"
        save_checkpoint(path, *modules(), [{"epoch": 1, "seed": 1}])
        return [path.read_bytes()]


def _bundle_targets(base):
    found = {}
    for kind, (name, change) in KINDS.items():
        if name in files_of(base):
            used = {WEIGHTS_FILE: weights, ONNX_FILE: partial(run, isolated=True)}.get(name, run)
            use = bundle(base, name, used)
            whole = resealed(change) if name == MANIFEST else change
            seeds = partial(_files, base, name)
            found[f"{base}, {kind}"] = Target(seeds, whole, use, INPUTS.get(kind, 100))
    return found


def _files(base, name):
    return [files_of(base)[name]]


_JSON = any_of(mutated_json, mutated_json, mutated_bytes)
TARGETS = {
    **_bundle_targets("words"),
    **_bundle_targets("wordpiece-parser"),
    **_bundle_targets("texts"),
    "reference cases": Target(
        partial(_files, "words", CASES_FILE), _JSON, bundle("words", CASES_FILE, cases), 100
    ),
    "gate": Target(
        lambda: [files_of(base)[ONNX_FILE] for base in ("words", "wordpiece-parser")],
        any_of(mutated_onnx, mutated_bytes),
        gate,
        300,
    ),
    "checkpoint": Target(checkpoints, mutated_safetensors, checkpoint, 400),
}
