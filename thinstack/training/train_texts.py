"""Trains on a table of texts or pairs: writes a recipe for it, and runs the recipe."""

import json
import textwrap
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from pydantic import BaseModel
from rich.console import Console

from thinstack.bundle.opening import MORE, SEPARATE
from thinstack.core.config.base import descriptions
from thinstack.data.files.paths import in_resolved_folder
from thinstack.data.files.writing import locked, write_atomically
from thinstack.data.tables.containers import check_rows
from thinstack.data.tables.table import read_mappings
from thinstack.errors import ConfigError
from thinstack.integrations.show.marks import as_text
from thinstack.plugins.manager import manager
from thinstack.training.examples.inputs import Inputs
from thinstack.training.recipe import Recipe
from thinstack.training.run_recipe import BUNDLE, SEEDS_FOLDER, run_recipe
from thinstack.training.task import Task
from thinstack.training.tasks._table import TableTask
from thinstack.training.tasks.spans import ask_about_spans
from thinstack.training.text_recipe import TableOptions, table_recipe

RECIPE = "recipe.toml"
ADVICE = "set the columns with text= and label="

_FIRST = """Written by `thinstack train {file}`. To change settings, edit this file and run:

    thinstack train {recipe} --data {folder} --out ANOTHER

docs/recipes.md explains how to list all fields."""


def train_table(
    table: Path, out: Path, options: TableOptions, *, threads: int = 1, console: Console
) -> list[str]:
    """Train on a table, and write the recipe and the files of `run_recipe` to the folder `out`.
    Returns advice on how to use the bundle.

    `threads`: keep 1, because minibatches are so small that several threads wait for each other,
    which takes many times as long on a busy machine. If `out` contains the recipe of an earlier
    call that was stopped, training resumes. Raises ConfigError if `out` belongs to another recipe,
    and the errors of `table_recipe`.
    """
    torch.set_num_threads(threads)
    inputs = Inputs(in_resolved_folder(table).parent)
    recipe = table_recipe(table, out.name, options, inputs)
    first = _FIRST.format(file=table.name, recipe=out / RECIPE, folder=inputs.folder)
    _write_recipe(out, commented(recipe, first=first), inputs.folder)
    if options.init is None and recipe.init is not None:
        shown, task = recipe.model.shown_labels, recipe.task
        assert isinstance(task, TableTask)
        line = start_line(task, recipe.init.bundle, shown, options.scale)
        console.print(as_text(line), soft_wrap=True)
    run_recipe(recipe, data=inputs, out=out, seeds=options.seeds, threads=threads, console=console)
    return list(recipe.task.advice_after(out / BUNDLE, recipe))


def start_line(task: TableTask, name: str, labels: Sequence[str], scale: bool | None) -> str:
    """Return a line on the bundle that training starts from, and on a better one to install."""
    best, line = task.starts_for(labels, scale)[0], f"training starts from {name}"
    better = f"; {best} is usually better for such labels ({SEPARATE.get(best, MORE)})"
    return line if name == best else line + better


def _write_recipe(out: Path, text: str, folder: Path) -> None:
    """Write the recipe, unless `out` belongs to another one or its recipe was edited."""
    note, started = out / RECIPE, (out / SEEDS_FOLDER).exists()
    before = note.read_text(encoding="utf-8") if note.exists() else text
    same = before == text
    with suppress(tomllib.TOMLDecodeError):  # comments may differ
        same = same or tomllib.loads(before) == tomllib.loads(text)
    if not same and (started or not before.startswith(f"# {_FIRST.partition('{')[0]}")):
        raise ConfigError(
            f"{note}: expected the recipe of this table and these options, found another or "
            f"an edited one; to run it, use thinstack train {note} --data {folder} --out "
            "ANOTHER, or choose another folder"
        )
    write_atomically(note, text)


def train_rows(
    rows: Iterable[object], out: Path, options: TableOptions, **parts: Iterable[object] | None
) -> None:
    """Train on rows in memory like `train_table`, in one process. The rows are written to `out` as
    JSON lines.

    `parts`: the rows of other tables of `TableOptions`: `add`, `dev` and `test`. `options`: with
    the text and the label column.
    """
    (text,), label = options.text_column, options.label_column
    kind: type[TableTask] = manager().find("task", f"{options.task or 'texts'}.v1").plugin
    task = kind.parse({"text_column": text, "label_column": label}, source="the columns")
    checks = task.row_checks(None, options.labels) | {"advice": ADVICE}
    tables = {"train": rows} | {name: part for name, part in parts.items() if part is not None}
    for table in tables.values():
        check_rows(table)

    def asked(rows: Iterable[object]) -> Iterator[object]:
        for number, row in enumerate(rows):
            if number == 0 and options.task is None and isinstance(row, Mapping):
                ask_about_spans("rows", [name for name in row if isinstance(name, str)])
            yield row

    with locked(out):
        paths = {name: out / "data" / f"{name}.jsonl" for name in tables}
        for name, table in tables.items():
            read = read_mappings(asked(table), task.columns_read, **checks)
            write_atomically(paths[name], "".join(f"{json.dumps(row.values)}\n" for row in read))
        train, others = paths.pop("train"), dict[str, Any](paths)
        train_table(train, out, replace(options, **others), console=Console())


def commented(recipe: Recipe, *, first: str) -> str:
    """Format a recipe as TOML, with a comment that describes each field. `first`: the text of the
    comments at the top."""
    lines = [f"# {line}".rstrip() for line in first.splitlines()]
    return "\n".join([*lines, "", *_lines(recipe, "")]) + "\n"


def _lines(model: BaseModel, path: str) -> Iterator[str]:
    tables: list[tuple[str, BaseModel]] = []
    described = descriptions(type(model))
    if isinstance(model, Task):
        yield from _field("name", model.name, f"Task: {model.summary}.")
    for name, field in type(model).model_fields.items():
        value = getattr(model, name)
        if isinstance(value, BaseModel):
            tables.append((name, value))
        elif value is not None and (field.is_required() or name in model.model_fields_set):
            yield from _field(field.alias or name, value, described.get(name, name))
    for name, table in tables:
        if table.model_fields_set or isinstance(table, Task):
            inner = f"{path}.{name}" if path else name
            yield from ("", f"[{inner}]", *_lines(table, inner))


def _field(name: str, value: Any, description: str) -> Iterator[str]:
    yield from textwrap.wrap(description, 98, initial_indent="# ", subsequent_indent="# ")
    yield f"{name} = {_toml(value)}"


def _toml(value: Any) -> str:
    """Format a value on one line. Strings of JSON are strings of TOML, except for surrogates."""
    if isinstance(value, Mapping):
        pairs = (f"{_toml(name)} = {_toml(one)}" for name, one in value.items())
        return f"{{ {', '.join(pairs)} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", r"\u007f")
