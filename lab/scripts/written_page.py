"""The command line of a script that makes a page of the documentation."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from thinstack.data.files.writing import write_atomically


def run(page: Callable[[], str]) -> None:
    """Write the text that `page` returns to the file that the command line names, or print it."""

    def main(
        file: Annotated[
            Path | None, typer.Argument(help="Where to write it; else it is printed.")
        ] = None,
    ) -> None:
        if file is None:
            typer.echo(page(), nl=False)
        else:
            write_atomically(file, page())

    main.__doc__ = page.__doc__
    typer.run(main)
