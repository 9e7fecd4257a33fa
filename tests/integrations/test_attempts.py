"""Which rows of a shard are tried, and what is made of deaths."""

import random

import pytest

from thinstack.errors import StoppedError
from thinstack.integrations.corpora.rows import Row
from thinstack.integrations.corpora.shards import Shard
from thinstack.integrations.corpora.workers import OpenShard


def shard(size):
    return Shard(3, [Row(f"r{i}", str(i)) for i in range(size)])


def solved(one, poison, chance=0.0):
    """The shard written in the end, and the tries. Rows of `poison` kill, others by chance."""
    generator = random.Random(0)
    for tries in range(1, 10_000):
        attempt = one.attempt
        if poison & {row.text for row in attempt.shard.rows} or generator.random() < chance:
            one.tried("SIGKILL")
        elif attempt.write:
            return attempt.shard, tries
        else:
            one.tried()
    raise AssertionError("it never ends")


@pytest.mark.parametrize("size", [1, 2, 3, 37])
def test_rows_that_kill_are_found(size):
    whole = shard(size)
    for poison in ({0}, {size - 1}, {0, size // 2, size - 1}):
        found, _ = solved(OpenShard(whole), set(map(str, poison)))
        problems = {place for place, row in enumerate(found.rows) if row.problem}
        assert problems == poison
        for place, row in enumerate(found.rows):
            assert row.id == f"r{place}"
            assert row.text == ("" if place in poison else str(place))
        (problem, *_) = (row.problem for row in found.rows if row.problem)
        assert problem.kind == "killed"
        assert problem.message == "the process that scored it died 2 times: SIGKILL"
    assert not any(row.problem for row in whole.rows)


def test_one_row_that_kills_costs_few_tries():
    _, tries = solved(OpenShard(shard(4096)), {"77"})
    assert tries <= 2 + 2 * 12 + 2 + 1


def test_a_process_that_was_killed_by_chance_costs_one_try():
    one = OpenShard(shard(8))
    one.tried("SIGKILL")
    assert one.attempt == (shard(8), True)


def test_rows_are_not_blamed_for_chance():
    found, _ = solved(OpenShard(shard(64)), {"5"}, chance=0.05)
    assert [row.id for row in found.rows if row.problem] == ["r5"]


def test_a_shard_that_kills_though_no_row_does_stops_the_run():
    one = OpenShard(shard(4))

    def go_on():
        for _ in range(100):
            one.tried("SIGSEGV") if one.attempt.write else one.tried()

    with pytest.raises(StoppedError, match=r"shard 3 .*SIGSEGV"):
        go_on()
