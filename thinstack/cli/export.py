"""`thinstack export`, `finish` and `push`: a model as one file for other runtimes, a spaCy pipeline
without torch, a bundle on the hub."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console

from thinstack.cli.options import IsolatedOption, ModelArgument, QuantizeOption
from thinstack.errors import InputError, needs_extra


def export(
    model: ModelArgument,
    file: Annotated[
        Path,
        typer.Argument(
            help="The file to write: .onnx, or .pt for TorchScript (deprecated by PyTorch)."
        ),
    ],
    quantize: QuantizeOption = "none",
    outputs: Annotated[
        Literal["nodes", "roots"],
        typer.Option(help="nodes: scores for all phrases. roots: for whole sentences only."),
    ] = "nodes",
    index_type: Annotated[
        Literal["int32", "int64"],
        typer.Option(help="Integer type of the inputs. JavaScript needs int32."),
    ] = "int32",
    device: Annotated[
        Literal["cpu", "gpu"],
        typer.Option(
            help="Where the file will run. gpu: float32, and no synchronization between steps."
        ),
    ] = "cpu",
    data: Annotated[
        Path | None,
        typer.Option(help="Labelled trees to measure the accuracy of the exported file on."),
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Write the results of the comparison to this JSON file.")
    ] = None,
) -> None:
    """Export a model as one file for other runtimes.

    Compares the file with the model on trees of 1 to 512 words, alone and in batches. Writes
    nothing if any score differs.
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


def finish(
    pipeline: Annotated[
        Path, typer.Argument(help="A pipeline saved by spaCy, such as training/model-best.")
    ],
    out: Annotated[Path, typer.Argument(help="Folder for the finished pipeline.")],
    quantize: QuantizeOption = "none",
) -> None:
    """Write a copy of a spaCy pipeline that runs without PyTorch.

    Exports the pipeline's tree_classifier and compares it with the model on trees of 1 to 512
    words. Writes nothing if any score differs.
    """
    with needs_extra("export"), needs_extra("spacy", "spacy"):
        from thinstack.integrations.spacy_training.finish import finish_pipeline
    finish_pipeline(pipeline, out, quantize=quantize, console=Console())


def push(
    model: Annotated[str, typer.Argument(help="The model: a bundle's name or folder.")],
    repository: Annotated[str, typer.Argument(help="The repository on the hub: user/name.")],
    private: Annotated[
        bool, typer.Option("--private", help="Make a new repository visible only to you.")
    ] = False,
    revision: Annotated[
        str | None, typer.Option(help="Branch to upload to. Created if it does not exist.")
    ] = None,
    isolated: IsolatedOption = None,
) -> None:
    """Upload a bundle to the Hugging Face hub.

    Log in with `hf auth login` first, or set HF_TOKEN. push checks the bundle against its manifest
    and reference cases before the upload. Load the uploaded model as hf://user/name.
    """
    from thinstack.integrations.push import push as push_bundle
    from thinstack.integrations.show.outline import as_text

    address, url = push_bundle(
        model, repository, private=private, revision=revision, isolated=isolated
    )
    console = Console(soft_wrap=True, highlight=False)
    console.print(f"{as_text(url)}\nload it: thinstack.load({address!r})")
