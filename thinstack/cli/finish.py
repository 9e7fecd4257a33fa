"""`thinstack finish`: turns a trained spaCy pipeline into one that needs no torch."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from thinstack.cli.options import QuantizeOption
from thinstack.errors import needs_extra


def finish(
    pipeline: Annotated[
        Path, typer.Argument(help="A pipeline that spaCy has saved, such as training/model-best.")
    ],
    out: Annotated[Path, typer.Argument(help="Folder for the finished pipeline.")],
    quantize: QuantizeOption = "none",
) -> None:
    """Write a copy of a spaCy pipeline that runs without torch.

    The pipeline's tree_classifier is exported, and compared with the model on trees of 1 to 512
    words. If any answer differs, nothing is written.
    """
    with needs_extra("export"), needs_extra("spacy", "spacy"):
        from thinstack.integrations.spacy_training.finish import finish_pipeline
    finish_pipeline(pipeline, out, quantize=quantize, console=Console())
