"""How far a run is, in a terminal."""

import io
import re

from rich.console import Console

from thinstack.cli.table_query import watched
from thinstack.integrations.corpora.run_manifest import Progress


def test_a_terminal_shows_rows_speed_and_time_left():
    now = 0.0
    shown = io.StringIO()
    console = Console(file=shown, force_terminal=True, width=120, color_system=None)
    with watched("stopped", console, lambda: now) as tell:
        tell(Progress(4096))
        tell(Progress(8192))
        for done in (1000, 3000, 5000):  # 1,000 were done before
            tell(Progress(done, rows=8192, before=1000))
            now += 2
        tell(Progress(5000, rows=8192, before=1000))
    last = re.sub(r"\x1b\[[^a-zA-Z]*[a-zA-Z]", "", shown.getvalue())
    assert "counting rows" in last
    assert "5000/8192 1,000 rows/s 0:00:04" in re.sub(" +", " ", last)
