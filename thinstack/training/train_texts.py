"""From a table of texts or pairs to a bundle: the recipe that does it is written, then run."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from thinstack.config import Recipe
from thinstack.data.files import write_atomically
from thinstack.data.lock import locked
from thinstack.data.tables import read_mappings
from thinstack.errors import ConfigError, DataError
from thinstack.training.run_recipe import SEEDS_FOLDER, run_recipe
from thinstack.training.table_data import find_classes, table_data
from thinstack.training.team import ALONE, Team
from thinstack.training.text_recipe import commented, text_recipe
from thinstack.training.texts import read_rows

__all__ = ["RECIPE", "train_rows", "train_table"]

RECIPE = "recipe.toml"

_FIRST = """What `thinstack train {file}` runs. Change what you like, and run it again:

    thinstack train {recipe} --data {folder} --out ANOTHER

docs/recipes.md describes every field that a recipe can have."""


def train_table(
    table: Path,
    out: Path,
    files: Mapping[str, Any],
    *,
    text_columns: Sequence[str] = (),
    init: str = "sst",
    labels: Sequence[str] = (),
    seeds: Sequence[int] = (1,),
    threads: int = 1,
    console: Console,
    team: Team = ALONE,
) -> Recipe:
    """Train on a table, as `run_recipe` does, and leave the recipe in `out` beside what that
    leaves. The main process of a `team` makes the recipe for all.

    `files`, `text_columns`: as `table_data` takes them. `labels`: the classes in their order, or
    the whole numbers that scores go over; by default those of the table. `threads`: one, for
    minibatches are so small that several wait for each other; on a busy machine they take many
    times as long. Where `out` has the recipe of an earlier call that was stopped, the run goes on.
    Raises what `table_data`, `find_classes`, `text_recipe` and `run_recipe` do, and ConfigError
    where `out` was trained by another recipe.
    """
    folder = table.resolve().parent
    made = None
    if team.main:
        made = _made_recipe(table, out, files, text_columns, init, labels, seeds)
    recipe = team.shared(made)
    run_recipe(
        recipe, data=folder, out=out, seeds=seeds, threads=threads, console=console, team=team
    )
    return recipe


def _made_recipe(
    table: Path,
    out: Path,
    files: Mapping[str, Any],
    text_columns: Sequence[str],
    init: str,
    labels: Sequence[str],
    seeds: Sequence[int],
) -> Recipe:
    """The recipe of a table, as it is read from `out`, where it is written."""
    folder = table.resolve().parent
    data = table_data(table, files, text_columns=text_columns)
    skipped: list[DataError] = []
    rows = read_rows(table, data, skipped if data.skip_bad else None)
    found = [row.values[data.target_column] for row in rows]
    names = tuple(labels) or find_classes(found, data, str(table))
    recipe = text_recipe(out.name, data, names, texts=len(found), init=init)
    recipe = recipe.model_copy(
        update={"training": recipe.training.model_copy(update={"seeds": tuple(seeds)})}
    )
    first = _FIRST.format(file=table.name, recipe=out / RECIPE, folder=folder)
    _write_recipe(out, commented(recipe, first=first), folder)
    return Recipe.read(out / RECIPE)


def _write_recipe(out: Path, text: str, folder: Path) -> None:
    """Write the recipe, but not in place of one that somebody changed or that `out` was trained
    by."""
    note, started = out / RECIPE, (out / SEEDS_FOLDER).exists()
    if started and note.exists() and note.read_text(encoding="utf-8") != text:
        raise ConfigError(
            f"{note}: is not the recipe of this table and these options, it was changed or is of "
            f"others; run it itself (thinstack train {note} --data {folder} --out ANOTHER), or "
            "name another folder"
        )
    write_atomically(note, text)


def train_rows(
    rows: Iterable[object],
    *,
    text: str,
    label: str,
    dev: Iterable[object] | None,
    init: str,
    out: Path,
) -> None:
    """`train_table` of rows in memory, which are kept in `out` as JSON lines, in one process.
    Raises what `read_mappings` does for rows that cannot be used, and `locked` for `out`."""
    files: dict[str, Any] = {"label_column": label}
    with locked(out):
        table = _kept(rows, (text, label), out / "data" / "train.jsonl")
        if dev is not None:
            files["dev"] = str(_kept(dev, (text, label), out / "data" / "dev.jsonl"))
        train_table(table, out, files, text_columns=(text,), init=init, console=Console())


def _kept(rows: Iterable[object], columns: Sequence[str], path: Path) -> Path:
    found = read_mappings(rows, columns, advice="name the columns with text= and label=")
    write_atomically(path, "".join(f"{json.dumps(row.values)}\n" for row in found))
    return path
