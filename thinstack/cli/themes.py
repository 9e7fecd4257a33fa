"""`thinstack themes`: what the texts of a table complain about and praise."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import typer
from rich.console import Console

from thinstack.cli import options
from thinstack.cli.options import argument, option
from thinstack.cli.predict_corpus import CorpusBar
from thinstack.cli.print_results import until_the_reader_stops
from thinstack.cli.report import opened_table
from thinstack.data.files.outputs import Output, check_output
from thinstack.data.files.signals import stoppable
from thinstack.errors import escaped

if TYPE_CHECKING:
    from thinstack.integrations.report.rows import TextRow
    from thinstack.integrations.themes.themes import Themes

_STOPPED: Final = "stopped before anything was written: run the same command again"


@options.grouped
def themes(
    context: typer.Context,
    *,
    table: Path = argument(
        "The texts: a table (.csv, .tsv, .json, .jsonl, .parquet; also .gz), a .txt file with "
        "one text per line, a folder of such files, or - for standard input."
    ),
    column: options.TextColumn,
    by: str | None = option("Group column, such as store. Compares its values."),
    over: str | None = option("Date column. Adds a trend over time."),
    dates: str | None = option("Date format, as in thinstack report."),
    name: list[str] | None = option(
        "Theme to look for, defined by examples: 'late=late flight,delayed flight'. Can be "
        "repeated.  [default: find the themes]"
    ),
    ignore: list[str] | None = option(
        "Word to ignore because it is not a topic. Product names are detected automatically. Can "
        "be repeated."
    ),
    side: Literal["both", "negative", "positive"] = option(
        "Find only complaints (negative) or only praise (positive).", default="both"
    ),
    most: int = option(
        "Maximum number of complaint themes, and of praise themes.", default=10, min=1
    ),
    quotes: int = option("Number of quotes per theme.", default=3, min=0),
    as_json: bool = option("Print all figures as JSON.", "--json", default=False),
    html: Path | None = option("Write an HTML page to this file."),
    out: Path | None = option(
        "Write each row's themes to this .csv file, with the phrases that express them."
    ),
    model: str = option(
        "A sentiment model with vectors: a bundle's name, folder or hf:// address.",
        "--model",
        "-m",
        default="vectors",
    ),
    running: options.Running,
) -> None:
    """Find what the texts of a table complain about and praise.

    Groups phrases with the same meaning into themes. Prints each theme's share of the texts, and
    quotes.
    """
    read, console = 0 if str(table) == "-" else table, Console(stderr=True)
    page = None if html is None else check_output(html, "--html", [read])
    rows = None if out is None else check_output(out, "--out", [read, html])
    with stoppable(_STOPPED), CorpusBar(console) as bar:
        result = _themes(context.params, bar, rows)
    if page is not None:
        page.write(result.html())
    with until_the_reader_stops():
        if as_json:
            options.print_json(result.to_dict())
        else:
            print("\n".join(result.lines(quotes=True)))
    for part in result.unread:
        first = ": ".join(filter(None, part.examples[0]))
        problem = f"rows not counted: {part.rows:,}; the first is {first}"
        console.print(escaped(problem), soft_wrap=True, highlight=False, markup=False)
    if result.products:
        words = f"not topics, because they name the product: {', '.join(result.products)}"
        console.print(escaped(words), soft_wrap=True, highlight=False, markup=False)


def _themes(asked: dict[str, Any], bar: CorpusBar, out: Output | None) -> "Themes":
    """The themes; the rows are written to `out`, while the table is at hand."""
    from thinstack import load
    from thinstack.integrations.report.plan import read_again
    from thinstack.integrations.report.reading import model_name
    from thinstack.integrations.report.rows import ReportOptions, corpus_rows
    from thinstack.integrations.themes.options import theme_options
    from thinstack.integrations.themes.run import ADVICE, run_themes

    settings = {key: asked[key] for key in ("side", "most", "quotes")}
    names = options.named_examples("--name", asked["name"], "late=late flight,delayed flight")
    wanted = theme_options(names or None, asked["ignore"] or (), **settings)
    running = {key: asked[key] for key in ("device", "isolated", "threads")}
    with opened_table(asked) as corpus:
        loaded = load(asked["model"], **running)
        columns = ReportOptions(
            source=asked["table"].name,
            model=model_name(loaded),
            text="text" if asked["text"] is None else asked["text"],
            advice=ADVICE,
            **{key: asked[key] for key in ("by", "over", "dates")},
        )

        def rows() -> "Iterator[TextRow]":
            return corpus_rows(corpus, columns)

        result, plan = run_themes(rows, loaded, columns, wanted, bar.tell)
        if out is not None:
            out.write(_row_table(result, read_again(rows, plan)))
    return result


def _row_table(result: "Themes", rows: "Iterator[TextRow]") -> str:
    """Each theme of each row, as CSV."""
    from thinstack.integrations.report.report import table_cell

    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(("row", "theme", "phrase", "similarity"))
    for number, row in enumerate(rows):
        for match in result.matches_of(number, row.text):
            cells = (row.place, match.theme, match.phrase)
            writer.writerow([*map(table_cell, cells), match.similarity])
    return file.getvalue()
