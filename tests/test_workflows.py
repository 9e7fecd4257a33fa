"""Workflows run what was looked at, and every test is run by the gate or by a job."""

import json
import os
import re

import pytest
from jobs import JOBS
from pages import ROOT, read

from thinstack._version import __version__

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PINNED = re.compile(r"[\w-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_named_by_their_commits(path):
    used = re.findall(r"^\s*(?:- )?uses: (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    assert used
    assert not [one for one in used if not one.startswith("./") and not PINNED.fullmatch(one)]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_what_they_install_has_a_version(path):
    for given in re.findall(r"pip install ([^&\n]+)", path.read_text(encoding="utf-8")):
        assert given.startswith("-c constraints.txt ") or "==" in given


def test_one_action_has_one_commit():
    text = "".join(path.read_text(encoding="utf-8") for path in WORKFLOWS)
    found = set(re.findall(r"uses: ([\w-]+/[\w./-]+)@(\w+)", text))
    assert len(found) == len(dict(found))


# -- jobs


def test_every_job_is_a_program():
    programs = {path.name: path for path in (ROOT / ".ci" / "jobs").iterdir()}
    assert programs.keys() == {*JOBS, "lab"}
    for name, path in programs.items():
        assert os.access(path, os.X_OK)
        tests = "lab" if name == "lab" else f"--job {name}"
        assert f"pytest {tests}\n" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("start", [start for starts in JOBS.values() for start in starts])
def test_what_a_job_runs_is_there(start):
    file, _, function = start.partition("::")
    path = ROOT / "tests" / file
    assert path.exists()
    name = function.partition("[")[0]
    assert f"def {name}(" in path.read_text(encoding="utf-8") if function else True


def test_one_version_stands_everywhere():
    js = json.loads(read("js/package.json"))
    lock = json.loads(read("js/package-lock.json"))
    assert {js["version"], lock["version"], lock["packages"][""]["version"]} == {__version__}
    for page, line in (("CITATION.cff", "version: {}"), ("CHANGELOG.md", "## {}")):
        assert f"\n{line.format(__version__)}\n" in read(page)
    for page in ("RELEASING.md", "js/README.md"):
        named = re.findall(r"thinstack-(\d[\d.]*)\.tgz|tag -a v([\d.]+)", read(page))
        assert {one or other for one, other in named} == {__version__}
