"""The command line, `python -m reproduce`: errors are a message and exit code 2."""

import os
from pathlib import Path
from typing import Annotated

import tomli_w
import typer
from rich.console import Console

from reproduce.bundle import write_row
from reproduce.command import Options, run
from reproduce.compose import Drawing, composed_lines
from reproduce.head_report import heads as report_heads
from reproduce.held_out import held_out_lines
from reproduce.only import only as print_only
from reproduce.public_sets import checklist_lines, contrast_figures, suite_failures
from reproduce.rerank_command import Places, rerank
from reproduce.search import search as run_search
from reproduce.similar import By, Texts, print_nearest
from reproduce.table import Table
from thinstack import load
from thinstack.bundle import open_bundle
from thinstack.cli import main
from thinstack.cli.options import print_table
from thinstack.data.files.signals import stoppable
from thinstack.data.trees.text_files import read_lines
from thinstack_lab.lessons.composed import Composed

Data = Annotated[
    Path, typer.Option(envvar="THINSTACK_DATA", help="Folder that the recipes' files are in.")
]
Out = Annotated[Path, typer.Option(help="Folder to write the report to.")]
Work = Annotated[Path, typer.Option(help="Folder for what is done of it, to go on from.")]

GRAMMARS = [Path("lab", "recipes", name) for name in Composed().grammars]

STOPPED = "stopped; start the same command again, and it goes on"

app = typer.Typer(
    help="What reproduces the papers' tables.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def _commands() -> None:
    """What reproduces the papers' tables."""


@app.command()
def table(
    file: Annotated[Path, typer.Argument(help="A TOML table.")],
    data: Data = Path(),
    out: Annotated[Path, typer.Option(help="Folder to write the report and its plots to.")] = Path(
        "results"
    ),
    work: Work = Path("runs/tables"),
    jobs: Annotated[
        int | None, typer.Option(min=1, max=256, help="Runs at a time; as many as there are cores.")
    ] = None,
    threads: Annotated[int, typer.Option(min=1, max=256, help="Threads of each run.")] = 1,
    row: Annotated[
        list[str] | None, typer.Option(help="A row to run, by its name; may be repeated.")
    ] = None,
    seed: Annotated[
        list[int] | None,
        typer.Option(min=0, max=2**63 - 1, help="Seeds instead of the recipe's; may be repeated."),
    ] = None,
    test: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[VARIANT=]FILE",
            help="Measure on this file, not the development data; may be repeated.",
        ),
    ] = None,
    show: Annotated[
        str | None,
        typer.Option(metavar="ROW[/VARIANT]", help="Print a row's recipe and do nothing."),
    ] = None,
) -> None:
    """Run every row and seed of a table, and write it beside the paper's figures: JSON, Markdown
    and plots.

    Called again, it goes on where it was.
    """
    if show is not None:
        print(tomli_w.dumps(Table.read(file).show(show), multiline_strings=True), end="")
        return
    options = Options(
        data=data,
        out=out,
        work=work,
        jobs=jobs or os.cpu_count() or 1,
        threads=threads,
        rows=tuple(row or ()),
        seeds=tuple(seed or ()),
        tests=tuple(test or ()),
    )
    with stoppable(STOPPED):
        run(file, options, Console())


@app.command()
def bundle(
    file: Annotated[Path, typer.Argument(help="A TOML table.")],
    place: Annotated[str, typer.Argument(metavar="ROW[/VARIANT]", help="A row with a recipe.")],
    data: Data = Path(),
    seed: Annotated[int, typer.Option(min=0, max=2**63 - 1, help="The seed to train.")] = 1,
    out: Annotated[Path, typer.Option(help="Folder to train in, and to write the bundle to.")] = (
        Path("runs/bundle")
    ),
) -> None:
    """Train a row of a table as its paper did, and write its bundle.

    Called again, it goes on where it was.
    """
    with stoppable(STOPPED):
        write_row(file, place, seed=seed, data=data, out=out, console=Console())


@app.command()
def compose(
    number: Annotated[int, typer.Argument(min=1, help="How many texts.")],
    grammar: Annotated[
        list[Path], typer.Option(exists=True, help="A file of templates; may be repeated.")
    ] = GRAMMARS,
    family: Annotated[
        list[str] | None, typer.Option(help="A family of them; may be repeated.")
    ] = None,
    held_out: Annotated[
        bool, typer.Option("--held-out", help="From the frames that training leaves out.")
    ] = False,
    treebank: Annotated[
        Path | None, typer.Option(help="Trees of five classes, for their words.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Another seed gives other texts.")] = 1,
    brackets: Annotated[bool, typer.Option("--brackets", help="Trees, not JSON.")] = False,
) -> None:
    """Print texts of the lesson composed.v1, one a line."""
    drawing = Drawing(number, seed, tuple(family or ()), held_out, treebank)
    for line in composed_lines(grammar, drawing, brackets=brackets):
        print(line)


@app.command()
def contrast(
    original: Annotated[Path, typer.Argument(help="IMDb/data/test_original.tsv.")],
    contrast: Annotated[Path, typer.Argument(help="IMDb/data/test_contrast.tsv.")],
    model: Annotated[str, typer.Option("--model", "-m", help="A sentiment model.")] = "sentiment",
) -> None:
    """Measure a model on the IMDb contrast sets (github.com/allenai/contrast-sets)."""
    figures = contrast_figures(load(model, classes=2), original, contrast)
    rows = [(name, f"{getattr(figures, name):.1f}") for name in ("original", "contrast", "both")]
    print_table(f"{model}, {figures.pairs:,} pairs", ("", "accuracy, percent"), rows)


@app.command()
def checklist(
    texts: Annotated[Path, typer.Argument(help="release_data/sentiment/tests_n500.")],
    out: Annotated[Path, typer.Option(help="File for the predictions.", show_default=False)],
    suite: Annotated[
        Path | None,
        typer.Option(
            help="release_data/sentiment/sentiment_suite.pkl: also print the failures. A pickle "
            "runs code, so use only the file of CheckList's authors."
        ),
    ] = None,
    test: Annotated[
        list[str] | None, typer.Option(help="Print only this test. Can be repeated.")
    ] = None,
    model: Annotated[str, typer.Option("--model", "-m", help="A sentiment model.")] = "sentiment",
) -> None:
    """Predict the texts of CheckList's sentiment suite (github.com/marcotcr/checklist)."""
    lines = checklist_lines(load(model, classes=3), texts)
    out.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    if suite is None:
        return
    rows = suite_failures(suite, out, test or ())
    mean = sum(row.rate for row in rows) / len(rows)
    cells = [(row.test, f"{row.rate:.1f}", f"{row.cases:,}") for row in rows]
    print_table(model, ("", "failures, percent", "cases"), [*cells, ("mean", f"{mean:.1f}", "")])


@app.command("held-out")
def held_out(
    files: Annotated[list[Path], typer.Argument(help="Tables of texts.")],
    text_column: Annotated[str, typer.Option(help="The column of the texts.")] = "text",
    one_in: Annotated[int, typer.Option(min=2, help="As the setting held_out has it.")] = 10,
    rest: Annotated[bool, typer.Option("--rest", help="Print the other rows instead.")] = False,
) -> None:
    """Print the rows that the setting held_out = 10 of a recipe never shows, as lines of JSON."""
    for file in files:
        for line in held_out_lines(file, text_column, one_in, rest=rest):
            print(line)


@app.command()
def heads(
    bundles: Annotated[
        list[str], typer.Argument(help="Bundles of models with head words, such as seeds of one.")
    ],
    data: Annotated[
        Path, typer.Option(envvar="THINSTACK_DATA", help="Folder of the treebanks.")
    ] = Path(),
    file: Annotated[
        str, typer.Option(help="The treebank of labelled trees to measure on.")
    ] = "sst/dev.txt",
    out: Annotated[
        Path, typer.Option(help="Folder to write the report and the picture to.")
    ] = Path("lab", "results"),
) -> None:
    """Compare the head words that models choose with those of a dependency parse, and draw some."""
    report_heads(bundles, file, data=data, out=out, console=Console())


@app.command()
def only(
    file: Annotated[Path, typer.Argument(help="A TOML table whose rows were run.")],
    a: Annotated[str, typer.Argument(help="The row that is right.")],
    b: Annotated[str, typer.Argument(help="The row that is wrong.")],
    data: Data = Path(),
    work: Annotated[Path, typer.Option(help="Folder that the rows were run in.")] = Path(
        "runs/tables"
    ),
    top: Annotated[int, typer.Option(min=1, help="How many sentences to print.")] = 10,
) -> None:
    """Print development sentences that one row has right in more seeds than another."""
    print_only(file, a, b, data=data, work=work, top=top, console=Console())


@app.command()
def similar(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Folder or name of a bundle.")],
    queries: Annotated[
        list[str], typer.Argument(metavar="TEXT...", help="Texts to find the nearest of.")
    ],
    texts: Annotated[
        Path,
        typer.Option(
            help="A file of texts to search in UTF-8, one on each line.", show_default=False
        ),
    ],
    by: Annotated[
        By,
        typer.Option(
            help="What is compared. vectors: sentence vectors of the model, by cosine. mean: means "
            "of its word vectors, by cosine. score: the score that a model of scored pairs gives."
        ),
    ] = "vectors",
    top: Annotated[int, typer.Option(min=1, help="How many texts to show.")] = 5,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Find the texts of a file that are most like a text.

    They are compared by what a model makes of them. Each text is read as one sentence. Texts of the
    same words as the one asked for are left out.
    """
    searched = Texts(open_bundle(model), read_lines(texts), by=by)
    print_nearest({query: searched.nearest(query, top) for query in queries}, by, as_json=as_json)


@app.command("rerank")
def rerank_parses(
    file: Annotated[Path, typer.Argument(help="A TOML reranking.")],
    data: Data = Path(),
    out: Out = Path("lab", "results"),
    work: Work = Path("runs/tables"),
    jobs: Annotated[
        int | None,
        typer.Option(min=1, max=256, help="Seeds at a time; as many as there are cores."),
    ] = None,
) -> None:
    """Rerank the best trees of a parser, over all seeds, and write F1 before and after: JSON and
    Markdown.

    Called again, it goes on where it was.
    """
    places = Places(data=data, out=out, work=work, jobs=jobs or os.cpu_count() or 1)
    with stoppable(STOPPED):
        rerank(file, places, Console())


@app.command()
def search(
    file: Annotated[Path, typer.Argument(help="A TOML search.")],
    data: Data = Path(),
    runs: Annotated[int, typer.Option(min=1, max=10_000, help="How many draws.")] = 8,
    seed: Annotated[int, typer.Option(min=0, max=2**63 - 1, help="What the draws come from.")] = 1,
    out: Out = Path("lab", "results"),
    work: Work = Path("runs/tables"),
    jobs: Annotated[
        int | None,
        typer.Option(min=1, max=256, help="Draws at a time; as many as there are cores."),
    ] = None,
) -> None:
    """Draw settings at random, train each, and write which did best on held-out training data:
    JSON and Markdown.

    Called again, it goes on where it was.
    """
    places = Places(data=data, out=out, work=work, jobs=jobs or os.cpu_count() or 1)
    with stoppable(STOPPED):
        run_search(file, places, runs, seed, Console())


if __name__ == "__main__":
    main(app)
