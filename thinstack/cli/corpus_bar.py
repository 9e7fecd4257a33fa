"""The progress bar of a run over a corpus."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

if TYPE_CHECKING:
    from thinstack.integrations.corpora.run import Progress as Done


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
            speed_estimate_period=3600.0,  # seconds that the speed is measured over
            get_time=clock,
        )

    def __enter__(self) -> "CorpusBar":
        self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._bar.stop()

    def tell(self, now: "Done") -> None:
        """Show the progress: first how many rows have been counted, then how many are done."""
        name = "counting rows" if now.rows is None else "rows"
        if [shown.description for shown in self._bar.tasks] != [name]:
            for shown in self._bar.tasks:
                self._bar.remove_task(shown.id)
            self._bar.add_task(name, total=now.rows, completed=now.done, speed="")
        (shown,) = self._bar.tasks
        speed = f"{shown.speed:,.0f} rows/s" if shown.speed else ""
        self._bar.update(shown.id, completed=now.done, speed=speed)
