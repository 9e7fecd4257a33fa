"""Options that several commands take, and the way they print data."""

import json
import sys
from collections.abc import Iterable
from typing import Annotated, Any, Literal

import typer

from thinstack.core.config import Aggregation, Device

ModelOption = Annotated[
    str, typer.Option("--model", "-m", help="The model: a bundle's name, folder or hf:// address.")
]
ModelArgument = Annotated[
    str, typer.Argument(help="The model: a bundle's name, folder or hf:// address.")
]
DeviceOption = Annotated[
    Device,
    typer.Option(
        help="Where to run the model. auto: large batches on CUDA if it works, else by WebGPU on a "
        "GPU; all else on the CPU."
    ),
]
IsolatedOption = Annotated[
    bool | None,
    typer.Option(
        "--isolated/--no-isolated",
        help="Run the model in a process of its own, with limits of memory and time.  [default: "
        "unless the model is your own]",
    ),
]
ThreadsOption = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=256,
        help="Number of threads that share the batches.  [default: one per core; with --input 1]",
    ),
]
ClassesOption = Annotated[
    int | None,
    typer.Option(
        help="Show five classes of sentiment as 3 (negative, neutral, positive) or as 2 (without "
        "neutral).  [default: the model's own classes]"
    ),
]
AbstainOption = Annotated[
    float | None,
    typer.Option(help="Give no label if the best class is less probable than this, such as 0.6."),
]
AggregationOption = Annotated[
    Aggregation | None,
    typer.Option(
        help="How to read a text of several sentences. tree: as one tree over their trees. mean: "
        "the mean of what they say alone.  [default: tree, if the model has learnt it]"
    ),
]
QuantizeOption = Annotated[
    Literal["none", "fp16", "int8-tables", "int8"],
    typer.Option(
        help="How to store weights. All but none make the file smaller and change scores a little. "
        "int8 also computes with 8 bits."
    ),
]
SeparatorOption = Annotated[
    str | None,
    typer.Option(
        "--sep",
        "--separator",
        help="For a table: the character between its cells, such as ; or tab.  [default: found in "
        "each file]",
    ),
]
HeaderOption = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="For a table: whether its first row names the columns. Without a header they are "
        "named 1, 2, 3 ...  [default: it does, unless it looks like another row]",
    ),
]
ParagraphsOption = Annotated[
    bool,
    typer.Option(
        "--paragraphs", help="Standard input or a .txt file: cut texts at blank lines only."
    ),
]
SkipBadOption = Annotated[
    bool, typer.Option("--skip-bad", help="For a table: skip rows that cannot be used.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for programs to read.")]


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
}


def listed(names: Iterable[str]) -> str:
    """Options by the names of their parameters, as the command line has them."""
    return ", ".join(_NAMES.get(name, "--" + name.replace("_", "-")) for name in names)


def print_json(data: Any, *, indent: int | None = 2) -> None:
    """Print readable JSON. If the output cannot hold every character, print the escaped form.

    `indent`: spaces a level; None prints one line.
    """
    unicode = (sys.stdout.encoding or "").lower().replace("-", "") in ("utf8", "utf16", "utf32")
    print(json.dumps(data, ensure_ascii=not unicode, indent=indent))
