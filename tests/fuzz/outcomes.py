"""What comes of an input, and of many."""

import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

from thinstack.errors import ThinstackError

Use = Callable[[bytes, Path], object]
"""What is done with an input, in a folder of its own. It tells what came of it in a few words, or
raises."""

Place = tuple[str, ...]
"""Where an error was raised, or what an input gave. Inputs of one place are alike."""


class Outcome(NamedTuple):
    """What came of an input. Faults have a message."""

    what: Literal["answered", "refused", "untyped", "memory"]
    place: Place
    message: str = ""


class Fault(NamedTuple):
    """An input that did what no input may do."""

    what: Literal["death", "hang", "untyped", "memory"]
    place: Place
    message: str
    content: bytes


def outcome(use, content, folder):
    """What comes of an input. An error that is no ThinstackError is a fault."""
    try:
        return Outcome("answered", (str(use(content, folder)),))
    except ThinstackError as error:
        return Outcome("refused", _place(error))
    except Exception as error:
        message = "".join(traceback.format_exception(error))
        return Outcome("untyped", _place(error), message)


def _place(error):
    """The type of an error, and the lines that it went through."""
    frames = traceback.extract_tb(error.__traceback__)[2:]
    lines = (f"{Path(frame.filename).name}:{frame.lineno}" for frame in frames)
    return type(error).__name__, *lines


@dataclass
class Run:
    """What inputs of a kind have done."""

    answered: int = 0
    refused: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    faults: list[Fault] = field(default_factory=list)

    @property
    def inputs(self):
        """How many there were."""
        return self.answered + self.refused + self.counts.total()

    def add(self, fault):
        """Count a fault; the first of each place is kept."""
        self.counts[fault.what] += 1
        if all((fault.what, fault.place) != (one.what, one.place) for one in self.faults):
            self.faults.append(fault)

    def join(self, other):
        """Add what others have done."""
        self.answered += other.answered
        self.refused += other.refused
        counts = self.counts + other.counts
        for fault in other.faults:
            self.add(fault)
        self.counts = counts
