"""What is made of the deaths of the processes that score a shard."""

import pytest

from thinstack.errors import StoppedError
from thinstack.integrations.corpora.inputs import Row
from thinstack.integrations.corpora.run_manifest import Shard
from thinstack.integrations.corpora.workers import without_row


def test_a_row_that_kills_is_named():
    shard = Shard(3, [Row(f"r{i}", str(i)) for i in range(4)], 8)
    for place in range(4):
        changed = without_row(shard, place, "Killed")
        assert (changed.number, changed.first) == (3, 8)
        assert [row.id for row in changed.rows] == [row.id for row in shard.rows]
        assert [row.text == "" for row in changed.rows] == [n == place for n in range(4)]
        problem = changed.rows[place].problem
        assert (problem.kind, problem.message[-6:]) == ("killed", "Killed")
        with pytest.raises(StoppedError, match=r"shard 3: .*Killed"):
            without_row(changed, place, "Killed")
    assert not any(row.problem for row in shard.rows)
