"""`thinstack similar`: the texts of a file that are most like a text."""

from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console
from rich.text import Text

from thinstack.cli.options import JsonOption, ModelArgument, print_json
from thinstack.errors import escaped, needs_extra


def similar(
    model: ModelArgument,
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
        Literal["vectors", "mean", "score"],
        typer.Option(
            help="What is compared. vectors: sentence vectors of the model, by cosine. mean: means "
            "of its word vectors, by cosine. score: the score that a model of scored pairs gives."
        ),
    ] = "vectors",
    top: Annotated[int, typer.Option(min=1, help="How many texts to show.")] = 5,
    as_json: JsonOption = False,
) -> None:
    """Find the texts of a file that are most like a text.

    They are compared by what a model makes of them. Each text is read as one sentence. Texts of the
    same words as the one asked for are left out.
    """
    from thinstack.bundle import open_bundle
    from thinstack.data.trees.text_files import read_lines

    with needs_extra("train"):
        from thinstack.evaluate.similar import Texts
    searched = Texts(open_bundle(model), read_lines(texts), by=by)
    found = [(query, searched.nearest(query, top)) for query in queries]
    if as_json:
        for_each = ((query, [each._asdict() for each in nearest]) for query, nearest in found)
        print_json([{"text": query, "by": by, "nearest": nearest} for query, nearest in for_each])
        return
    from rich.table import Table

    console = Console()
    for query, nearest in found:
        table = Table(by, "", title=Text(escaped(query)), title_justify="left", box=None)
        for text, score in nearest:
            table.add_row(f"{score:.3f}", Text(escaped(text)))
        console.print(table, "")
