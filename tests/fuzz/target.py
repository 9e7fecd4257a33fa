"""What a kind of input is."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from fuzz.outcomes import Use

Change = Callable[[bytes, np.random.Generator], bytes]


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


def reading(name, read):
    """Read an input as a file of this name."""

    def use(content, folder):
        (folder / name).write_bytes(content)
        return read(folder / name)

    return use


def of_file(name, read, change, inputs, *seeds):
    """A kind of file of this name."""
    return Target(lambda: seeds, change, reading(name, read), inputs)
