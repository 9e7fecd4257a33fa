"""`thinstack export`: a bundle's model as one file for other runtimes."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console

from thinstack.errors import InputError, needs_extra

__all__ = ["export"]


def export(
    model: Annotated[str, typer.Argument(help="Name, folder or hf:// address of a bundle.")],
    file: Annotated[
        Path, typer.Argument(help="The file: .onnx, or .pt (TorchScript, which torch deprecates).")
    ],
    quantize: Annotated[
        Literal["none", "fp16", "int8-tables", "int8"],
        typer.Option(help="How ONNX stores weights; int8 computes with 8 bits too."),
    ] = "none",
    outputs: Annotated[
        Literal["nodes", "roots"],
        typer.Option(help="Scores of all phrases, or of sentences alone."),
    ] = "nodes",
    index_type: Annotated[
        Literal["int32", "int64"], typer.Option(help="Type of the inputs; JavaScript wants int32.")
    ] = "int32",
    data: Annotated[
        Path | None, typer.Option(help="Labelled trees: tell what quantising costs on them.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Write what the verification found to this file, JSON.")
    ] = None,
) -> None:
    """Write a model as one file for other runtimes, once it has been found to answer as the model
    does.

    It is compared on trees of 1 to 512 words in all shapes, alone and in batches; if anything
    differs, nothing is written.
    """
    formats: dict[str, Any] = {".onnx": "onnx", ".pt": "torchscript"}
    suffix = file.suffix.lower()
    if suffix not in formats:
        raise InputError(
            f"{file}: expected a name that ends with {', '.join(formats)}, which says what to write"
        )
    with needs_extra("export"):
        from thinstack.export.export_file import export_file
        from thinstack.export.onnx.model import Options
    options = Options(quantize=quantize, index_type=index_type, outputs=outputs)
    kind, console = formats[suffix], Console()
    export_file(
        model, file, format=kind, options=options, trees=data, report=report, console=console
    )
