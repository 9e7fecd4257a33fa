"""A distribution whose entry points go wrong in every way, beside a good one, as users meet it: at
the command line."""

import json
import os
import subprocess
import sys
from pathlib import Path

from test_manager import BROKEN, cells
from test_readers import SQUARE

ROOT = Path(__file__).parents[2]
BROKEN_HERE = ("raises_on_import", "raises_in_hook", "misspelt", "returns_none")
FAILURES = {(name, "plugin"): BROKEN[name][1] for name in BROKEN_HERE} | {
    ("word_mean.v1", "cell"): "(built in) and by broken-dist 1.2 (entry point 'builtins_name'): un",
    ("same.v1", "cell"): "'same') and by other-dist 1.2 (entry point 'same_again'): uninstall one",
}
"""By name and kind of the record, a part of what is said."""


def plugins(site, *args):
    shown = {"PYTHONPATH": os.pathsep.join([str(ROOT), str(site.path)]), "COLUMNS": "400"}
    command = [sys.executable, "-m", "thinstack", "plugins", *args]
    env = {**os.environ, **shown}
    return subprocess.run(command, env=env, capture_output=True, text=True, check=True)


def test_each_failure_is_named_with_its_distribution_and_the_rest_works(site):
    for name in BROKEN_HERE:
        site.install("broken-dist", name, BROKEN[name][0])
    site.install("broken-dist", "builtins_name", cells("word_mean.v1"))
    site.install("broken-dist", "same", cells("same.v1"))
    site.install("other-dist", "same_again", cells("same.v1"))
    site.install("good-dist", "good_cells", cells("good.v1"))
    site.install("good-dist", "good_reader", SQUARE)

    records, shown = json.loads(plugins(site, "--json").stdout), plugins(site)
    status = {(each["distribution"], each["name"]): each["status"] for each in records}
    broken = {
        (each["name"], each["kind"]): each["error"]
        for each in records
        if each["distribution"] == "broken-dist"
    }
    assert broken.keys() == FAILURES.keys()
    rows = [[cell.strip() for cell in row.split("│")[1:-1]] for row in shown.stdout.splitlines()]
    for (name, kind), said in FAILURES.items():
        error = broken[name, kind]
        assert said in error
        assert [name, kind, "broken-dist", "1.2", "failed", error] in rows
        assert f"{kind} {name!r} of broken-dist 1.2 was left out: {error}" in shown.stderr
    assert "Traceback" not in shown.stderr
    assert status["other-dist", "same.v1"] == "failed"
    works = {key for key, said in status.items() if said == "ok"}
    assert {("good-dist", "good.v1"), ("good-dist", "square.v1")} <= works
    assert {key for key in status if key[0] == "thinstack"} <= works
