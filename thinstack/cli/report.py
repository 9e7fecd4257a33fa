"""`thinstack report`: a summary of the texts of a table as an HTML page, JSON or CSV."""

from pathlib import Path
from typing import Final, Literal

from thinstack.cli import options
from thinstack.cli.options import option
from thinstack.cli.table_query import TableQuery, print_note, print_unread
from thinstack.errors import InputError

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
        "Summarize what people complain about and praise.  [default: on if 'vectors' is installed]",
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
    print_unread(result)
    print_note(*result.in_short, f"{counts}; the report is in {out}")
