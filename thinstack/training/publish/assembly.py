"""Turns a trained model into a bundle: exports it, verifies it, measures it as shipped, and
describes it. Whatever writes a bundle to run takes its files from here."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import torch
from rich.console import Console
from rich.text import Text
from torch import Tensor

from thinstack.bundle import Bundle, write_bundle
from thinstack.bundle.manifest import (
    CARD_FILE,
    CASES_FILE,
    GPU_FILE,
    ONNX_FILE,
    REPORT_FILE,
    TOKENIZER_FILE,
    TORCHSCRIPT_FILE,
    VOCABULARY_FILE,
    WEIGHTS_FILE,
    json_file,
)
from thinstack.bundle.weights import weights_of
from thinstack.bundle.writing import seal
from thinstack.core.config import ModelConfig
from thinstack.core.forest import Forest, without_trees
from thinstack.core.model.model import Model
from thinstack.data.words.vocabulary import WordVocabulary
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


class BundleFiles(NamedTuple):
    """The files of a bundle but its configuration, card and manifest.

    Attributes:
        files: their content, by name.
        report: what the verification of the ONNX file found.
        unscripted: why there is no TorchScript file though one was asked for; else "".
    """

    files: dict[str, bytes]
    report: VerificationReport
    unscripted: str = ""


def bundle_files(
    model: Model,
    config: ModelConfig,
    vocabulary: WordVocabulary | WordpieceVocabulary,
    *,
    quantize: Quantize = "none",
    development: Sequence[Forest] = (),
    inference_only: bool = True,
    gpu: bool = False,
) -> BundleFiles:
    """Export a trained model, verify it, and make the files of its bundle.

    `quantize`, `development`: as `export_verified_onnx` has them. `inference_only`:
    store the weights as the ONNX file has them, and only what that file lacks. Without it, the
    model's own weights are stored, and a TorchScript file too if the model can be scripted. `gpu`:
    add the file for GPUs, compared with the model too.

    Raises ExportError if the ONNX file does not answer as the model does.
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
        VOCABULARY_FILE: vocabulary.to_bytes(),
        ONNX_FILE: exported,
        CASES_FILE: json_file(cases),
    }
    if gpu:
        files[GPU_FILE] = gpu_file(model, config, vocabulary, quantize, beside=exported)
    if isinstance(vocabulary, WordpieceVocabulary):
        files[TOKENIZER_FILE] = tokenizer_json(vocabulary)
    if inference_only:
        files[WEIGHTS_FILE] = weights_of(dequantised(model, quantize), beside=exported)
    else:
        files[WEIGHTS_FILE] = weights_of(model)
        try:
            files[TORCHSCRIPT_FILE], scripted = export_torchscript(model)
            reports["torchscript"] = dataclasses.asdict(scripted)
        except ExportError as error:
            unscripted = str(error)
    files[REPORT_FILE] = json_file(reports)
    return BundleFiles(files, report, unscripted)


def gpu_file(
    model: Model,
    config: ModelConfig,
    vocabulary: WordVocabulary | WordpieceVocabulary,
    quantize: Quantize,
    *,
    beside: bytes,
) -> bytes:
    """The file for GPUs of a bundle whose ONNX file is `beside`, without the weights that this one
    holds. Raises ExportError if it does not answer as the model does."""
    exported = export_onnx(
        model, config, device="gpu", quantize=quantize, vocabulary_digest=vocabulary.digest()
    )
    rounded = dequantised(model, quantize)
    verify_onnx(exported, model, runtimes=("onnxruntime",), rounded=rounded)
    return left_out(exported, beside)


VERIFICATION_BATCH = 64
"""The number of sentences in a batch when the exported file is compared with the model."""
MOST_VERIFIED = 2000
"""The most development examples that the exported file is compared on."""
OBSERVED: Final = 512
"""About how many examples are read to find how large the inputs of an encoder's products become."""


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
    """Export a trained model with its temperature, and write its bundle to `path`. The weights of
    the model of `result` stay as they are.

    The manifest and the card give the figures over all seeds on the recipe's development data. If a
    predictor takes such a model, they also give the figures of the ONNX file as shipped. These are
    measured with gold trees, with the trees that raw words get, and from raw text. A model of
    sentiment also has its figures on the reported half of the suites. Predictors take models that
    read binary trees or plain sentences, but not pairs.

    The bundle has no TorchScript file if the model cannot be scripted; the console says why.

    Raises ExportError if the ONNX file does not answer as the model does, on sampled trees or on
    the first `MOST_VERIFIED` development examples.
    """
    if recipe.export.quantize == "int8":
        observe_ranges(result.model, datasets.train)
    model = calibrated(result.model, calibration, datasets.dev)
    result = dataclasses.replace(result, model=model)
    exported = bundle_files(
        model,
        recipe.model,
        datasets.vocabulary,
        quantize=recipe.export.quantize,
        development=_development(datasets.dev, model),
        inference_only=recipe.export.inference_only,
        gpu=recipe.export.gpu,
    )
    if exported.unscripted:
        encoding = console.encoding
        reason = exported.unscripted.encode(encoding, "backslashreplace").decode(encoding)
        console.print(Text(f"the bundle has no TorchScript file: {reason}"))
    files = exported.files | recipe.task.bundle_files()
    shipped, suites = _measure(files, recipe, datasets)
    for source, figures in shipped.items():
        what = "raw text" if source == "text" else f"{source} trees"
        console.print(f"as shipped, {what}: {recipe.task.line(figures, recipe.model.shown_labels)}")
    size = len(files[ONNX_FILE])
    text = card(recipe, result, shipped, over_seeds, calibration, suites, size=size)
    files[CARD_FILE] = text.encode()
    metrics: dict[str, Any] = {"recipe": recipe.name, "seed": result.seed}
    metrics |= {"development": shipped, "over_seeds": over_seeds, "suites": suites}
    metrics["calibration"] = dataclasses.asdict(calibration)
    return write_bundle(
        path, files, config=recipe.model, metrics=metrics, data=recipe.data.statement
    )


def _development(examples: Sequence[Example], model: Model) -> list[Forest]:
    """The first development examples in batches, over their gold trees. If the model parses, each
    batch comes again without trees, for the model to make them."""
    forests = []
    for _, forest in forests_of(examples[:MOST_VERIFIED], "gold", VERIFICATION_BATCH):
        forests += [forest, without_trees(forest)] if model.parses else [forest]
    return forests


def _measure(
    files: dict[str, bytes], recipe: Recipe, datasets: Datasets
) -> tuple[dict[str, Figures], dict[str, dict[str, Any]]]:
    """The figures of the files as a bundle, on the data and on the reported half of each suite.
    Both are empty for a model that predictors do not take. Suites are for classes that have a
    negative and a positive side."""
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
    """Set the `bound` of each product in the leaf embedding: for each of its inputs, the greatest
    absolute value that it reads. About `OBSERVED` examples are read, evenly spread."""
    modules: list[Any] = [
        module for module in model.embedding.modules() if hasattr(module, "bound")
    ]
    for module in modules:
        module.bound.zero_()
    hooks = [module.register_forward_pre_hook(_note) for module in modules]
    step = max(1, len(examples) // OBSERVED)
    model.eval()
    try:
        for _, forest in forests_of(examples[::step] if modules else [], "gold"):
            model.embed(model.inputs(forest))
    finally:
        for hook in hooks:
            hook.remove()


def _note(module: Any, inputs: tuple[Tensor, ...]) -> None:
    module.bound.copy_(torch.maximum(module.bound, inputs[0].abs().amax(0)))
