"""`thinstack train`: from a recipe to a bundle."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from thinstack.cli.options import ThreadsOption
from thinstack.errors import needs_extra

__all__ = ["train"]

SeedsOption = Annotated[
    list[int] | None,
    typer.Option(min=0, max=2**63 - 1, help="Seeds instead of the recipe's; may be repeated."),
]


def train(
    recipe: Annotated[Path, typer.Argument(help="A TOML recipe.")],
    out: Annotated[
        Path, typer.Option(help="Folder for checkpoints, results and the bundle, model-best.")
    ],
    data: Annotated[
        Path, typer.Option(envvar="THINSTACK_DATA", help="Folder that the recipe's files are in.")
    ] = Path(),
    seed: SeedsOption = None,
    threads: ThreadsOption = None,
) -> None:
    """Train every seed of a recipe, measure them, and export one as a bundle: the best by what was
    watched, else the first.

    Called again, it goes on where it was.
    """
    from thinstack.config import Recipe

    read = Recipe.read(recipe)
    seeds = tuple(seed or read.training.seeds)
    with needs_extra("export"):
        from thinstack.training.run_recipe import run_recipe
    run_recipe(read, data=data, out=out, seeds=seeds, threads=threads, console=Console())
