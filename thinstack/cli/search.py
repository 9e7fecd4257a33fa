"""`thinstack search`: phrases of a table with the same meaning as a query."""

from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from rich.console import Console
from rich.text import Text

from thinstack.cli import options
from thinstack.cli.options import argument, option
from thinstack.cli.print_results import until_the_reader_stops
from thinstack.cli.table_query import TableQuery, print_note
from thinstack.errors import escaped

if TYPE_CHECKING:
    from thinstack.integrations.search.phrase_index import Hit

_AROUND: Final = 40
"""Characters of a sentence shown on either side of a phrase."""

_MOST_GROUPS: Final = 12  # printed groups; JSON contains all reported ones
_COLUMNS: Final = ("phrase", "similarity", "polarity", "count", "row")
_KEYS: Final = (*_COLUMNS[:4], "start", "end", "sentence", "text")


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
        phrases, plan, (number, first) = indexed_table(rows, loaded, columns, tell, index)
    if number:
        print_note(f"rows not searched: {number:,}; the first is {first}")
    groups = [None] if table.by is None else [*plan.groups]
    if table.by is not None and (ungrouped := plan.ungrouped):
        print_note(f"rows not searched, because they have no {table.by}: {ungrouped:,}")

    def hits(group: str | None) -> "list[Hit]":
        where = None if group is None else lambda id: id[1] == group
        return phrases.search(
            query, top, side=side, min_similarity=min_similarity, where=where, exact=True
        )

    with until_the_reader_stops():
        if as_json:
            for group in groups:
                more = {} if table.by is None else {"group": group}
                for hit in hits(group):
                    record = {name: getattr(hit, name) for name in _KEYS} | {"row": hit.id[0]}
                    options.print_json(more | record, indent=None)
            return
        for group in groups[:_MOST_GROUPS]:
            title = f"{query} in {table.table.name}"
            title += "" if group is None else f", {table.by} {group}"
            options.print_table(title, _COLUMNS, map(_row, hits(group)))
    if rest := max(len(groups) - _MOST_GROUPS, 0) + plan.others:
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
