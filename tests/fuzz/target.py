"""What a kind of input is."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from fuzz.changes import Change
from fuzz.outcomes import Use


class Target(NamedTuple):
    """A kind of input.

    Attributes:
        seeds: good inputs.
        change: how they are changed.
        use: what is done with an input; it raises ThinstackError for a bad one.
        inputs: how many are tried in a round, about a second's worth.
    """

    seeds: Callable[[], Sequence[bytes]]
    change: Change
    use: Use
    inputs: int


def reading(name: str, read: Callable[[Path], object]) -> Use:
    """Read an input as a file of this name."""

    def use(content: bytes, folder: Path) -> object:
        (folder / name).write_bytes(content)
        return read(folder / name)

    return use


def of_file(
    name: str, read: Callable[[Path], object], change: Change, inputs: int, *seeds: bytes
) -> Target:
    """A kind of file of this name."""
    return Target(lambda: seeds, change, reading(name, read), inputs)
