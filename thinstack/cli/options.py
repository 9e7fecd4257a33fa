"""Shared options of commands, groups of options, and printing of data."""

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TextIO, get_type_hints

import typer
from rich.console import Console
from rich.text import Text

from thinstack.core.config import Aggregation, Device
from thinstack.errors import InputError, escaped, shown

if TYPE_CHECKING:
    from thinstack.data.tables.table import Table
    from thinstack.runtime.aspects import Asked
    from thinstack.runtime.predictor import Predictor

ModelOption = Annotated[
    str, typer.Option("--model", "-m", help="The model: a bundle's name, folder or hf:// address.")
]
IsolatedOption = Annotated[
    bool | None,
    typer.Option(
        "--isolated/--no-isolated",
        help="Run the model in a separate process with memory and time limits.  [default: on for "
        "third-party models]",
    ),
]
ClassesOption = Annotated[
    int | None,
    typer.Option(
        help="Show the five sentiment classes as 3 (negative, neutral, positive) or as 2 (without "
        "neutral).  [default: the model's classes]"
    ),
]
AggregationOption = Annotated[
    Aggregation | None,
    typer.Option(
        help="How to combine the sentences of a text. tree: compose them into one tree. mean: "
        "average their scores.  [default: tree if the model was trained on such trees, otherwise "
        "mean]"
    ),
]
QuantizeOption = Annotated[
    Literal["none", "fp16", "int8-tables", "int8"],
    typer.Option(
        help="How to store weights. Every choice except none makes the file smaller and may change "
        "scores. int8 also computes in 8 bits, and may change scores by up to 0.02 on average."
    ),
]
SeparatorOption = Annotated[
    str | None,
    typer.Option(
        "--sep",
        "--separator",
        help="For a table: the character between cells, such as ; or tab.  [default: detected in "
        "each file]",
    ),
]
HeaderOption = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="For a table: whether the first row names the columns. Without a header, columns are "
        "named 1, 2, 3 ...  [default: header]",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def option(help: str, *names: str, default: Any = None, **settings: Any) -> Any:
    """Declare an option of a command or of a group of options, as the default of a parameter or a
    field that `grouped` processes.

    `default`: the default value; an ellipsis makes the option required. `names`: the names on the
    command line, if they differ from that of the parameter; without any, an option that is False
    by default has no negative form. `settings`: as for `typer.Option`.
    """
    return field(
        default=default, metadata={"of": typer.Option, "names": names, "help": help} | settings
    )


def argument(help: str, *, default: Any = ...) -> Any:
    """Declare an argument of a command, like `option`; without a `default` it is required."""
    return field(default=default, metadata={"of": typer.Argument, "names": (), "help": help})


@dataclass(frozen=True)
class Running:
    """Where and how to run a model."""

    device: Device = option(
        "Where to run the model. auto: large batches on a GPU (CUDA or, without it, WebGPU), "
        "everything else on the CPU.",
        default="cpu",
    )
    isolated: IsolatedOption = None
    threads: int | None = option("Number of threads.  [default: one per core]", min=1, max=256)

    def load(self, model: str | Path, **view: Any) -> "Predictor":
        """Load the model with this name or folder. `view`: how it presents its classes."""
        from thinstack import load

        return load(model, **vars(self), **view)


@dataclass(frozen=True)
class ViewSettings:
    """How a model reads texts and presents its classes."""

    classes: ClassesOption = None
    abstain: float | None = option(
        "Return no label if the top probability is below this value, for example 0.6."
    )
    max_words: int = option("Split sentences with more words than this into parts.", default=400)
    aggregation: AggregationOption = None


@dataclass(frozen=True)
class TableFormat:
    """The format of a table."""

    encoding: str = option("For a table: its encoding.", default="utf-8")
    separator: SeparatorOption = None
    header: HeaderOption = None
    skip_bad: bool = option("For a table: skip invalid rows.", default=False)

    def table(self, path: str | Path) -> "Table":
        """Open the file at a path as a table in this format."""
        from thinstack.data.tables.table import Table

        return Table(path, encoding=self.encoding, separator=self.separator, header=self.header)


@dataclass(frozen=True)
class ColumnSettings(TableFormat):
    """The columns of a table of texts and labels, and its format."""

    text_column: str = option("For a table: the text column.", "--text", default="text")
    label_column: str = option("For a table: the label column.", "--label", default="label")


EXAMPLE: Final = "price=overpriced,cheap"


def asked(about: Sequence[str] | None, categories: Sequence[str] | None) -> "Asked":
    """Return the terms of `--about` and the categories of `--category`."""
    from thinstack.runtime.categories import Category

    examples = named_examples("--category", categories, EXAMPLE)
    return [*(about or ()), *(Category(*pair) for pair in examples.items())]


def named_examples(
    name: str, values: Sequence[str] | None, example: str
) -> dict[str, tuple[str, ...]]:
    """Parse the values of an option as examples by name. Raises InputError, which shows an
    `example`, for a value without a name or examples."""
    names = dict[str, tuple[str, ...]]()
    for value in values or ():
        of, _, texts = value.partition("=")
        examples = tuple(text.strip() for text in texts.split(",") if text.strip())
        if not (of.strip() and examples):
            expected = f'expected a name and examples, such as "{example}"'
            raise InputError(f"{name}: {expected}, found {shown(value, 60)}")
        names[of.strip()] = (*names.get(of.strip(), ()), *examples)
    return names


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Convert a command for typer: parameters with an `option` or `argument` to typer's, and each
    parameter whose type is a dataclass to the options that are its fields."""
    flat, groups = list[Parameter](), dict[str, Any]()
    for parameter in signature(command).parameters.values():
        group = parameter.annotation
        if is_dataclass(group):
            groups[parameter.name] = group
            hints = get_type_hints(group, include_extras=True)
            flat += [_parameter(one.name, hints[one.name], one) for one in fields(group)]
        else:
            flat.append(_parameter(parameter.name, group, parameter.default))

    @wraps(command)
    def run(**values: Any) -> None:
        for name, group in groups.items():
            values[name] = group(**{one.name: values.pop(one.name) for one in fields(group)})
        command(**values)

    run.__signature__ = signature(command).replace(parameters=flat)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in flat}
    return run


def _parameter(name: str, kind: Any, default: Any) -> Parameter:
    """Create a parameter for typer. `default`: its default, or a field that has it."""
    if isinstance(default, Field):
        settings, default = dict(default.metadata), default.default
        if settings:
            switch = [f"--{name.replace('_', '-')}"] if default is False else []
            names = settings.pop("names") or switch
            kind = Annotated[kind, settings.pop("of")(*names, **settings)]
    missing = default in (..., MISSING)
    default = Parameter.empty if missing else default
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=kind)


_NAMES = {
    "texts": "the texts",
    "as_json": "--json",
    "as_json_lines": "--jsonl",
    "as_csv": "--csv",
    "text_column": "--text",
    "label_column": "--label",
    "score_column": "--score",
    "separator": "--sep",
    "header": "--no-header",
    "tree_format": "--format",
}


def chosen(group: Any, *names: str) -> list[str]:
    """List the options of a group that a user has set, or those among them with one of `names`."""
    return [
        option.name
        for option in fields(group)
        if getattr(group, option.name) != option.default and (not names or option.name in names)
    ]


def listed(names: Iterable[str]) -> str:
    """Format options by the names of their parameters as on the command line."""
    return ", ".join(_NAMES.get(name, "--" + name.replace("_", "-")) for name in names)


def print_table(title: str, columns: Iterable[str], rows: Iterable[Iterable[str | Text]]) -> None:
    """Print a title and a table, with numbers in all columns but the first. A row without cells is
    a line. `Text` cells are printed unchanged, with their styles."""
    from rich.table import Table

    console, table = Console(), Table()
    for number, name in enumerate(columns):
        table.add_column(name, justify="right" if number else "left")
    for row in rows:
        cells = [cell if isinstance(cell, Text) else Text(escaped(cell)) for cell in row]
        table.add_row(*cells) if cells else table.add_section()
    console.print(Text(escaped(title), style="italic"), soft_wrap=True)
    console.print(table)


def print_json(data: Any, *, indent: int | None = 2, file: TextIO | None = None) -> None:
    """Print readable JSON. If the output encoding lacks a character, print the escaped form.

    `indent`: spaces per level; None prints one line. `file`: by default standard output.
    """
    stream = file or sys.stdout
    unicode = (stream.encoding or "").lower().replace("-", "") in ("utf8", "utf16", "utf32")
    print(json.dumps(data, ensure_ascii=not unicode, indent=indent), file=stream)
