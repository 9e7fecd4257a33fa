"""`thinstack finish`: make a trained spaCy pipeline one that needs no torch."""

from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console

from thinstack.errors import needs_extra

__all__ = ["finish"]


def finish(
    pipeline: Annotated[
        Path, typer.Argument(help="A pipeline that spaCy saved, such as training/model-best.")
    ],
    out: Annotated[Path, typer.Argument(help="Folder for the finished pipeline.")],
    quantize: Annotated[
        Literal["none", "fp16", "int8-tables", "int8"],
        typer.Option(
            help="How weights are stored: smaller, with slightly other scores; int8 computes with "
            "8 bits too."
        ),
    ] = "none",
) -> None:
    """Export the tree_classifier of a trained spaCy pipeline, and write a copy of the pipeline that
    loads and runs without torch.

    What is exported is compared with the model on trees of 1 to 512 words; if anything differs,
    nothing is written.
    """
    with needs_extra("export"), needs_extra("spacy", "spacy"):
        from thinstack.spacy_training.finish import finish_pipeline
    finish_pipeline(pipeline, out, quantize=quantize, console=Console())
