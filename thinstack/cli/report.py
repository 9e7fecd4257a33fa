"""`thinstack report`: what the texts of a table say, as one page, as JSON or as CSV."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, Literal

import typer
from rich.console import Console

from thinstack.cli import options
from thinstack.cli.options import argument, option
from thinstack.cli.predict_corpus import CorpusBar, standard_input
from thinstack.data.files.outputs import check_output
from thinstack.data.files.signals import stoppable
from thinstack.errors import InputError, escaped

if TYPE_CHECKING:
    from thinstack.integrations.corpora.inputs import Corpus
    from thinstack.integrations.report.report import Report
    from thinstack.integrations.report.run import Tell

Format = Literal["html", "json", "csv"]

_STOPPED: Final = "stopped before anything was written: run the same command again"


@options.grouped
def report(
    context: typer.Context,
    *,
    table: Path = argument(
        "The texts: a table (.csv, .tsv, .json, .jsonl, .parquet; also .gz), a .txt file with "
        "one text per line, a folder of such files, or - for standard input."
    ),
    out: Path = option("Report file: .html, .json or .csv.", default=..., show_default=False),
    column: options.TextColumn,
    by: str | None = option("Group column, such as store. Compares its values."),
    over: str | None = option("Date column. Adds a trend over time."),
    stars: str | None = option(
        "Column of ratings from 1 to 5 stars. Adds how often the model agrees with them."
    ),
    about: list[str] | None = option(
        "Term to report on, such as battery, or several names of one thing: 'price|cost'. Can be "
        "repeated.  [default: terms found by the model aspects, if installed]"
    ),
    category: list[str] | None = option(
        'Category to report on, defined by examples, such as "price=overpriced,pay extra,cheap". '
        "Can be repeated. Uses the model vectors."
    ),
    model: str | None = option(
        "The model: a bundle's name, folder or hf:// address.  [default: sentiment]",
        "--model",
        "-m",
    ),
    themes: bool | None = option(
        "Summarize what people complain about and praise.  [default: if the model vectors is "
        "installed]",
        "--themes/--no-themes",
        show_default=False,
    ),
    min_mentions: int = option(
        "Ignore terms mentioned in fewer texts than this.", default=5, min=1
    ),
    dates: str | None = option(
        "Date format: a pattern such as %d/%m/%Y, unix (seconds or milliseconds since 1970) or "
        "excel (day numbers).  [default: detects 2024-03-09, 9 March 2024 and similar]"
    ),
    format: Format | None = option("Report format.  [default: the extension of --out]"),
    running: options.Running,
) -> None:
    """Summarize opinions in a table: about what, by group, over time.

    Writes one self-contained HTML page with the aspects that the texts mention, typical opinions,
    quotes, and the rows that could not be read. JSON and CSV contain the same figures.
    """
    read = 0 if str(table) == "-" else table
    output, console = check_output(out, "--out", [read]), Console(stderr=True)
    kind = _format(out, format)
    with stoppable(_STOPPED), CorpusBar(console) as bar:
        result = _report(context.params, bar.tell)
    output.write({"html": result.html, "json": result.to_json, "csv": result.to_csv}[kind]())
    counts = f"texts: {result.figures.texts:,}, aspects: {len(result.aspects):,}"
    for line in (*result.in_short, f"{counts}; the report is in {out}"):
        console.print(escaped(line), soft_wrap=True, highlight=False, markup=False)


def _report(asked: Mapping[str, Any], tell: "Tell") -> "Report":
    from thinstack import load
    from thinstack.integrations.frames import checked_mentions
    from thinstack.integrations.report.rows import ReportOptions, corpus_rows
    from thinstack.integrations.report.run import readers_of, run_report, themes_model
    from thinstack.runtime.mentions import name_of

    terms = checked_mentions(options.asked(asked["about"], asked["category"]))
    running = {name: asked[name] for name in ("device", "isolated", "threads")}
    with opened_table(asked) as corpus:
        readers = readers_of(asked["model"], terms, lambda name: load(name, **running))
        themes = themes_model(asked["themes"], lambda name: load(name, **running))
        settings = ReportOptions(
            source=", ".join(corpus.files) if str(asked["table"]) == "-" else asked["table"].name,
            text="text" if asked["text"] is None else asked["text"],
            about=tuple(dict.fromkeys(map(name_of, terms))),
            **{name: asked[name] for name in ("by", "over", "stars", "dates", "min_mentions")},
        )
        return run_report(lambda: corpus_rows(corpus, settings), readers, settings, tell, themes)


@contextmanager
def opened_table(asked: Mapping[str, Any]) -> "Iterator[Corpus]":
    """The `table` of a command's options; standard input is kept in a file while it is read."""
    from thinstack.integrations.corpora.inputs import Columns, open_corpus, spooled_corpus

    reading = {name: asked[name] for name in ("encoding", "separator", "header")}
    reading["encoding"] = reading["encoding"] or "utf-8"
    stream = standard_input(asked["table"])
    if stream is None:
        yield open_corpus(asked["table"], **reading)
        return
    named = any(asked.get(name) is not None for name in ("text", "by", "over"))
    with TemporaryDirectory(prefix="thinstack-") as folder:
        spool = Path(folder) / "standard input"
        yield spooled_corpus(stream, spool, Columns(), named=named, **reading)


def _format(out: Path, format: Format | None) -> Format:
    """The format of the report. Raises InputError if nothing tells it."""
    if format is not None:
        return format
    endings: dict[str, Format] = {".html": "html", ".htm": "html", ".json": "json", ".csv": "csv"}
    if kind := endings.get(out.suffix.lower()):
        return kind
    raise InputError(
        f"--out {out}: expected a name that ends in .html, .json or .csv, found {out.name!r}: "
        "rename it, or add --format html, json or csv"
    )
