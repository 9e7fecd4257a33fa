"""`thinstack report`: what the texts of a table say, as one page, as JSON or as CSV."""

from pathlib import Path
from typing import Annotated, Final, Literal

import typer
from rich.console import Console

from thinstack.cli import options
from thinstack.data.files.signals import stoppable
from thinstack.data.files.writing import write_atomically
from thinstack.errors import InputError, escaped

Format = Literal["html", "json", "csv"]

_KEPT: Final = "stopped; nothing is written"


def report(
    table: Annotated[
        Path,
        typer.Argument(
            help="The texts: a table (.csv, .tsv, .json, .jsonl, .parquet; also .gz), a .txt file "
            "of a text on each line, or a folder of such files."
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(help="The file for the report: .html, .json or .csv.", show_default=False),
    ],
    text: Annotated[str, typer.Option("--text-column", help="The column of the texts.")] = "text",
    by: Annotated[
        str | None, typer.Option(help="A column whose values are compared, such as store.")
    ] = None,
    over: Annotated[str | None, typer.Option(help="A column of dates, to show a course.")] = None,
    about: Annotated[
        list[str] | None,
        typer.Option(
            help="A term to report on, such as battery, or several names of one: 'price|cost'. May "
            "be given more than once.  [default: the terms that the model finds]"
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            "-m",
            help="The model: a bundle's name, folder or hf:// address.  [default: aspects; with "
            "--about sentiment, if aspects is not installed]",
        ),
    ] = None,
    min_mentions: Annotated[
        int, typer.Option(min=1, help="Leave out terms that fewer texts speak of.")
    ] = 5,
    dates: Annotated[
        str | None,
        typer.Option(
            help="How dates are written, such as %d/%m/%Y.  [default: 2024-03-09, 9 March 2024 and "
            "the like]"
        ),
    ] = None,
    format: Annotated[
        Format | None, typer.Option(help="The format.  [default: by the ending of --out]")
    ] = None,
    separator: options.SeparatorOption = None,
    header: options.HeaderOption = None,
    encoding: Annotated[
        str, typer.Option(help="Encoding of the table. A byte order mark is ignored.")
    ] = "utf-8",
    device: options.DeviceOption = "cpu",
    isolated: options.IsolatedOption = None,
    threads: options.ThreadsOption = None,
) -> None:
    """Report what the texts of a table say: of which side, about what, where and when.

    The report is one page that needs no network. It has the aspects that texts speak of, with what
    is typically said and quotes, and what could not be read. JSON and CSV have the same figures.
    """
    from thinstack import load
    from thinstack.cli.corpus_bar import CorpusBar
    from thinstack.integrations.corpora.inputs import open_corpus
    from thinstack.integrations.report.entries import Columns, corpus_entries
    from thinstack.integrations.report.frames import default_model, model_name
    from thinstack.integrations.report.run import run_report
    from thinstack.integrations.report.summary import Asked

    kind = _format(out, format)
    columns, terms = Columns(text, by, over, dates), tuple(dict.fromkeys(about or ()))
    corpus = open_corpus(table, encoding=encoding, separator=separator, header=header)
    scorer = load(
        default_model(terms) if model is None else model,
        device=device,
        isolated=isolated,
        threads=threads,
    )
    asked = Asked(table.name, model_name(scorer), columns, terms, min_mentions)
    console = Console(stderr=True)
    with stoppable(f"{_KEPT}: run the same command again"), CorpusBar(console) as bar:
        found = run_report(lambda: corpus_entries(corpus, columns), scorer, asked, bar.tell)
    content = {"html": found.html, "json": found.to_json, "csv": found.to_csv}[kind]()
    write_atomically(out, content)
    said = f"{found.figures.texts:,} texts, {len(found.aspects):,} aspects; the report is in {out}"
    console.print(escaped(said), soft_wrap=True, highlight=False, markup=False)


def _format(out: Path, format: Format | None) -> Format:
    """The format of the report. Raises InputError if nothing tells it, and for a folder."""
    if out.is_dir():
        raise InputError(
            f"--out {out}: expected a file to write, found a folder: name a file in it, such as "
            f"{out / 'report.html'}"
        )
    if format is not None:
        return format
    endings: dict[str, Format] = {".html": "html", ".htm": "html", ".json": "json", ".csv": "csv"}
    if known := endings.get(out.suffix.lower()):
        return known
    raise InputError(
        f"--out {out}: expected a name that ends in .html, .json or .csv, found {out.name!r}: "
        "rename it, or add --format html, json or csv"
    )
