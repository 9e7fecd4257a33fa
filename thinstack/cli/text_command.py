"""The commands that take texts say how to give one that begins with a minus sign."""

import shlex
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand

from thinstack.errors import escaped

_UsageError: Any = typer.BadParameter.__base__  # of the click that typer brings, or of another


class TextCommand(TyperCommand):
    """A command whose arguments are texts, which may look like options."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments. The error of an unknown option says how to give it as a text."""
        arguments = list(args)
        try:
            rest = super().parse_args(ctx, args)
        except _UsageError as error:
            name = getattr(error, "option_name", None)
            if name and (texts := [each for each in arguments if _may_mean(each, name)]):
                error.message = f"{error.message.rstrip('.')}. {_advice(ctx, texts[0])}"
            raise
        model = str(ctx.params.get("model"))
        if f"-m{model}" in arguments and any(map(str.isspace, model)) and not Path(model).exists():
            raise _UsageError(f"No model: {escaped(model)}. {_advice(ctx, f'-m{model}')}", ctx)
        return rest


def _may_mean(argument: str, name: str) -> bool:
    """Whether an argument is read as an option of this name, alone or with others of one letter."""
    several = argument.startswith("-") and not argument.startswith("--")
    return argument.startswith(name) or (several and len(name) == 2 and name[1] in argument)


def _advice(ctx: Any, text: str) -> str:
    shown = text if len(text) <= 60 else f"{text[:60]}..."
    return (
        "If that is a text, put -- before the texts and after all options: "
        f"{ctx.command_path} -- {escaped(shlex.quote(shown))}"
    )
