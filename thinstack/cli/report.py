"""`thinstack report`: what the texts of a table say, as one page, as JSON or as CSV."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import typer
from rich.console import Console

from thinstack.cli import options
from thinstack.data.files.signals import stoppable
from thinstack.data.files.writing import write_atomically
from thinstack.errors import InputError, escaped

if TYPE_CHECKING:
    from thinstack.integrations.report.report import Report
    from thinstack.integrations.report.run import Tell

Format = Literal["html", "json", "csv"]

_OF_TEXTS: Final = ("text", "about", "model", "separator", "header", "encoding")
_OF_TABLE: Final = ("by", "over", "dates")
_KEPT: Final = "stopped; nothing is written"


def report(
    context: typer.Context,
    table: Annotated[
        Path,
        typer.Argument(
            help="The texts: a table (.csv, .tsv, .json, .jsonl, .parquet; also .gz), a .txt file "
            "of a text on each line, or a folder of such files. Or the folder of a run of predict "
            "--input --output aspects, whose rows are not scored again."
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(help="The file for the report: .html, .json or .csv.", show_default=False),
    ],
    text: Annotated[
        str | None, typer.Option("--text-column", help="The column of the texts.  [default: text]")
    ] = None,
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
        str | None, typer.Option(help="Encoding of the table.  [default: utf-8]")
    ] = None,
    texts: Annotated[
        Path | None,
        typer.Option(
            help="For a folder of scored rows: the table that was scored, for quotes, --by and "
            "--over."
        ),
    ] = None,
    device: options.DeviceOption = "cpu",
    isolated: options.IsolatedOption = None,
    threads: options.ThreadsOption = None,
) -> None:
    """Report what the texts of a table say, about what, and when.

    The report is one page that needs no network. It has the aspects that texts speak of, with what
    is typically said and quotes, and what could not be read. JSON and CSV have the same figures.
    """
    from thinstack.cli.corpus_bar import CorpusBar
    from thinstack.integrations.report.scored import is_scored

    kind, console = _format(out, format), Console(stderr=True)
    make = _of_scored if is_scored(table) else _of_texts
    with stoppable(f"{_KEPT}: run the same command again"), CorpusBar(console) as bar:
        found = make(context.params, bar.tell)
    content = {"html": found.html, "json": found.to_json, "csv": found.to_csv}[kind]()
    write_atomically(out, content)
    said = f"{found.figures.texts:,} texts, {len(found.aspects):,} aspects; the report is in {out}"
    console.print(escaped(said), soft_wrap=True, highlight=False, markup=False)


def _of_texts(asked: Mapping[str, Any], tell: "Tell") -> "Report":
    """The report of texts, which are scored."""
    from thinstack import load
    from thinstack.integrations.corpora.inputs import open_corpus
    from thinstack.integrations.report.entries import Columns, corpus_entries
    from thinstack.integrations.report.frames import checked_terms, default_model, model_name
    from thinstack.integrations.report.run import run_report
    from thinstack.integrations.report.summary import Asked

    if asked["texts"] is not None:
        raise InputError("--texts: works only with a folder of scored rows: leave it out")
    reading = {name: asked[name] for name in ("encoding", "separator", "header")}
    corpus = open_corpus(asked["table"], **{**reading, "encoding": reading["encoding"] or "utf-8"})
    columns = Columns(asked["text"] or "text", asked["by"], asked["over"], asked["dates"])
    terms = checked_terms(asked["about"] or ())
    running = {name: asked[name] for name in ("device", "isolated", "threads")}
    model = load(asked["model"] or default_model(terms), **running)
    wanted = Asked(asked["table"].name, model_name(model), columns, terms, asked["min_mentions"])
    return run_report(lambda: corpus_entries(corpus, columns), model, wanted, tell)


def _of_scored(asked: Mapping[str, Any], tell: "Tell") -> "Report":
    """The report of rows that were scored before."""
    from thinstack.integrations.report.scored import ScoredFolder, report_scored
    from thinstack.integrations.report.summary import Asked

    if misplaced := [name for name in _OF_TEXTS if asked[name] or asked[name] is False]:
        raise InputError(
            f"{options.listed(misplaced)}: does not work with the scored rows in "
            f"{asked['table']}, which tell how they were made: leave it out"
        )
    if asked["texts"] is None and (without := [name for name in _OF_TABLE if asked[name]]):
        raise InputError(
            f"{options.listed(without)}: the scored rows have no such column: name the table that "
            "was scored with --texts"
        )
    folder = ScoredFolder.opened(asked["table"])
    columns = folder.columns(asked["by"], asked["over"], asked["dates"])
    source = asked["texts"] or asked["table"]
    wanted = Asked(source.name, "", columns, (), asked["min_mentions"])
    return report_scored(folder, wanted, asked["texts"], tell)


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
