"""A recipe that `thinstack train` was run on."""

import io
import json
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console

from thinstack.bundle import Bundle, open_bundle
from thinstack.config import Recipe
from thinstack.training.run_recipe import run_recipe


class Trained(NamedTuple):
    recipe: Recipe
    data: Path
    out: Path
    printed: str

    @property
    def bundle(self) -> Bundle:
        return open_bundle(self.out / "model-best")

    @property
    def card(self) -> str:
        return (self.out / "model-best" / "README.md").read_text(encoding="utf-8")

    @property
    def results(self) -> Any:
        return json.loads((self.out / "results.json").read_text(encoding="utf-8"))


def train(recipe: Recipe, data: Path, out: Path) -> Trained:
    """Train all seeds of the recipe in the folder `out`."""
    file = io.StringIO()
    console, seeds = Console(file=file, width=200), recipe.training.seeds
    run_recipe(recipe, data=data, out=out, seeds=seeds, threads=None, console=console)
    return Trained(recipe, data, out, file.getvalue())
