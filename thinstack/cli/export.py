"""`thinstack export`, `finish` and `push`: a model as a single file for other runtimes, a spaCy
pipeline without torch, a bundle on the hub."""

from pathlib import Path
from typing import Any, Literal

from rich.console import Console

from thinstack.cli.options import IsolatedOption, QuantizeOption, argument, grouped, option
from thinstack.errors import InputError, needs_extra


@grouped
def export(
    *,
    model: str = argument("The model: a bundle's name, folder or hf:// address."),
    file: Path = argument(
        "The file to write: .onnx, or .pt for TorchScript (deprecated by PyTorch)."
    ),
    quantize: QuantizeOption = "none",
    outputs: Literal["nodes", "roots"] = option(
        "nodes: scores for all phrases. roots: scores for whole sentences only.", default="nodes"
    ),
    index_type: Literal["int32", "int64"] = option(
        "Integer type of the inputs. JavaScript needs int32.", default="int32"
    ),
    device: Literal["cpu", "gpu"] = option(
        "Where the file will run. gpu: in float32, without synchronizing with the CPU between "
        "steps.",
        default="cpu",
    ),
    data: Path | None = option("Labeled trees on which to measure the exported file's accuracy."),
    report: Path | None = option("Write the results of the comparison to this JSON file."),
) -> None:
    """Export a model as one file for other runtimes.

    Compares the file with the model on trees of 1 to 512 words, one at a time and in batches.
    Writes nothing if the scores do not match.
    """
    formats: dict[str, Any] = {".onnx": "onnx", ".pt": "torchscript"}
    suffix = file.suffix.lower()
    if suffix not in formats:
        raise InputError(
            f"{file}: expected a name that ends in {' or '.join(formats)}, which sets the "
            "format: rename the file"
        )
    with needs_extra("export"):
        from thinstack.export.export_file import export_file
        from thinstack.export.onnx.model import Options
    options = Options(quantize=quantize, index_type=index_type, outputs=outputs, device=device)
    more: dict[str, Any] = {"trees": data, "report": report, "console": Console()}
    more["progress"] = Console(stderr=True)
    export_file(model, file, format=formats[suffix], options=options, **more)


@grouped
def finish(
    *,
    pipeline: Path = argument("A pipeline saved by spaCy, such as training/model-best."),
    out: Path = argument("Folder for the finished pipeline."),
    quantize: QuantizeOption = "none",
) -> None:
    """Write a copy of a spaCy pipeline that runs without PyTorch.

    Exports the pipeline's tree_classifier and compares it with the model on trees of 1 to 512
    words. Writes nothing if the scores do not match.
    """
    with needs_extra("export"), needs_extra("spacy", "spacy"):
        from thinstack.integrations.spacy_training.finish import finish_pipeline
    finish_pipeline(pipeline, out, quantize=quantize, console=Console())


@grouped
def push(
    *,
    model: str = argument("The model: a bundle's name or folder."),
    repository: str = argument("The repository on the hub: user/name."),
    private: bool = option("Make a new repository visible only to you.", default=False),
    revision: str | None = option("Branch to upload to. Created if it does not exist."),
    isolated: IsolatedOption = None,
) -> None:
    """Upload a bundle to the Hugging Face Hub.

    Log in with `hf auth login` first, or set HF_TOKEN. push checks the bundle against its manifest
    and reference cases before the upload. Load the uploaded model as hf://user/name.
    """
    from thinstack.integrations.push import push as push_bundle
    from thinstack.integrations.show.marks import as_text

    address, url = push_bundle(
        model, repository, private=private, revision=revision, isolated=isolated
    )
    console = Console(soft_wrap=True, highlight=False)
    console.print(f"{as_text(url)}\nload it: thinstack.load({address!r})")
