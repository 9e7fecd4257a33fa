"""Turns a trained model into a bundle: exports, verifies, evaluates and describes it."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import torch
from rich.console import Console
from rich.text import Text
from torch import Tensor

from thinstack.bundle import Bundle, manifest, write_bundle
from thinstack.bundle.weights import weights_of
from thinstack.bundle.writing import seal
from thinstack.core.config import ModelConfig
from thinstack.core.forest import Forest, without_trees
from thinstack.core.model.model import Model
from thinstack.data.words.vocabulary import Vocabulary
from thinstack.data.words.wordpiece import WordpieceVocabulary, tokenizer_json
from thinstack.errors import ExportError
from thinstack.evaluate.figures import Figures
from thinstack.evaluate.suite import halves, read_suite, suite_names
from thinstack.evaluate.suite_evaluation import evaluate_suite
from thinstack.export.compare import reference_cases
from thinstack.export.onnx.beside import left_out
from thinstack.export.onnx.model import export_onnx
from thinstack.export.onnx.verify import VerificationReport, export_verified_onnx, verify_onnx
from thinstack.export.quantize import Quantize, dequantised
from thinstack.export.torchscript import export_torchscript
from thinstack.runtime.predictor import Predictor
from thinstack.runtime.reference import ENCODER_ROUNDING, INT8_ROUNDING, answer_cases
from thinstack.training.examples.datasets import Datasets
from thinstack.training.examples.example import Example, forests_of
from thinstack.training.loop.seeds import SeedResult
from thinstack.training.publish.calibrate import Calibration, calibrated
from thinstack.training.publish.reports import card
from thinstack.training.recipe import Recipe

VERIFICATION_BATCH = 64
"""Sentences per batch when the exported file is compared with the model."""
MOST_VERIFIED = 2000
"""Maximum development examples on which the exported file is compared."""
OBSERVED: Final = 512
"""About how many examples are read to find the ranges of the inputs of an encoder's products."""


def bundle_files(
    model: Model,
    config: ModelConfig,
    vocabulary: Vocabulary,
    *,
    quantize: Quantize = "none",
    development: Sequence[Forest] = (),
    inference_only: bool = True,
    gpu: bool = False,
) -> tuple[dict[str, bytes], VerificationReport, str]:
    """Export and verify a trained model.

    Returns the files of its bundle by name, except the configuration, card and manifest; the result
    of verifying the ONNX file; and why there is no TorchScript file, although one was requested, or
    "".

    `quantize`, `development`: as in `export_verified_onnx`. `inference_only`: store only the
    weights that the ONNX file lacks, as quantized there; otherwise store all weights of the model,
    and a TorchScript file if the model can be scripted. `gpu`: add the file for GPUs.

    Raises ExportError if an ONNX file and the model give different scores.
    """
    exported, report = export_verified_onnx(
        model,
        config,
        quantize=quantize,
        vocabulary_digest=vocabulary.digest(),
        development=development,
    )
    reports, unscripted = {"onnx": dataclasses.asdict(report)}, ""
    cases = reference_cases(model, config, quantize=quantize)
    if quantize == "int8":
        in_context = "lengths" in model.embedding.index_names
        cases = answer_cases(cases, exported, ENCODER_ROUNDING if in_context else INT8_ROUNDING)
    files = {
        manifest.VOCABULARY_FILE: vocabulary.to_bytes(),
        manifest.ONNX_FILE: exported,
        manifest.CASES_FILE: manifest.json_file(cases),
    }
    if gpu:
        files[manifest.GPU_FILE] = gpu_file(model, config, vocabulary, quantize, beside=exported)
    if isinstance(vocabulary, WordpieceVocabulary):
        files[manifest.TOKENIZER_FILE] = tokenizer_json(vocabulary)
    if inference_only:
        files[manifest.WEIGHTS_FILE] = weights_of(dequantised(model, quantize), beside=exported)
    else:
        files[manifest.WEIGHTS_FILE] = weights_of(model)
        try:
            files[manifest.TORCHSCRIPT_FILE], scripted = export_torchscript(model)
            reports["torchscript"] = dataclasses.asdict(scripted)
        except ExportError as error:
            unscripted = str(error)
    files[manifest.REPORT_FILE] = manifest.json_file(reports)
    return files, report, unscripted


def gpu_file(
    model: Model, config: ModelConfig, vocabulary: Vocabulary, quantize: Quantize, *, beside: bytes
) -> bytes:
    """Return the file for GPUs, without the weights that the ONNX file `beside` it contains. Raises
    ExportError if it and the model give different scores."""
    exported = export_onnx(
        model, config, device="gpu", quantize=quantize, vocabulary_digest=vocabulary.digest()
    )
    rounded = dequantised(model, quantize)
    verify_onnx(exported, model, runtimes=("onnxruntime",), rounded=rounded)
    return left_out(exported, beside)


def publish(
    recipe: Recipe,
    datasets: Datasets,
    result: SeedResult,
    over_seeds: dict[str, Any],
    calibration: Calibration,
    *,
    path: Path,
    console: Console,
) -> Bundle:
    """Export a copy of a trained model with its temperature, and write its bundle to `path`.

    The manifest and the card contain the figures of all seeds on the development data. If
    predictors run such models, on binary trees or plain sentences, they also contain the figures of
    the ONNX file as shipped: with gold trees, with the trees that raw words get, and from raw text.
    For a sentiment model, they contain its figures on the reported halves of the suites.

    If the model cannot be scripted, the bundle has no TorchScript file, and the console shows why.
    Raises ExportError if the ONNX file and the model give different scores for sampled trees or for
    the first `MOST_VERIFIED` development examples.
    """
    if recipe.export.quantize == "int8":
        observe_ranges(result.model, datasets.train)
    model = calibrated(result.model, calibration, datasets.dev)
    development = list[Forest]()
    for _, forest in forests_of(datasets.dev[:MOST_VERIFIED], "gold", VERIFICATION_BATCH):
        development += [forest, without_trees(forest)] if model.parses else [forest]
    files, _, unscripted = bundle_files(
        model,
        recipe.model,
        datasets.vocabulary,
        quantize=recipe.export.quantize,
        development=development,
        inference_only=recipe.export.inference_only,
        gpu=recipe.export.gpu,
    )
    if unscripted:
        encoding = console.encoding
        reason = unscripted.encode(encoding, "backslashreplace").decode(encoding)
        console.print(Text(f"the bundle has no TorchScript file: {reason}"))
    files |= recipe.task.bundle_files()
    shipped, suites = _evaluate(files, recipe, datasets)
    for source, figures in shipped.items():
        what = "raw text" if source == "text" else f"{source} trees"
        console.print(f"as shipped, {what}: {recipe.task.line(figures, recipe.model.shown_labels)}")
    size = len(files[manifest.ONNX_FILE])
    text = card(recipe, result, shipped, over_seeds, calibration, suites, size=size)
    files[manifest.CARD_FILE] = text.encode()
    metrics: dict[str, Any] = {"recipe": recipe.name, "seed": result.seed}
    metrics |= {"development": shipped, "over_seeds": over_seeds, "suites": suites}
    metrics["calibration"] = dataclasses.asdict(calibration)
    return write_bundle(
        path, files, config=recipe.model, metrics=metrics, data=recipe.data.statement
    )


def _evaluate(
    files: dict[str, bytes], recipe: Recipe, datasets: Datasets
) -> tuple[dict[str, Figures], dict[str, dict[str, Any]]]:
    """Return the figures of a bundle on the development data and on the reported half of each
    suite; empty if predictors do not run such models, or if its classes express no sentiment."""
    if not recipe.task.predicts or recipe.model.trees not in ("sequence", "binary"):
        return {}, {}
    predictor = Predictor(seal(files, config=recipe.model), isolated=False)
    suites = {
        name: evaluate_suite(predictor, halves(read_suite(name), "reported")).figures
        for name in (suite_names() if predictor.view.scale else ())
    }
    return recipe.task.measure_bundle(predictor, recipe, datasets), suites


@torch.inference_mode()
def observe_ranges(model: Model, examples: Sequence[Example]) -> None:
    """Set the `bound` of each product in the leaf embedding to the maximum absolute value of each
    of its inputs, over about `OBSERVED` evenly spread examples."""
    modules: list[Any] = [
        module for module in model.embedding.modules() if hasattr(module, "bound")
    ]
    if not modules:
        return

    def observe(module: Any, inputs: tuple[Tensor, ...]) -> None:
        module.bound.copy_(torch.maximum(module.bound, inputs[0].abs().amax(0)))

    for module in modules:
        module.bound.zero_()
    hooks = [module.register_forward_pre_hook(observe) for module in modules]
    model.eval()
    try:
        for _, forest in forests_of(examples[:: max(1, len(examples) // OBSERVED)], "gold"):
            model.embed(model.inputs(forest))
    finally:
        for hook in hooks:
            hook.remove()
