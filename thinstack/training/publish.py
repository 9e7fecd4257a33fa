"""From a trained model to its bundle: exported, verified, measured as shipped, and described."""

import json
from pathlib import Path
from typing import Any

from rich.console import Console

from thinstack.bundles import Bundle, write_bundle
from thinstack.config import Recipe
from thinstack.evaluation import Source, evaluate_file
from thinstack.export.onnx_verify import export_verified_onnx
from thinstack.export.samples import reference_cases
from thinstack.export.torchscript import export_torchscript
from thinstack.integrations.onnxruntime import Predictor
from thinstack.manifest import (
    CARD_FILE,
    CASES_FILE,
    DISTANCES_FILE,
    ONNX_FILE,
    REPORT_FILE,
    TORCHSCRIPT_FILE,
    VOCABULARY_FILE,
    WEIGHTS_FILE,
)
from thinstack.metrics import percent
from thinstack.models import weights_of
from thinstack.training.card import ACCURACIES, card
from thinstack.training.recipe import Material, SeedResult

__all__ = ["publish"]

Figures = dict[str, dict[str, Any]]


def publish(
    recipe: Recipe,
    material: Material,
    result: SeedResult,
    over_seeds: dict[str, Any],
    *,
    data: Path,
    path: Path,
    console: Console,
) -> Bundle:
    """Export a trained model and write its bundle to `path`.

    The figures in its manifest and card are those of the ONNX file as shipped, on the recipe's development file: with gold
    trees and with the trees that raw words get. Raises ExportError if an export does not answer as the model does.
    """
    exported, report = export_verified_onnx(
        result.model,
        recipe.model,
        quantize=recipe.export.quantize,
        index_type=recipe.export.index_type,
        vocabulary_digest=material.vocabulary.digest(),
    )
    files = {
        VOCABULARY_FILE: material.vocabulary.to_bytes(),
        ONNX_FILE: exported,
        REPORT_FILE: _json(report.to_dict()),
        CASES_FILE: _json(reference_cases(result.model, recipe.model, quantize=recipe.export.quantize)),
    }
    if material.distances is not None:
        files[DISTANCES_FILE] = material.distances.to_bytes()
    if not recipe.export.inference_only:
        files[WEIGHTS_FILE] = weights_of(result.model)
        files[TORCHSCRIPT_FILE] = export_torchscript(result.model)
    predictor = Predictor(write_bundle(path, files, config=recipe.model))
    sources: tuple[Source, ...] = ("gold", "auto")
    shipped: Figures = {source: evaluate_file(predictor, data / recipe.data.dev, source=source) for source in sources}
    for source, figures in shipped.items():
        console.print(f"as shipped, {source} trees: " + ", ".join(f"{key} {percent(figures[key])}" for key in ACCURACIES))
    files[CARD_FILE] = card(recipe, result, shipped, over_seeds, size=len(exported)).encode()
    metrics: dict[str, Any] = {"recipe": recipe.name, "seed": result.seed, "development": shipped, "over_seeds": over_seeds}
    return write_bundle(path, files, config=recipe.model, metrics=metrics, data=recipe.data.statement)


def _json(data: object) -> bytes:
    return (json.dumps(data, indent=1) + "\n").encode()
