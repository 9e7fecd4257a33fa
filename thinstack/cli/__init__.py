"""The command line, `thinstack predict | report | themes | search | serve | evaluate | train |
finish | export | push | plugins | doctor`. Errors print a message and exit with code 2."""

import os
import sys
import warnings
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.console import Console
from rich.text import Text
from typer.core import TyperCommand

from thinstack._version import __version__
from thinstack.cli.doctor import doctor, plugins
from thinstack.cli.evaluate import evaluate
from thinstack.cli.export import export, finish, push
from thinstack.cli.predict import predict
from thinstack.cli.serve import serve
from thinstack.cli.table_commands import report, search, themes
from thinstack.cli.train import train
from thinstack.errors import StoppedError, ThinstackError, escaped

_UsageError: Any = typer.BadParameter.__base__  # of the click that typer vendors, or of another


class TextCommand(TyperCommand):
    """A command whose arguments are texts, which may look like options. The error for an unknown
    option explains how to pass a text that begins with a minus sign."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        advice = (
            "If that is a text, put -- before the texts and after all options: "
            f"{ctx.command_path} -- TEXT"
        )
        try:
            rest = super().parse_args(ctx, args)
        except _UsageError as error:
            if getattr(error, "option_name", None):
                error.message = f"{error.message.rstrip('.')}. {advice}"
            raise
        model = str(ctx.params.get("model"))  # for a text such as "-moving and slow"
        if " " in model and not Path(model).exists():
            raise _UsageError(f"No model: {escaped(model)}. {advice}", ctx)
        return rest


app = typer.Typer(
    help="Score the sentiment of a text, its sentences and every phrase in them. Train and export "
    "your own models.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
_COMMANDS = (
    *(predict, report, themes, search, serve, evaluate, train, finish),
    *(export, push, plugins, doctor),
)
_warnings: Final = set[str]()

for command in _COMMANDS:
    app.command(cls=TextCommand if command is predict else None)(command)


def main(commands: typer.Typer = app) -> None:
    """Run the command line. An error of thinstack, or an unusable file, exits with code 2. A signal
    that interrupts a run exits with 128 plus the number of the signal."""
    _open_streams()
    if os.environ.get("COLUMNS") == "0":  # an unknown width, for which rich would print nothing
        del os.environ["COLUMNS"]
    warnings.showwarning = _print_warning
    _warnings.clear()
    try:
        commands()
    except (ThinstackError, OSError) as error:
        Console(stderr=True, soft_wrap=True).print(
            Text(f"error: {escaped(str(error))}", style="bold red")
        )
        sys.exit(error.code if isinstance(error, StoppedError) else 2)


def _print_warning(message: Warning | str, *_: object, **_more: object) -> None:
    """Replace `warnings.showwarning`: print a warning without lines of code, once, because a
    command may read a table twice."""
    warning = f"warning: {escaped(str(message))}"
    if warning not in _warnings:
        _warnings.add(warning)
        print(warning, file=sys.stderr)


def _open_streams() -> None:
    """Redirect closed standard streams to the null device. Otherwise the next file that is opened
    would get their file descriptor, and the output of libraries. Characters that the encoding of
    standard output lacks are escaped, as Python does on standard error."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            handle = os.open(os.devnull, os.O_RDWR)
            setattr(sys, name, os.fdopen(handle, mode, encoding="utf-8"))
    if isinstance(sys.stdout, TextIOWrapper):  # a notebook's is not
        sys.stdout.reconfigure(errors="backslashreplace")


@app.callback(invoke_without_command=True)
def _options(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    if version:
        print(__version__)
        raise typer.Exit
