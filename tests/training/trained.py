"""A recipe that `thinstack train` was run on."""

import io
import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnxruntime
import torch
from rich.console import Console
from runs import of_one

from thinstack.bundle import Bundle, open_bundle
from thinstack.bundle.weights import load_model
from thinstack.training.examples.datasets import load_datasets
from thinstack.training.recipe import Recipe
from thinstack.training.run_recipe import run_recipe


class Trained(NamedTuple):
    recipe: Recipe
    data: Path
    out: Path
    printed: str

    @property
    def bundle(self) -> Bundle:
        return open_bundle(self.out / "model-best")

    @property
    def card(self) -> str:
        return (self.out / "model-best" / "README.md").read_text(encoding="utf-8")

    @property
    def results(self) -> Any:
        return json.loads((self.out / "results.json").read_text(encoding="utf-8"))


def train(recipe: Recipe, data: Path, out: Path, file: Any = None) -> Trained:
    """Train all seeds of the recipe in the folder `out`; `file`: what it prints to."""
    file = file or io.StringIO()
    console, seeds = Console(file=file, width=200), recipe.training.seeds
    run_recipe(recipe, data=data, out=out, seeds=seeds, threads=None, console=console)
    return Trained(recipe, data, out, file.getvalue() if isinstance(file, io.StringIO) else "")


def check_scores(trained: Trained) -> None:
    """The bundle's ONNX file, and its TorchScript file if it has one, score the development
    examples as its model does."""
    bundle = trained.bundle
    model = load_model(bundle)
    session = onnxruntime.InferenceSession(
        bundle.read("onnx/model.onnx"), providers=["CPUExecutionProvider"]
    )
    scripted = bundle.path / "torchscript" / "model.pt"
    others = [torch.jit.load(str(scripted))] if scripted.is_file() else []
    output = {"nodes": "node_scores", "pairs": "pair_scores"}[model.head.reads]
    for example in load_datasets(trained.recipe, trained.data).dev:
        inputs = of_one(example)
        given = {found.name: inputs[found.name].int().numpy() for found in session.get_inputs()}
        with torch.no_grad():
            expected = model(inputs)[output].numpy()
            found = [other(inputs)[output].numpy() for other in others]
        for scores in (*session.run([output], given), *found):
            np.testing.assert_allclose(scores, expected, atol=1e-5)
