"""`python -m reproduce bundle`: the bundle of a row, trained as its table says."""

from pathlib import Path

from rich.console import Console

from reproduce.table import Table
from thinstack.data.files.writing import locked
from thinstack.training.examples.datasets import load_datasets
from thinstack.training.loop.seeds import run_seed, summary
from thinstack.training.publish.assembly import publish
from thinstack.training.publish.calibrate import calibrate


def write_row(
    file: Path, place: str, *, seed: int, data: Path, out: Path, console: Console
) -> None:
    """Train a seed of `place`, ROW[/VARIANT], and write its bundle to `out`/model-best.

    It goes on from a checkpoint in `out`. Raises UnknownNameError and ConfigError for a row without
    a recipe, InputError where another command writes to `out`, and what training and exporting
    raise.
    """
    table = Table.read(file)
    row, variant = table.place(place)
    recipe, learning = table.recipe_of(row, variant), table.learning_of(row, variant)
    with locked(out):
        datasets = learning.datasets(load_datasets(recipe, data))
        with learning.prepared() as prepare:
            folder = out / "seeds" / str(seed)
            result = run_seed(recipe, datasets, seed, folder, prepare=prepare)
        over_seeds, path = summary([result]), out / "model-best"
        calibration = calibrate(result.model, datasets.dev, recipe)
        about = datasets, result, over_seeds, calibration
        publish(recipe, *about, path=path, console=console)
