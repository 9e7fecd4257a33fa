"""What the commands print."""

from rich.console import Console


def say(console: Console, line: str) -> None:
    """Print a line as it is, without markup and in one piece."""
    console.print(line, markup=False, highlight=False, soft_wrap=True)
