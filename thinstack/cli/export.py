"""`thinstack export`: writes a bundle's model as one file for other runtimes."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console

from thinstack.cli.options import ModelArgument, QuantizeOption
from thinstack.errors import InputError, needs_extra


def export(
    model: ModelArgument,
    file: Annotated[
        Path,
        typer.Argument(
            help="The file to write: .onnx, or .pt for TorchScript, which torch deprecates."
        ),
    ],
    quantize: QuantizeOption = "none",
    outputs: Annotated[
        Literal["nodes", "roots"],
        typer.Option(help="nodes: scores of all phrases. roots: only of whole sentences."),
    ] = "nodes",
    index_type: Annotated[
        Literal["int32", "int64"],
        typer.Option(help="Integer type of the inputs. JavaScript needs int32."),
    ] = "int32",
    device: Annotated[
        Literal["cpu", "gpu"],
        typer.Option(
            help="What the file is for. gpu: in float32, with its steps side by side and the names "
            "of the nodes that are the host's in its metadata."
        ),
    ] = "cpu",
    data: Annotated[
        Path | None,
        typer.Option(help="A file of labelled trees, to measure what quantising costs."),
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Write the results of the comparison to this file, as JSON.")
    ] = None,
) -> None:
    """Write a model as one file for other runtimes.

    The file is first compared with the model, on trees of 1 to 512 words in all shapes, one by one
    and in batches. If any answer differs, nothing is written.
    """
    formats: dict[str, Any] = {".onnx": "onnx", ".pt": "torchscript"}
    suffix = file.suffix.lower()
    if suffix not in formats:
        raise InputError(
            f"{file}: the name must end with {' or '.join(formats)}, which chooses the format: "
            "rename the file"
        )
    with needs_extra("export"):
        from thinstack.export.export_file import export_file
        from thinstack.export.onnx.model import Options
    options = Options(quantize=quantize, index_type=index_type, outputs=outputs, device=device)
    more: dict[str, Any] = {"trees": data, "report": report, "console": Console()}
    export_file(model, file, format=formats[suffix], options=options, **more)
