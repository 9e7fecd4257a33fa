"""Options that several commands take, and how they print data."""

import json
import sys
from typing import Annotated, Any

import typer

from thinstack.config import Device

__all__ = [
    "ClassesOption",
    "DeviceOption",
    "JsonOption",
    "ModelOption",
    "ThreadsOption",
    "print_json",
]

ModelOption = Annotated[
    str, typer.Option("--model", "-m", help="Name, folder or hf:// address of a bundle.")
]
DeviceOption = Annotated[Device, typer.Option(help="Where to run; auto takes CUDA where it works.")]
ThreadsOption = Annotated[
    int | None,
    typer.Option(
        min=1, max=256, help="Threads that share the batches; as many as cores by default."
    ),
]
ClassesOption = Annotated[
    int | None,
    typer.Option(
        help="Of the five classes of sentiment: 3 adds those of each side up, 2 leaves neutral out."
        "  [default: the model's own]"
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print data instead of a drawing.")]


def print_json(data: Any, *, indent: int | None = 2) -> None:
    """Print readable JSON, or its escaped form where the output cannot hold every character.
    `indent` None: in one line."""
    unicode = (sys.stdout.encoding or "").lower().replace("-", "") in ("utf8", "utf16", "utf32")
    print(json.dumps(data, ensure_ascii=not unicode, indent=indent))
