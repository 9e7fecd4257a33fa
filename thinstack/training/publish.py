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
from thinstack.training.recipe import Material, SeedResult

__all__ = ["publish"]

ACCURACIES = ("root_accuracy", "root_binary_accuracy", "phrase_accuracy")

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
    files[CARD_FILE] = _card(recipe, result, shipped, over_seeds, len(exported)).encode()
    metrics: dict[str, Any] = {"recipe": recipe.name, "seed": result.seed, "development": shipped, "over_seeds": over_seeds}
    return write_bundle(path, files, config=recipe.model, metrics=metrics, data=recipe.data.statement)


def _json(data: object) -> bytes:
    return (json.dumps(data, indent=1) + "\n").encode()


def _card(recipe: Recipe, result: SeedResult, shipped: Figures, over_seeds: dict[str, Any], size: int) -> str:
    """The model card, Markdown."""
    rows = ["| trees | figures of | sentences | binary | phrases |", "|---|---|---|---|---|"]
    for source, figures in shipped.items():
        cells = " | ".join(percent(figures[key]) for key in ACCURACIES)
        rows.append(f"| {source} | this file | {cells} |")
    for source, spread in over_seeds.items():
        cells = " | ".join(f"{percent(spread[key]['mean'])} ± {percent(spread[key]['std'])}" for key in ACCURACIES)
        rows.append(f"| {source} | all seeds, before quantisation | {cells} |")
    training = recipe.training
    return "\n".join(
        [
            f"# {recipe.name}",
            "",
            recipe.description.strip(),
            "",
            f"- Classes: {', '.join(recipe.model.labels)}.",
            (
                f"- Cell `{recipe.model.cell.name}`, hidden size {recipe.model.cell.hidden_size}; "
                f"{recipe.model.embedding.kind} of {recipe.model.embedding.size} columns; task head `{recipe.model.head.name}`."
            ),
            f"- Trees of raw words: `{recipe.model.tree_source}`.",
            f"- ONNX file: {size / 1e6:.2f} MB, weights stored as `{recipe.export.quantize}`.",
            (
                f"- Trained by `thinstack train` on `{recipe.data.train}`, seed {result.seed}, {len(result.history)} epochs; "
                f"stopped on: {training.stop_on}."
            ),
            "",
            "## Accuracy",
            "",
            f"On `{recipe.data.dev}`, percent; binary leaves neutral sentences out. Trees: gold, or auto as raw text gets.",
            "",
            *rows,
            "",
            "## Data and terms",
            "",
            recipe.data.statement.strip(),
            "",
        ]
    )
