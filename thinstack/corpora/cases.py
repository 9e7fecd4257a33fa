"""What is done about a shard whose process is killed: it is tried again, then halved until the
rows that kill stand by themselves."""

from typing import NamedTuple

from thinstack.corpora.rows import Problem
from thinstack.corpora.shards import Shard
from thinstack.errors import StoppedError

__all__ = ["Case", "Task"]

_TRIES = 2


class Task(NamedTuple):
    """Rows to score, and whether to write them: a part of a shard is only tried."""

    shard: Shard
    write: bool


class Case:
    """A shard until it is written: what to try next, from what became of the last try."""

    def __init__(self, shard: Shard):
        self._shard = shard
        self._suspects: list[tuple[int, int]] = []  # rows [start, end) to try, the next one last
        self._deaths = 0  # of what is tried now
        self._fruitless = False

    @property
    def task(self) -> Task:
        """What to try."""
        if not self._suspects:
            return Task(self._shard, write=True)
        start, end = self._suspects[-1]
        return Task(Shard(self._shard.number, self._shard.rows[start:end]), write=False)

    def survived(self) -> None:
        """A part of the shard was tried, and the process lived."""
        self._suspects.pop()
        self._deaths = 0

    def died(self, how: str) -> None:
        """The process died of what was tried, or by chance; `how` says of what signal.

        The shard and each row of it have two tries. Raises StoppedError for a shard that kills,
        though no row in it does.
        """
        self._deaths += 1
        whole = not self._suspects
        start, end = (0, len(self._shard.rows)) if whole else self._suspects[-1]
        if self._deaths < _TRIES and (whole or end - start == 1):
            return
        if whole and self._fruitless:
            raise StoppedError(
                f"shard {self._shard.number} of {end:,} rows: its process dies ({how}), though it "
                "lives with each row of it; is there too little memory? Go on with fewer --jobs"
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
