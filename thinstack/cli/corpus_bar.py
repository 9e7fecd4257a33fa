"""The progress bar of a run over a corpus."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)

if TYPE_CHECKING:
    from thinstack.integrations.corpora.run import Progress as Done


_SPEED_OVER = 3600.0
"""The speed is measured over this many seconds."""


class CorpusBar:
    """Shows the rows done, rows per second and the time left. Shows nothing without a terminal.

    `clock`: gives the time in seconds, from any start.
    """

    def __init__(self, console: Console, clock: Callable[[], float] = time.monotonic):
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[speed]}"),
            TimeRemainingColumn(),
            console=console,
            disable=not console.is_terminal,
            transient=True,
            speed_estimate_period=_SPEED_OVER,
            get_time=clock,
        )
        self._task: TaskID | None = None
        self._counting = False

    def __enter__(self) -> "CorpusBar":
        self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._bar.stop()

    def tell(self, now: "Done") -> None:
        """Show the progress: first how many rows have been counted, then how many are done."""
        if self._task is None or (now.rows is not None and self._counting):
            if self._task is not None:
                self._bar.remove_task(self._task)
            self._counting = now.rows is None
            name = "counting rows" if self._counting else "rows"
            self._task = self._bar.add_task(name, total=now.rows, completed=now.done, speed="")
        (task,) = self._bar.tasks
        speed = f"{task.speed:,.0f} rows/s" if task.speed else ""
        self._bar.update(self._task, completed=now.done, speed=speed)
