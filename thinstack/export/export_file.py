"""`thinstack export`: one file of a bundle's model in another form, verified before it is
written."""

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from rich.console import Console
from rich.table import Table

from thinstack.bundle import Bundle, open_bundle, write_bundle
from thinstack.bundle.manifest import ONNX_FILE, VOCABULARY_FILE
from thinstack.data.files import write_atomically
from thinstack.data.treebank import read_labelled
from thinstack.errors import ExportError
from thinstack.export.compare import RuntimeReport
from thinstack.export.onnx.model import IndexType, Outputs, export_onnx
from thinstack.export.onnx.verify import VerificationReport, export_verified_onnx
from thinstack.export.quantize import Quantize
from thinstack.export.torchscript import export_torchscript
from thinstack.measure.evaluation import evaluate_file
from thinstack.measure.figures import percent
from thinstack.models import Model, load_model
from thinstack.runtime.predictor import Predictor

__all__ = ["Format", "Options", "export_file"]

Format = Literal["onnx", "torchscript"]
ACCURACIES = {
    "root_accuracy": "sentences",
    "root_binary_accuracy": "sentences, binary",
    "phrase_accuracy": "phrases",
}


@dataclass(frozen=True, slots=True)
class Options:
    """What the format leaves open; of ONNX alone, see `export_onnx`."""

    quantize: Quantize = "none"
    index_type: IndexType = "int32"
    outputs: Outputs = "nodes"


def export_file(
    source: str,
    path: Path,
    *,
    format: Format,
    options: Options,
    trees: Path | None,
    report: Path | None,
    console: Console,
) -> None:
    """Export the model of a bundle to `path`, which is written whole and only once the file has
    been verified, or not at all.

    `trees`: a file of labelled binary trees; what the options cost in accuracy and save in size is
    told of it. `report`: where to write what the verification found, JSON. Raises ExportError if
    the file does not answer as the model does, or the options do not belong to the format;
    BundleError if the bundle has no torch weights.
    """
    if format != "onnx" and (options != Options() or trees is not None):
        raise ExportError(
            "quantize, outputs, index_type and data are for ONNX files; leave them out for "
            f"{format}"
        )
    _check_places(path, report)
    bundle = open_bundle(source)
    model = load_model(bundle)
    if trees is not None:
        _check_trees(model, bundle, trees)
    content, found = _exported(model, bundle, format, options)
    data: dict[str, Any] = dataclasses.asdict(found)
    if trees is not None:
        data["cost"] = _cost(model, bundle, options, trees)
    _write(path, content)
    if report is not None:
        _write(report, f"{json.dumps(data, indent=1)}\n".encode())
    _print(path, len(content), found, console)
    if trees is not None:
        _print_cost(data["cost"], trees, console)


def _check_places(path: Path, report: Path | None) -> None:
    """Raise ExportError for files that could not be written, before the work is done."""
    if report is not None and report.resolve() == path.resolve():
        raise ExportError(
            f"{report}: the report would take the place of the exported file; name another"
        )
    for file in (path, report):
        if file is not None and file.is_dir():
            raise ExportError(f"{file}: a folder; expected the name of a file to write")


def _check_trees(model: Model, bundle: Bundle, trees: Path) -> None:
    """Raise ExportError for a model whose accuracy such a file cannot tell, DataError or TreeError
    for a file of no trees."""
    if bundle.config.trees != "binary" or "node_scores" not in model.output_names:
        raise ExportError(
            "data is for models that score the nodes of binary trees; this one gives "
            f"{model.output_names}"
        )
    read_labelled(trees, bundle.config.labels)


def _exported(
    model: Model, bundle: Bundle, format: Format, options: Options
) -> tuple[bytes, VerificationReport | RuntimeReport]:
    if format == "torchscript":
        return export_torchscript(model)
    digest = bundle.vocabulary().digest()
    return export_verified_onnx(
        model, bundle.config, **dataclasses.asdict(options), vocabulary_digest=digest
    )


def _cost(model: Model, bundle: Bundle, options: Options, trees: Path) -> dict[str, dict[str, Any]]:
    """Bytes and accuracies over the gold trees of a file, of the model in float32 and as it is
    exported."""
    found = {}
    rows: tuple[tuple[str, Quantize], ...] = (
        ("float32", "none"),
        (options.quantize, options.quantize),
    )
    for name, quantize in rows if options.quantize != "none" else rows[:1]:
        exported = export_onnx(
            model, bundle.config, quantize=quantize, vocabulary_digest=bundle.vocabulary().digest()
        )
        files = {VOCABULARY_FILE: bundle.read(VOCABULARY_FILE), ONNX_FILE: exported}
        with TemporaryDirectory() as folder:
            predictor = Predictor(write_bundle(Path(folder) / "model", files, config=bundle.config))
            found[name] = {"bytes": len(exported), **evaluate_file(predictor, trees, source="gold")}
    return found


def _print(
    path: Path, size: int, report: VerificationReport | RuntimeReport, console: Console
) -> None:
    console.print(f"{path}: {size:,} bytes", soft_wrap=True, highlight=False)
    for runtime in report.runtimes if isinstance(report, VerificationReport) else [report]:
        run = f"{runtime.trees} trees of {runtime.nodes:,} nodes in {runtime.cases} batches"
        errors = (
            f"scores differ by at most {runtime.max_error:.1e}, {runtime.mean_error:.1e} on average"
        )
        console.print(
            f"{runtime.runtime} {runtime.version}: {run}; {errors}", soft_wrap=True, highlight=False
        )
    if isinstance(report, VerificationReport):
        rounded = f", products in 8 bits: {report.int8_products}" if report.int8_products else ""
        console.print(
            f"opset {report.opset}, IR {report.ir_version}, {report.quantization}{rounded}",
            highlight=False,
        )


def _print_cost(cost: Mapping[str, Mapping[str, Any]], trees: Path, console: Console) -> None:
    table = Table(
        "", "MB", *ACCURACIES.values(), title=f"percent right over the gold trees of {trees}"
    )
    for name, figures in cost.items():
        table.add_row(
            name, f"{figures['bytes'] / 1e6:.2f}", *(percent(figures[key]) for key in ACCURACIES)
        )
    console.print(table)


def _write(path: Path, content: bytes) -> None:
    try:
        write_atomically(path, content)
    except OSError as error:
        raise ExportError(f"{path}: cannot be written: {error.strerror}") from None
