"""`thinstack report`, `themes` and `search`: a summary of the texts of a table, complaints and
praise in them, and phrases with the same meaning as a query."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from rich.console import Console
from rich.text import Text

from thinstack.cli import options
from thinstack.cli.options import argument, option
from thinstack.cli.print_results import until_the_reader_stops
from thinstack.cli.table_query import TableQuery, print_note, print_unread
from thinstack.data.tables.cell_text import csv_line
from thinstack.errors import InputError, escaped

if TYPE_CHECKING:
    from thinstack.integrations.report.rows import TextRow
    from thinstack.integrations.search.phrase_index import Hit
    from thinstack.integrations.themes.themes import Themes

Format = Literal["html", "json", "csv"]
_ENDINGS: dict[str, Format] = {".html": "html", ".htm": "html", ".json": "json", ".csv": "csv"}

_AROUND: Final = 40
"""Characters of a sentence shown on either side of a phrase."""

_MOST_GROUPS: Final = 12  # printed groups; JSON contains all reported ones
_COLUMNS: Final = ("phrase", "similarity", "polarity", "count", "row")
_KEYS: Final = (*_COLUMNS[:4], "start", "end", "sentence", "text")


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
        result = run_report(rows, readers, columns, tell, themes_model(themes, running.load))
    output.write({"html": result.html, "json": result.to_json, "csv": result.to_csv}[kind]())
    counts = f"texts: {result.figures.texts:,}, aspects: {len(result.aspects):,}"
    print_unread(result)
    print_note(*result.in_short, f"{counts}; the report is in {out}")


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
    most: int | None = option(
        "Without --name: maximum number of themes per side.  [default: 10]", min=1
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
    if out is not None and out.suffix.lower() not in ("", ".csv"):
        raise InputError(f"--out {out}: expected a name that ends in .csv; rename the file")
    names = options.named_examples("--name", name, "late=late flight,delayed flight")
    wanted = theme_options(names or None, ignore or (), side, most, quotes, threshold)
    with query.opened(over=over, dates=dates, advice=ADVICE) as (rows, columns, tell):
        loaded = running.load(model)
        columns = columns._replace(model=model_name(loaded))
        result, plan = run_themes(rows, loaded, columns, wanted, tell)
        if table is not None:
            table.write("".join(map(csv_line, _rows(result, read_again(rows, plan)))))
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


def _rows(result: "Themes", rows: "Iterator[TextRow]") -> Iterator[tuple[object, ...]]:
    from thinstack.integrations.report.report import table_cell

    yield ("row", "theme", "phrase", "similarity")
    for number, row in enumerate(rows):
        for match in result.matches_of(number, row.text):
            cells = map(table_cell, (row.place, match.theme, match.phrase))
            yield (*cells, match.similarity)


@options.grouped
def search(
    *,
    table: TableQuery,
    query: str = argument('What to look for, such as "slow service".'),
    side: Literal["negative", "positive"] | None = option(
        "Find only negative or only positive phrases."
    ),
    min_similarity: float | None = option(
        "Ignore phrases whose similarity is below this value, such as 0.3.", min=-1, max=1
    ),
    top: int = option("Number of phrases. With --by: per group.", default=10, min=1),
    as_json: bool = option("Print one line of JSON per phrase.", "--json", default=False),
    model: str = option(
        "A model with vectors: a bundle's name, folder or hf:// address.",
        "--model",
        "-m",
        default="vectors",
    ),
    index: Path | None = option(
        "Save the index in this file, and reuse it until the table or the model changes."
    ),
    running: options.Running,
) -> None:
    """Find the phrases in a table that mean the same as a query.

    Compares the query with every phrase of every text. Ranks by similarity of meaning and by
    polarity together, so that phrases of the opposite polarity rank lower. Counts phrases with the
    same spelling as one.
    """
    from thinstack.integrations.search.table_search import indexed_table

    table.output(index, "--index")
    advice = "set the columns with --text and --by"
    with table.opened(advice=advice) as (rows, columns, tell):
        loaded = running.load(model)
        phrases, plan, (unread, first) = indexed_table(rows, loaded, columns, tell, index)
    if unread:
        print_note(f"rows not searched: {unread:,}{first and '; the first is '}{first}")
    groups = [None] if table.by is None else [*plan.groups]
    if table.by is not None and (ungrouped := plan.ungrouped):
        print_note(f"rows not searched, because they have no {table.by}: {ungrouped:,}")

    def hits(group: str | None) -> "list[Hit]":
        where = None if group is None else lambda id: id[1] == group
        return phrases.search(
            query, top, side=side, min_similarity=min_similarity, where=where, exact=True
        )

    most = len(groups) if as_json else _MOST_GROUPS
    with until_the_reader_stops():
        for group in groups[:most]:
            if as_json:
                more = {} if table.by is None else {"group": group}
                for hit in hits(group):
                    record = {name: getattr(hit, name) for name in _KEYS} | {"row": hit.id[0]}
                    options.print_json(more | record, indent=None)
                continue
            title = f"{query} in {table.table.name}"
            title += "" if group is None else f", {table.by} {group}"
            options.print_table(title, _COLUMNS, map(_row, hits(group)))
    if rest := len(groups[most:]) + plan.others:
        print_note(f"{rest:,} smaller groups are not shown. --json prints the 50 largest.")


def _row(hit: "Hit") -> list[str | Text]:
    polarity = "" if hit.polarity is None else f"{hit.polarity:+.2f}"
    return [_marked(hit), f"{hit.similarity:.2f}", polarity, f"{hit.count:,}", hit.id[0]]


def _marked(hit: "Hit") -> Text:
    """Format a phrase in its sentence: bold in a terminal, otherwise in brackets."""
    first = hit.text.find(hit.sentence, max(hit.end - len(hit.sentence), 0))
    before, after = hit.text[first : hit.start], hit.text[hit.end : first + len(hit.sentence)]
    if len(before) > _AROUND:
        before = f"... {before[-_AROUND:].partition(' ')[2]}"
    if len(after) > _AROUND:
        after = f"{after[:_AROUND].rpartition(' ')[0]} ..."
    style, marks = ("bold", ("", "")) if Console().is_terminal else ("", ("[", "]"))
    phrase = f"{marks[0]}{hit.phrase}{marks[1]}"
    return Text.assemble(escaped(before), (escaped(phrase), style), escaped(after))
