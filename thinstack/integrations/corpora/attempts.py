"""Finds the rows that kill a process. Their shard is tried again, then halved until each such row
is tried by itself."""

from collections.abc import Generator
from typing import NamedTuple, NoReturn, TypeVar

from thinstack.errors import StoppedError
from thinstack.integrations.corpora.rows import Problem
from thinstack.integrations.corpora.shards import Shard

T = TypeVar("T")
_TRIES = 2


class Attempt(NamedTuple):
    """Rows to score, and whether to write them. A part of a shard is tried, but not written."""

    shard: Shard
    write: bool


class OpenShard:
    """A shard that is not written yet. `attempt` is what to try next, by the result of the last
    one: the shard and each of its rows have two tries, the parts between them one."""

    def __init__(self, shard: Shard):
        self._search = _search(shard)
        self.attempt = next(self._search)

    def tried(self, how: str = "") -> None:
        """Note `how` the process died, because of the rows or by chance; "" if it survived. Raises
        StoppedError if the shard kills the process, but no single row does."""
        self.attempt = self._search.send(how)


Search = Generator[Attempt, str, T]
"""Attempts, each sent back how the process died, or "" if it survived."""


def _search(shard: Shard) -> Search[NoReturn]:
    size, fruitless = len(shard.rows), False
    while True:
        for _ in range(_TRIES):
            how = yield Attempt(shard, write=True)
        if fruitless:
            raise StoppedError(
                f"shard {shard.number} of {size:,} rows: its process dies ({how}), but not on any "
                "single row; is there too little memory? Continue with fewer --jobs"
            )
        deadly = {0: how} if size == 1 else (yield from _deadly(shard, 0, size))
        fruitless = not deadly
        rows = list(shard.rows)
        for place, how in deadly.items():
            message = f"the process that scored it died {_TRIES} times: {how}"
            rows[place] = rows[place]._replace(text="", problem=Problem("killed", message))
        shard = shard._replace(rows=rows)


def _deadly(shard: Shard, start: int, end: int) -> Search[dict[int, str]]:
    """The rows of a deadly part that kill by themselves, by place, and how."""
    rows, middle = dict[int, str](), (start + end) // 2
    for first, last in ((start, middle), (middle, end)):
        for _ in range(_TRIES if last - first == 1 else 1):
            how = yield Attempt(Shard(shard.number, shard.rows[first:last]), write=False)
            if not how:
                break
        else:
            rows |= {first: how} if last - first == 1 else (yield from _deadly(shard, first, last))
    return rows
