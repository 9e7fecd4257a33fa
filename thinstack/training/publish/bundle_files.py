"""Makes the files of a bundle out of a trained model. Whatever writes a bundle to run takes them
from here."""

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

from thinstack.bundle.manifest import (
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
from thinstack.core.config import ModelConfig
from thinstack.core.forest import Forest
from thinstack.core.model.model import Model
from thinstack.data.words.vocabulary import WordVocabulary
from thinstack.data.words.wordpiece import WordpieceVocabulary, tokenizer_json
from thinstack.errors import ExportError
from thinstack.export.compare import reference_cases
from thinstack.export.onnx.beside import left_out
from thinstack.export.onnx.model import export_onnx
from thinstack.export.onnx.verify import VerificationReport, export_verified_onnx, verify_onnx
from thinstack.export.quantize import Quantize, dequantised
from thinstack.export.torchscript import export_torchscript


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
    files = {
        VOCABULARY_FILE: vocabulary.to_bytes(),
        ONNX_FILE: exported,
        CASES_FILE: json_file(reference_cases(model, config, quantize=quantize)),
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
    verify_onnx(exported, model, config, runtimes=("onnxruntime",), rounded=rounded)
    return left_out(exported, beside)
