"""Which rows of a shard are tried, and what is made of deaths."""

import random

import pytest

from thinstack.errors import StoppedError
from thinstack.integrations.corpora.cases import Case
from thinstack.integrations.corpora.rows import Row
from thinstack.integrations.corpora.shards import Shard


def shard(size: int) -> Shard:
    return Shard(3, [Row(f"r{i}", str(i)) for i in range(size)])


def solved(case: Case, poison: set[str], chance: float = 0.0) -> tuple[Shard, int]:
    """The shard that is written in the end, and the number of tries. Rows of `poison` kill, others
    by chance."""
    generator = random.Random(0)
    for tries in range(1, 10_000):
        task = case.task
        if poison & {row.text for row in task.shard.rows} or generator.random() < chance:
            case.died("SIGKILL")
        elif task.write:
            return task.shard, tries
        else:
            case.survived()
    raise AssertionError("it never ends")


@pytest.mark.parametrize("size", [1, 2, 3, 37])
def test_rows_that_kill_are_found(size):
    whole = shard(size)
    for poison in ({0}, {size - 1}, {0, size // 2, size - 1}):
        found, _ = solved(Case(whole), set(map(str, poison)))
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
    _, tries = solved(Case(shard(4096)), {"77"})
    assert tries <= 2 + 2 * 12 + 2 + 1


def test_a_process_that_was_killed_by_chance_costs_one_try():
    case = Case(shard(8))
    case.died("SIGKILL")
    assert case.task == (shard(8), True)


def test_rows_are_not_blamed_for_chance():
    found, _ = solved(Case(shard(64)), {"5"}, chance=0.05)
    assert [row.id for row in found.rows if row.problem] == ["r5"]


def test_a_shard_that_kills_though_no_row_does_stops_the_run():
    case = Case(shard(4))

    def go_on() -> None:
        for _ in range(100):
            case.died("SIGSEGV") if case.task.write else case.survived()

    with pytest.raises(StoppedError, match=r"shard 3 .*SIGSEGV"):
        go_on()
