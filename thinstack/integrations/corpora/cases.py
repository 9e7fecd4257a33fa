"""Finds the rows that kill a process. Their shard is tried again, then halved until each such row
is tried by itself."""

from typing import NamedTuple

from thinstack.errors import StoppedError
from thinstack.integrations.corpora.rows import Problem
from thinstack.integrations.corpora.shards import Shard

__all__ = ["Case", "Task"]

_TRIES = 2


class Task(NamedTuple):
    """Rows to score, and whether to write them. A part of a shard is tried, but not written."""

    shard: Shard
    write: bool


class Case:
    """A shard that is not written yet. It says what to try next, from the result of the last
    try."""

    def __init__(self, shard: Shard):
        self._shard = shard
        self._suspects: list[tuple[int, int]] = []  # rows [start, end) to try, the next one last
        self._deaths = 0  # of what is tried now
        self._fruitless = False

    @property
    def task(self) -> Task:
        """The rows to try next."""
        if not self._suspects:
            return Task(self._shard, write=True)
        start, end = self._suspects[-1]
        return Task(Shard(self._shard.number, self._shard.rows[start:end]), write=False)

    def survived(self) -> None:
        """Note that a part of the shard was tried, and the process survived."""
        self._suspects.pop()
        self._deaths = 0

    def died(self, how: str) -> None:
        """Note that the process died, because of the rows or by chance. `how` names the signal.

        The shard and each of its rows have two tries. Raises StoppedError if the shard kills the
        process, but no single row does.
        """
        self._deaths += 1
        whole = not self._suspects
        start, end = (0, len(self._shard.rows)) if whole else self._suspects[-1]
        if self._deaths < _TRIES and (whole or end - start == 1):
            return
        if whole and self._fruitless:
            raise StoppedError(
                f"shard {self._shard.number} of {end:,} rows: its process dies ({how}), but not on "
                "any single row; is there too little memory? Continue with fewer --jobs"
            )
        self._deaths = 0
        self._suspects[-1:] = []
        if whole:
            self._fruitless = True
        if end - start > 1:
            middle = (start + end) // 2
            self._suspects += [(middle, end), (start, middle)]
            return
        self._fruitless = False
        problem = Problem("killed", f"the process that scored it died {_TRIES} times: {how}")
        rows = list(self._shard.rows)
        rows[start] = rows[start]._replace(text="", problem=problem)
        self._shard = self._shard._replace(rows=rows)
