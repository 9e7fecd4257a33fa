"""What is made of the deaths of the processes that score a shard."""

import random

import pytest

from thinstack.errors import StoppedError
from thinstack.integrations.corpora.inputs import Row
from thinstack.integrations.corpora.run_manifest import Shard
from thinstack.integrations.corpora.workers import OpenShard


def whole(size):
    return Shard(3, [Row(f"r{i}", str(i)) for i in range(size)])


def solved(shard, poison, chance=0.0):
    """The rows in the end, and how often a process died. Those of `poison` kill, others by
    chance."""
    generator, deaths = random.Random(0), 0

    def kills(row):
        return row.text in poison or generator.random() < chance

    while True:
        rows = shard.shard.rows
        places = range(len(rows)) if shard.by_rows else [0]
        for shard.row in places:
            if any(map(kills, [rows[shard.row]] if shard.by_rows else rows)):
                break
        else:
            return rows, deaths
        shard.died("SIGKILL")
        deaths += 1


@pytest.mark.parametrize("size", [1, 2, 3, 37])
def test_rows_that_kill_are_named(size):
    shard = whole(size)
    for poison in ({0}, {size - 1}, {0, size // 2, size - 1}):
        rows, deaths = solved(OpenShard(shard), set(map(str, poison)))
        assert {place for place, row in enumerate(rows) if row.problem} == poison
        assert [row.id for row in rows] == [f"r{place}" for place in range(size)]
        assert all(row.text == "" for row in rows if row.problem)
        (problem, *_) = (row.problem for row in rows if row.problem)
        assert (problem.kind, problem.message[-7:]) == ("killed", "SIGKILL")
        assert deaths == 1 + 2 * len(poison)
    assert not any(row.problem for row in shard.rows)


def test_rows_are_not_blamed_for_chance():
    rows, _ = solved(OpenShard(whole(64)), {"5"}, chance=0.005)
    assert [row.id for row in rows if row.problem] == ["r5"]


def test_a_shard_that_kills_though_no_row_does_stops_the_run():
    shard = OpenShard(whole(4))
    shard.died("SIGSEGV")
    shard.row = 4  # all are scored
    shard.died("SIGSEGV")
    with pytest.raises(StoppedError, match=r"shard 3 .*SIGSEGV"):
        shard.died("SIGSEGV")
