"""A distribution whose entry points go wrong in every way, beside a good one, as users meet it: at
the command line."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from last_word_model import write_last_word_bundle
from test_manager import BROKEN, cells
from test_readers import SQUARE

ROOT = Path(__file__).parents[2]
BROKEN_HERE = ("raises_on_import", "raises_in_hook", "misspelt", "returns_none", "newer")

# By name and kind of the record, a part of what is said.
FAILURES = {(name, "plugin"): BROKEN[name][1] for name in BROKEN_HERE} | {
    ("word_mean.v1", "cell"): "(built in) and by broken-dist 1.2 (entry point 'builtins_name'): un",
    ("same.v1", "cell"): "'same') and by other-dist 1.2 (entry point 'same_again'): uninstall one",
}


@pytest.fixture
def installed(site) -> Path:
    for name in BROKEN_HERE:
        site.install("broken-dist", name, BROKEN[name][0])
    site.install("broken-dist", "builtins_name", cells("word_mean.v1"))
    site.install("broken-dist", "same", cells("same.v1"))
    site.install("other-dist", "same_again", cells("same.v1"))
    site.install("good-dist", "good_cells", cells("good.v1"))
    site.install("good-dist", "good_reader", SQUARE)
    return site.path


def thinstack(
    installed: Path, *args: str | Path, blocked: str = ""
) -> subprocess.CompletedProcess[str]:
    places = os.pathsep.join([str(ROOT), str(installed)])
    set_here = {"PYTHONPATH": places, "THINSTACK_BLOCK_PLUGINS": blocked, "COLUMNS": "400"}
    command = [sys.executable, "-m", "thinstack", *map(str, args)]
    return subprocess.run(
        command, env={**os.environ, **set_here}, capture_output=True, text=True, check=False
    )


def listed(
    installed: Path, *, blocked: str = ""
) -> dict[tuple[str, str, str], dict[str, str | None]]:
    """The records of `thinstack plugins --json` by distribution, name and kind."""
    answer = thinstack(installed, "plugins", "--json", blocked=blocked)
    assert answer.returncode == 0, answer.stderr
    return {
        (record["distribution"], record["name"], record["kind"]): record
        for record in json.loads(answer.stdout)
    }


def test_each_failure_is_named_with_its_distribution_and_the_rest_works(installed: Path) -> None:
    records, shown = listed(installed), thinstack(installed, "plugins")
    broken = {key[1:]: each for key, each in records.items() if key[0] == "broken-dist"}
    assert broken.keys() == FAILURES.keys()
    rows = [[cell.strip() for cell in row.split("│")[1:-1]] for row in shown.stdout.splitlines()]
    for (name, kind), said in FAILURES.items():
        record = broken[name, kind]
        assert said in record["error"]
        shows = [name, kind, "broken-dist", "1.2", "failed", record["error"]]
        assert [*record.values()] == [*shows, "", ""]
        assert shows in rows
        assert f"{kind} {name!r} of broken-dist 1.2 was left out: {record['error']}" in shown.stderr
    assert shown.returncode == 0
    assert "Traceback" not in shown.stderr
    assert records["other-dist", "same.v1", "cell"]["status"] == "failed"
    good = {key[1:]: each for key, each in records.items() if key[0] == "good-dist"}
    assert list(good) == [("good.v1", "cell"), ("square.v1", "reader")]
    works = [*good.values(), *(each for key, each in records.items() if key[0] == "thinstack")]
    assert {(each["status"], each["error"]) for each in works} == {("ok", None)}
    assert ("thinstack", "word_mean.v1", "cell") in records


def test_a_good_plugin_beside_it_is_used(installed: Path, tmp_path: Path) -> None:
    bundle, trees = write_last_word_bundle(tmp_path / "model").path, tmp_path / "trees.txt"
    trees.write_text("[2 [1 film] [2 good]]\n", encoding="utf-8")
    answer = thinstack(installed, "evaluate", bundle, trees, "--format", "square.v1", "--json")
    assert answer.returncode == 0, answer.stderr
    assert json.loads(answer.stdout)["root_accuracy"] == 100.0


def test_blocked_plugins_are_listed_and_do_nothing(installed: Path) -> None:
    records = listed(installed, blocked="Broken_Dist, good_reader")
    status = {key[:2]: record["status"] for key, record in records.items() if key[0] != "thinstack"}
    entries = {*BROKEN_HERE, "builtins_name", "same"}
    assert {name for distribution, name in status if distribution == "broken-dist"} == entries
    assert all(status["broken-dist", name] == "blocked" for name in entries)
    assert status["good-dist", "good_reader"] == "blocked"
    assert status["good-dist", "good.v1"] == status["other-dist", "same.v1"] == "ok"
    assert "failed" not in {record["status"] for record in records.values()}
