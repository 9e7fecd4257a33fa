"""Trains on a table of texts or pairs: writes the recipe for it, and runs that."""

import json
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from pydantic import BaseModel
from rich.console import Console

from thinstack.data.files.lock import locked
from thinstack.data.files.paths import FileContent, in_resolved_folder
from thinstack.data.files.writing import write_atomically
from thinstack.data.tables.containers import check_rows
from thinstack.data.tables.table import read_mappings
from thinstack.data.tables.table_rows import Classes, RowChecks
from thinstack.errors import ConfigError, DataError
from thinstack.plugins.manager import manager
from thinstack.training.examples.datasets import read_items
from thinstack.training.examples.inputs import Inputs
from thinstack.training.recipe import DataConfig, Recipe
from thinstack.training.run_recipe import BUNDLE, SEEDS_FOLDER, run_recipe
from thinstack.training.task import Task
from thinstack.training.tasks._table import TableTask
from thinstack.training.tasks.texts.weights import with_weights
from thinstack.training.text_recipe import ask_about_spans, table_data, text_recipe

RECIPE = "recipe.toml"
ADVICE = "name the columns with text= and label="

_FIRST = """What `thinstack train {file}` runs. Change what you like, and run it again:

    thinstack train {recipe} --data {folder} --out ANOTHER

docs/recipes.md says how to print the reference of all fields."""


def train_table(
    table: Path,
    out: Path,
    files: Mapping[str, Any],
    *,
    text_columns: Sequence[str] = (),
    init: str | None = None,
    labels: Sequence[str] = (),
    scale: bool | None = None,
    epochs: int | None = None,
    seeds: Sequence[int] = (1,),
    threads: int = 1,
    console: Console,
    inputs: Inputs | None = None,
) -> list[str]:
    """Train on a table, and write the recipe and what `run_recipe` writes to the folder `out`.
    Returns lines on what to do with the bundle.

    `files`, `text_columns`: as `table_data` takes them. `labels`: the classes in their order, or
    the whole numbers on the scale of scores; by default they come from the table. `scale`,
    `epochs`: as `text_recipe` takes them; classes without a known order need `labels`. `threads`:
    keep 1, because minibatches are so small that several threads wait for each other. On a busy
    machine they take many times as long. `inputs`: what was opened of the table's folder before. If
    `out` has the recipe of an earlier call that was stopped, the run goes on. Raises ConfigError if
    `out` was trained by another recipe.
    """
    torch.set_num_threads(threads)
    inputs = inputs or Inputs(in_resolved_folder(table).parent)
    data, task = table_data(table, files, text_columns=text_columns, inputs=inputs)
    file = inputs.table(table.name).named(table)
    init = init or task.init
    names, count = _classes(file, task, labels, scale)
    watched = _watched(data, task, inputs, names, count)
    start = None if init == "none" else inputs.bundle(init)
    settings: dict[str, Any] = {"init": init, "start": start, "scale": scale, "seeds": seeds}
    settings |= {"epochs": epochs, "watched": watched}
    recipe = text_recipe(out.name, data, task, names, texts=count, **settings)
    if recipe.model.class_sets and start is not None:
        recipe = with_weights(recipe, read_items(recipe, inputs)[0], start)
    first = _FIRST.format(file=table.name, recipe=out / RECIPE, folder=inputs.folder)
    _write_recipe(out, commented(recipe, first=first), inputs.folder)
    run_recipe(recipe, data=inputs, out=out, seeds=seeds, threads=threads, console=console)
    return list(recipe.task.advice_after(out / BUNDLE, recipe))


def _classes(
    file: FileContent, task: TableTask, labels: Sequence[str], scale: bool | None
) -> tuple[tuple[str, ...], int]:
    """The classes of a table, or the numbers on its scale of scores; and the number of its rows.
    `labels`: the classes if the user has named them."""
    skipped: list[DataError] | None = [] if task.skip_bad else None
    values = [row.values[task.target_column] for row in task.rows(file, skipped, labels)]
    named = task.named_labels(labels) if labels else task.find_labels(values, str(file), scale)
    return named, len(values)


def _watched(
    data: DataConfig, task: TableTask, inputs: Inputs, labels: Sequence[str], count: int
) -> int:
    """About how many rows there are to choose an epoch by, of a table of `count` rows."""
    if data.dev is None:
        return round(count * (data.dev_share or 0.0))
    skipped: list[DataError] | None = [] if task.skip_bad else None
    return sum(1 for _ in task.rows(inputs.table(data.dev), skipped, labels))


def _write_recipe(out: Path, text: str, folder: Path) -> None:
    """Write the recipe, unless `out` was trained by another one, somebody changed it since, or the
    file there is of another kind."""
    note, started = out / RECIPE, (out / SEEDS_FOLDER).exists()
    before = note.read_text(encoding="utf-8") if note.exists() else text
    if before != text and (started or not before.startswith(f"# {_FIRST.partition('{')[0]}")):
        raise ConfigError(
            f"{note}: expected the recipe of this table and these options, found another or a "
            f"changed one; to run that, thinstack train {note} --data {folder} --out ANOTHER; or "
            "name another folder"
        )
    write_atomically(note, text)


def train_rows(
    rows: Iterable[object],
    *,
    text: str,
    label: str,
    dev: Iterable[object] | None,
    init: str | None,
    out: Path,
    labels: Sequence[str] = (),
    scale: bool | None = None,
    task: str | None = None,
    epochs: int | None = None,
    test: Iterable[object] | None = None,
) -> None:
    """Train on rows in memory as `train_table` does on a table, in one process. The rows are kept
    in `out` as JSON lines.

    `text`, `label`: the columns. `dev`: rows to report on; without them a share of `rows` is set
    aside. `test`: rows that are only measured on at the end. `init`, `labels`, `scale`, `epochs`:
    as in `train_table`. `task`: what is learnt, "texts", "spans" or "aspects". The last two read
    the columns "start" and "end" too.
    """
    files: dict[str, Any] = {"label_column": label, "task": task or "texts"}
    kind: type[TableTask] = manager().find("task", f"{files['task']}.v1").plugin
    read = kind.parse({"text_column": text, "label_column": label}, source="the columns")
    columns, optional = read.columns_read, read.optional_columns
    classes = Classes(label, labels)
    others = {part: table for part, table in (("dev", dev), ("test", test)) if table is not None}
    tables = {"train.jsonl": rows} | {f"{part}.jsonl": table for part, table in others.items()}
    for table in tables.values():
        check_rows(table)
    with locked(out):
        folder = out / "data"
        inputs = Inputs(folder.resolve())
        for name, table in tables.items():
            asked = _asked(table) if task is None else table
            checks: RowChecks = {"advice": ADVICE, "classes": classes, "optional": optional}
            found = read_mappings(asked, columns, **checks)
            content = "".join(f"{json.dumps(row.values)}\n" for row in found).encode()
            write_atomically(folder / name, content)
            inputs.hold(name, content)
        files |= {part: str(folder / f"{part}.jsonl") for part in others}
        train_table(
            folder / "train.jsonl",
            out,
            files,
            text_columns=(text,),
            init=init,
            labels=labels,
            scale=scale,
            epochs=epochs,
            console=Console(),
            inputs=inputs,
        )


def _asked(rows: Iterable[object]) -> Iterator[object]:
    """The rows, once `ask_about_spans` has seen the first."""
    for number, row in enumerate(rows):
        if not number and isinstance(row, Mapping):
            ask_about_spans("rows", [name for name in row if isinstance(name, str)])
        yield row


def commented(recipe: Recipe, *, first: str) -> str:
    """A recipe as TOML, with a comment before each field that says what it is. `first`: the text of
    the comments at its top."""
    lines = [f"# {line}".rstrip() for line in first.splitlines()]
    return "\n".join([*lines, "", *_lines(recipe, "")]) + "\n"


def _lines(model: BaseModel, path: str) -> Iterator[str]:
    tables: list[tuple[str, BaseModel]] = []
    if isinstance(model, Task):
        yield from _field("name", model.name, f"What is learnt: {model.summary}.")
    for name, field in type(model).model_fields.items():
        value = getattr(model, name)
        if isinstance(value, BaseModel):
            tables.append((name, value))
        elif value is not None and (field.is_required() or name in model.model_fields_set):
            yield from _field(field.alias or name, value, field.description or name)
    for name, table in tables:
        if table.model_fields_set or isinstance(table, Task):
            inner = f"{path}.{name}" if path else name
            yield from ("", f"[{inner}]", *_lines(table, inner))


def _field(name: str, value: Any, description: str) -> Iterator[str]:
    yield from textwrap.wrap(description, 98, initial_indent="# ", subsequent_indent="# ")
    yield f"{name} = {_toml(value)}"


def _toml(value: Any) -> str:
    """A value on one line; the strings of JSON are strings of TOML."""
    if isinstance(value, Mapping):
        pairs = (f"{json.dumps(name)} = {_toml(one)}" for name, one in value.items())
        return f"{{ {', '.join(pairs)} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value)
