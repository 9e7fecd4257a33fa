"""`thinstack export`: the model of a bundle as one file, verified before it is written."""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from rich.console import Console
from rich.table import Table

from thinstack.bundle import Bundle, open_bundle
from thinstack.bundle.manifest import ONNX_FILE, VOCABULARY_FILE
from thinstack.bundle.weights import load_model
from thinstack.bundle.writing import seal
from thinstack.core.model.model import Model
from thinstack.core.scale import Scale
from thinstack.data.files.outputs import check_output
from thinstack.data.trees.treebank import Labelled, read_labelled
from thinstack.errors import ExportError
from thinstack.evaluate.figures import percent
from thinstack.evaluate.treebank_evaluation import evaluate_predictor
from thinstack.export.compare import RuntimeReport
from thinstack.export.onnx.model import DEFAULTS, Options, export_onnx
from thinstack.export.onnx.verify import VerificationReport, export_verified_onnx
from thinstack.export.quantize import Quantize
from thinstack.export.torchscript import export_torchscript
from thinstack.integrations.show.marks import as_text
from thinstack.runtime.predictor import Predictor

Format = Literal["onnx", "torchscript"]
ACCURACIES = {
    "root_accuracy": "sentences",
    "root_binary_accuracy": "sentences, binary",
    "phrase_accuracy": "phrases",
}


def export_file(
    source: str,
    path: Path,
    *,
    format: Format,
    options: Options,
    trees: Path | None,
    report: Path | None,
    console: Console,
    progress: Console,
) -> None:
    """Export the model of a bundle, by name or folder, to `path`, which is written only after
    verification. Prints the results on `console`, and a line on `progress` while they take long.

    Args:
        options: options of ONNX files, as in `export_onnx`.
        trees: labeled binary trees, on which to measure the accuracy and size that options cost.
        report: a file for the verification report, as JSON.

    Raises ExportError if the file differs from the model, or for options of another format;
    InputError as `check_output` does; BundleError for a bundle without torch weights; and DataError
    or TreeError for invalid `trees`.
    """
    if format != "onnx" and (options != DEFAULTS or trees is not None):
        raise ExportError(
            "quantize, outputs, index_type, device and data apply only to ONNX files; omit "
            f"them for {format}"
        )
    bundle = open_bundle(source)
    file = check_output(path, "FILE", (bundle.path, trees))
    used = (bundle.path, trees, path)
    report_file = None if report is None else check_output(report, "--report", used)
    model = load_model(bundle)
    treebank = _treebank(model, bundle, trees) if trees is not None else []
    doing = "comparing it with the model on trees of 1 to 512 words takes a minute or more"
    progress.print(f"exporting; {doing}", soft_wrap=True, highlight=False)
    verification: VerificationReport | RuntimeReport
    if format == "torchscript":
        content, verification = export_torchscript(model)
    else:
        digest = bundle.vocabulary().digest()
        content, verification = export_verified_onnx(
            model, bundle.config, vocabulary_digest=digest, **options
        )
    data: dict[str, Any] = dataclasses.asdict(verification)
    if trees is not None:
        data["cost"] = _cost(model, bundle, options["quantize"], treebank)
    file.write(content)
    if report_file is not None:
        report_file.write(f"{json.dumps(data, indent=1)}\n")
    _print(path, len(content), verification, console)
    if trees is not None:
        _print_cost(data["cost"], trees, bundle.config.labels, console)


def _treebank(model: Model, bundle: Bundle, trees: Path) -> list[Labelled]:
    """Read the treebank. Raises ExportError for a model that does not score the nodes of binary
    trees, and DataError or TreeError for an invalid file."""
    if bundle.config.trees != "binary" or "node_scores" not in model.output_names:
        raise ExportError(
            "data needs a model that scores the nodes of binary trees; this one returns "
            f"{', '.join(model.output_names)}; omit data"
        )
    return read_labelled(trees, bundle.config.labels, relabel=bundle.relabel())


def _cost(
    model: Model, bundle: Bundle, quantize: Quantize, treebank: Sequence[Labelled]
) -> dict[str, dict[str, Any]]:
    """Return bytes and accuracies on gold trees, of the model in float32 and as exported."""
    costs: dict[str, dict[str, Any]] = {}
    digest = bundle.vocabulary().digest()
    for storage in dict.fromkeys(("none", quantize)):
        exported = export_onnx(model, bundle.config, quantize=storage, vocabulary_digest=digest)
        files = {VOCABULARY_FILE: bundle.read(VOCABULARY_FILE), ONNX_FILE: exported}
        predictor = Predictor(seal(files, config=bundle.config), isolated=False)
        figures = evaluate_predictor(predictor, treebank, source="gold")
        costs["float32" if storage == "none" else storage] = {"bytes": len(exported), **figures}
    return costs


def _print(
    path: Path, size: int, report: VerificationReport | RuntimeReport, console: Console
) -> None:
    lines = [f"{as_text(path)}: {size:,} bytes"]
    for one in report.runtimes if isinstance(report, VerificationReport) else [report]:
        lines.append(
            f"{one.runtime} {one.version}: {one.trees} trees of {one.nodes:,} nodes in "
            f"{one.cases} batches; scores differ by at most {one.max_error:.1e}, "
            f"{one.mean_error:.1e} on average"
        )
    if isinstance(report, VerificationReport):
        rounded = f", products in 8 bits: {report.int8_products}" if report.int8_products else ""
        lines.append(
            f"opset {report.opset}, IR {report.ir_version}, {report.quantization}{rounded}"
        )
    console.print("\n".join(lines), soft_wrap=True, highlight=False)


def _print_cost(
    cost: Mapping[str, Mapping[str, Any]], trees: Path, labels: Sequence[str], console: Console
) -> None:
    title, binary = f"accuracy in percent on the gold trees of {as_text(trees)}", Scale.of(labels)
    names = {key: name for key, name in ACCURACIES.items() if binary or "binary" not in key}
    table = Table("", "MB", *names.values(), title=title)
    for name, figures in cost.items():
        right = (percent(figures[key]) for key in names)
        table.add_row(name, f"{figures['bytes'] / 1e6:.2f}", *right)
    console.print(table)
