"""`thinstack themes`: complaints and praise in the texts of a table."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from thinstack.cli import options
from thinstack.cli.options import option
from thinstack.cli.print_results import until_the_reader_stops
from thinstack.cli.table_query import TableQuery, print_note, print_unread
from thinstack.errors import InputError

if TYPE_CHECKING:
    from thinstack.integrations.report.rows import TextRow
    from thinstack.integrations.themes.themes import Themes


@options.grouped
def themes(
    *,
    query: TableQuery,
    over: str | None = option("Date column. Adds a trend over time."),
    dates: str | None = option("Date format: %d/%m/%Y, unix or excel, as in thinstack report."),
    name: list[str] | None = option(
        "Theme to look for, defined by examples: 'late=late flight,delayed flight'. Can be "
        "repeated.  [default: discover themes]"
    ),
    threshold: float | None = option(
        "With --name: minimum similarity of a phrase to a theme.  [default: 0.45]"
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
    from thinstack.integrations.themes.matching import NAMED, theme_options
    from thinstack.integrations.themes.run import ADVICE, run_themes

    page, table = query.output(html, "--html"), query.output(out, "--out", html)
    names = options.named_examples("--name", name, "late=late flight,delayed flight")
    if threshold is not None and not names:
        raise InputError("--threshold works only with themes that you define: add --name")
    least = NAMED if threshold is None else threshold
    wanted = theme_options(names or None, ignore or (), side, most, quotes, least)
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
    print_unread(result)
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
