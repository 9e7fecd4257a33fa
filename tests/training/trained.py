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
    def results(self) -> Any:
        return json.loads((self.out / "results.json").read_text(encoding="utf-8"))


def train(recipe: Recipe, data: Path, out: Path) -> Trained:
    """Train all seeds of the recipe in the folder `out`."""
    file = io.StringIO()
    run_recipe(
        recipe,
        data=data,
        out=out,
        seeds=recipe.training.seeds,
        threads=None,
        console=Console(file=file, width=200),
    )
    return Trained(recipe, data, out, file.getvalue())
