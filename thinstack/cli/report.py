"""`thinstack report`: a summary of the texts of a table as an HTML page, JSON or CSV; and
`thinstack themes`: complaints and praise in them."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from thinstack.cli import options
from thinstack.cli.options import option
from thinstack.cli.print_results import until_the_reader_stops
from thinstack.cli.table_query import TableQuery, print_note
from thinstack.errors import InputError

if TYPE_CHECKING:
    from thinstack.integrations.report.report import Report
    from thinstack.integrations.report.rows import TextRow
    from thinstack.integrations.themes.themes import Themes

Format = Literal["html", "json", "csv"]
_ENDINGS: Final[dict[str, Format]] = {
    ".html": "html",
    ".htm": "html",
    ".json": "json",
    ".csv": "csv",
}


@options.grouped
def report(
    *,
    query: TableQuery,
    out: Path = option("Report file: .html, .json or .csv.", default=..., show_default=False),
    over: str | None = option("Date column. Adds a trend over time."),
    stars: str | None = option(
        "Column of ratings from 1 to 5 stars. Adds the model's agreement with them."
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
    from thinstack.integrations.frames import checked_mentions
    from thinstack.integrations.report.run import readers_of, run_report, term_names, themes_model

    output, kind = query.output(out, "--out"), format or _ENDINGS.get(out.suffix.lower())
    assert output is not None, "it is required"
    if kind is None:
        raise InputError(
            f"--out {out}: expected a name that ends in .html, .json or .csv, found {out.name!r}: "
            "rename it, or add --format html, json or csv"
        )
    terms = checked_mentions(options.asked(about, category))
    settings = {"over": over, "stars": stars, "dates": dates, "min_mentions": min_mentions}
    with query.opened(about=term_names(terms), **settings) as (rows, columns, tell):
        readers = readers_of(model, terms, running.load)
        finder = themes_model(themes, running.load)
        result = run_report(rows, readers, columns, tell, finder)
    output.write({"html": result.html, "json": result.to_json, "csv": result.to_csv}[kind]())
    counts = f"texts: {result.figures.texts:,}, aspects: {len(result.aspects):,}"
    _print_unread(result)
    print_note(*result.in_short, f"{counts}; the report is in {out}")


@options.grouped
def themes(
    *,
    query: TableQuery,
    over: str | None = option("Date column. Adds a trend over time."),
    dates: str | None = option("Date format, as in thinstack report."),
    name: list[str] | None = option(
        "Theme to look for, defined by examples: 'late=late flight,delayed flight'. Can be "
        "repeated.  [default: discover themes]"
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
    from thinstack.integrations.report.plan import read_again
    from thinstack.integrations.report.reading import model_name
    from thinstack.integrations.themes.matching import theme_options
    from thinstack.integrations.themes.run import ADVICE, run_themes

    page, table = query.output(html, "--html"), query.output(out, "--out", html)
    names = options.named_examples("--name", name, "late=late flight,delayed flight")
    wanted = theme_options(names or None, ignore or (), side=side, most=most, quotes=quotes)
    settings = {"over": over, "dates": dates, "advice": ADVICE}
    with query.opened(**settings) as (rows, columns, tell):
        loaded = running.load(model)
        columns = columns._replace(model=model_name(loaded))
        result, plan = run_themes(rows, loaded, columns, wanted, tell)
        if table is not None:
            table.write(_row_table(result, read_again(rows, plan)))
    if page is not None:
        page.write(result.html())
    with until_the_reader_stops():
        if as_json:
            options.print_json(result.to_dict())
        else:
            print("\n".join(result.lines(quotes=True)))
    _print_unread(result)
    if result.products:
        print_note(f"not topics, because they name the product: {', '.join(result.products)}")


def _row_table(result: "Themes", rows: "Iterator[TextRow]") -> str:
    from thinstack.data.tables.csv_rows import csv_line
    from thinstack.integrations.report.report import table_cell

    lines = [csv_line(("row", "theme", "phrase", "similarity"))]
    for number, row in enumerate(rows):
        for match in result.matches_of(number, row.text):
            cells = map(table_cell, (row.place, match.theme, match.phrase))
            lines.append(csv_line([*cells, match.similarity]))
    return "".join(lines)


def _print_unread(result: "Report | Themes") -> None:
    """Print the number of rows that could not be read, by reason, and the first of each."""
    from thinstack.integrations.report.rows import REASONS

    for kind, rows, (example, *_) in result.unread:
        first = ": ".join(filter(None, example))
        print_note(f"of {result.rows:,} rows, {rows:,} {REASONS[kind]}; the first is {first}")
