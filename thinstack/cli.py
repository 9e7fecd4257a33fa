"""The command line, `thinstack predict | evaluate | train | export | plugins`: errors are a
message and exit code 2."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.console import Console
from rich.text import Text

from thinstack._version import __version__
from thinstack.config import Device, EvaluationSource, TreeSource
from thinstack.errors import InputError, ThinstackError, needs_extra

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["app", "main"]

app = typer.Typer(
    help="Tree-structured sentence encoders.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

ModelOption = Annotated[str, typer.Option("--model", "-m", help="Name or folder of a bundle.")]
DeviceOption = Annotated[Device, typer.Option(help="Where to run; auto takes CUDA where it works.")]
ThreadsOption = Annotated[
    int | None, typer.Option(min=1, max=256, help="Threads of one operator; all by default.")
]
SeedsOption = Annotated[
    list[int] | None,
    typer.Option(min=0, max=2**63 - 1, help="Seeds instead of the recipe's; may be repeated."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print data instead of a drawing.")]

_FIGURES = (
    ("sentences", "root_accuracy", "roots"),
    ("sentences, binary", "root_binary_accuracy", "binary_roots"),
    ("phrases", "phrase_accuracy", "phrases"),
    ("phrases, binary", "phrase_binary_accuracy", "binary_phrases"),
    ("F1 of spans", "span_f1", "spans"),
    ("F1 of spans, whole sentences too", "span_f1_with_root", "spans_with_root"),
    ("trees the same", "exact_trees", "trees"),
)
"""Figures of an evaluation: what they are called, their key, and that of their number of cases."""


def main(commands: typer.Typer = app) -> None:
    """Run the command line; what thinstack raises on purpose, and files that cannot be used, end it
    with exit code 2."""
    try:
        commands()
    except (ThinstackError, OSError) as error:
        Console(stderr=True, soft_wrap=True).print(Text(f"error: {error}", style="bold red"))
        sys.exit(2)


@app.callback(invoke_without_command=True)
def _options(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    if version:
        print(__version__)
        raise typer.Exit


@app.command()
def predict(
    texts: Annotated[
        list[str] | None,
        typer.Argument(help="Texts; by default each line of standard input is one."),
    ] = None,
    model: ModelOption = "sst",
    source: Annotated[
        TreeSource,
        typer.Option(
            help="Where trees come from: auto is what the model was trained for, "
            "self its own parse."
        ),
    ] = "auto",
    as_json: JsonOption = False,
    html: Annotated[
        Path | None, typer.Option(help="Write a self-contained page to this file.")
    ] = None,
    device: DeviceOption = "cpu",
    threads: ThreadsOption = None,
) -> None:
    """Sentiment of each sentence of English texts, and of every phrase in it."""
    import thinstack
    from thinstack.runtime.text import predict_text

    given = texts or _lines_of_input()
    predictor = thinstack.load(model, device=device, threads=threads)
    found = []
    for number, sentences in enumerate(predict_text(predictor, given, source=source), 1):
        if not sentences:
            print(f"warning: text {number} has no words", file=sys.stderr)
        found.extend(sentences)
    if not found:
        raise InputError(
            'there are no words to predict from: give a text such as "The acting is superb."'
        )
    if html is not None:
        from thinstack.show.html import page

        html.write_text(page(found), encoding="utf-8")
    if as_json:
        _print_json([prediction.to_dict() for prediction in found])
    elif html is None:
        from thinstack.show.terminal import render

        console = Console()
        for prediction in found:
            console.print(render(prediction))


@app.command()
def evaluate(
    model: Annotated[
        str, typer.Argument(help="Name or folder of a bundle; may be left out for sst.")
    ],
    file: Annotated[str | None, typer.Argument(help="A file of labelled trees.")] = None,
    source: Annotated[
        EvaluationSource,
        typer.Option(
            help="Whose trees to take; auto is what the model was trained for, self its own parse."
        ),
    ] = "gold",
    text: Annotated[
        bool, typer.Option("--text", help="Detokenise the sentences and read them as raw text.")
    ] = False,
    tree_format: Annotated[
        str, typer.Option("--format", help="Registered reader of the file's trees.")
    ] = "brackets.v1",
    as_json: JsonOption = False,
    device: DeviceOption = "cpu",
    threads: ThreadsOption = None,
) -> None:
    """Accuracy on a labelled treebank: whole sentences, binary (positive against negative), and
    phrases.

    Of trees other than the treebank's also how well they agree with those: F1 of the spans of two
    words or more, and the share of sentences, of three words or more, whose tree is the same.
    """
    import thinstack
    from thinstack.measure.evaluation import evaluate_file

    model, file = ("sst", model) if file is None else (model, file)
    read = None
    if tree_format != "brackets.v1":
        from thinstack.plugins.manager import readers

        read = readers().reader(tree_format).trees
    predictor = thinstack.load(model, device=device, threads=threads)
    figures = evaluate_file(predictor, file, source=source, text=text, read=read)
    if as_json:
        _print_json(figures)
        return
    console, raw = Console(), ", raw text" if text else ""
    title = Text(f"{model} on {file}, source {source}{raw}", style="italic")
    console.print(title, soft_wrap=True)
    console.print(_table_of(figures))


@app.command()
def train(
    recipe: Annotated[Path, typer.Argument(help="A TOML recipe.")],
    out: Annotated[
        Path, typer.Option(help="Folder for checkpoints, results and the bundle, model-best.")
    ],
    data: Annotated[
        Path, typer.Option(envvar="THINSTACK_DATA", help="Folder that the recipe's files are in.")
    ] = Path(),
    seed: SeedsOption = None,
    threads: ThreadsOption = None,
) -> None:
    """Train every seed of a recipe, measure them, and export one as a bundle: the best by what was
    watched, else the first.

    Called again, it goes on where it was.
    """
    from thinstack.config import Recipe

    read = Recipe.read(recipe)
    seeds = tuple(seed or read.training.seeds)
    with needs_extra("export"):
        from thinstack.training.run_recipe import run_recipe
    run_recipe(read, data=data, out=out, seeds=seeds, threads=threads, console=Console())


@app.command()
def export(
    model: Annotated[str, typer.Argument(help="Name or folder of a bundle.")],
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


@app.command()
def plugins(as_json: JsonOption = False) -> None:
    """List the registered cells, task heads, leaf embeddings and readers, and the plugins that
    failed."""
    from dataclasses import asdict

    from rich.table import Column, Table

    from thinstack.plugins.manager import manager

    records = manager().records()
    if as_json:
        _print_json([asdict(record) for record in records])
        return
    columns = ("name", "kind", "distribution", "version", "status", "error")
    table = Table(*(Column(name, overflow="fold") for name in columns))
    for record in records:
        table.add_row(*(Text(getattr(record, column) or "") for column in columns))
    Console().print(table)


def _table_of(figures: Mapping[str, float | None]) -> "Table":
    from rich.table import Column, Table

    from thinstack.measure.figures import percent

    table = Table("", Column("percent", justify="right"), Column("cases", justify="right"))
    for name, key, count in _FIGURES:
        if key in figures:
            table.add_row(name, percent(figures[key]), f"{figures[count]:,}")
    return table


def _lines_of_input() -> list[str]:
    if sys.stdin.isatty():
        raise InputError(
            'give a text, such as thinstack predict "The acting is superb.", or texts on standard '
            "input"
        )
    try:
        return [line.rstrip("\n") for line in sys.stdin]
    except UnicodeDecodeError as error:
        raise InputError(
            f"standard input is no text in {error.encoding}: {error.reason}; convert it first"
        ) from None


def _print_json(data: Any) -> None:
    """Print readable JSON, or its escaped form where the output cannot hold every character."""
    unicode = (sys.stdout.encoding or "").lower().replace("-", "") in ("utf8", "utf16", "utf32")
    print(json.dumps(data, ensure_ascii=not unicode, indent=2))
