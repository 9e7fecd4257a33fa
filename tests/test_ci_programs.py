"""Programs in `.ci/`, its jobs, which run every test that the gate leaves out, and workflows."""

import importlib.util
import json
import os
import re
import subprocess

import pytest
from jobs import JOBS
from pages import ROOT, read

from thinstack._version import __version__


def program(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / ".ci" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


sizes, passed = program("sizes"), program("passed")

TABLE = """# Contributing

| size | budget | now |
|---|---|---|
| `thinstack`, lines | 1,004 | 0 |
| `thinstack`, files | 2 | 0 |
| `thinstack/core`, lines | 1,000 | 0 |
| `docs`, words | 3 | 0 |
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A package of two files, with 1,003 lines in all, and a page of three words."""
    monkeypatch.chdir(tmp_path)
    for path, content in {
        "CONTRIBUTING.md": TABLE,
        "thinstack/__init__.py": "line\n" * 3,
        "thinstack/core/tree.py": "line\n" * 1000,
        "thinstack/core/data.txt": "line\n" * 9,
        "docs/page.md": "one two\nthree\n",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(content, encoding="utf-8")
    subprocess.run(["git", "init", "--quiet"], check=True)
    subprocess.run(["git", "add", "--all"], check=True)
    return tmp_path


def test_the_table_gets_the_sizes_of_now(project):
    sizes.main("write")
    rows = (project / "CONTRIBUTING.md").read_text(encoding="utf-8").splitlines()[4:]
    assert [row.split(" | ")[2].strip(" |") for row in rows] == ["1,003", "2", "1,000", "3"]
    sizes.main("check")


@pytest.mark.parametrize(
    ("file", "content", "named"),
    [
        ("thinstack/core/tree.py", "line\n" * 1001, "thinstack/core: 1,001 lines, budget 1,000"),
        ("docs/page.md", "one two three four", "docs: 4 words, budget 3"),
        ("CONTRIBUTING.md", TABLE.replace("thinstack/core", "docs"), "thinstack/core has no"),
        ("CONTRIBUTING.md", "# Contributing", "no table of sizes"),
    ],
)
def test_a_budget_that_is_passed_is_an_error(project, file, content, named):
    (project / file).write_text(content, encoding="utf-8")
    with pytest.raises(SystemExit, match=named):
        sizes.main("check")


def test_the_budgets_hold(monkeypatch):
    if not (ROOT / ".git").exists():
        pytest.skip("needs a clone: the files that git tracks are counted")
    monkeypatch.chdir(ROOT)
    sizes.main("check")


def git(*arguments):
    identity = ["-c", "user.name=test", "-c", "user.email=test@localhost"]
    done = subprocess.run(
        ["git", *identity, *arguments], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def commit(file):
    """A commit that changes this file; returns its name."""
    with open(file, "a", encoding="utf-8") as out:
        out.write("line\n")
    git("add", "--all")
    git("commit", "--quiet", "--message", "test")
    return git("rev-parse", "HEAD")


@pytest.fixture
def first(tmp_path, monkeypatch):
    """A repository with the jobs a and b, which cover a.py and b.py; its first commit."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(passed, "MOST", 2)
    jobs = tmp_path / ".ci" / "jobs"
    jobs.mkdir(parents=True)
    for name in "ab":
        (jobs / name).write_text(f"#!/usr/bin/env bash\n# covers: {name}.py other\n")
    git("init", "--quiet")
    return commit("a.py")


def test_every_job_says_what_it_covers():
    for name in (*JOBS, "lab"):
        paths = passed.covered(ROOT / ".ci" / "jobs" / name)
        assert paths
        assert [path for path in paths if not (ROOT / path).exists()] == []


def test_nothing_is_recorded_of_other_files_or_of_no_test(first):
    passed.record("a", first, "1", "0", "7")
    (passed.FILE.parents[1] / "a.py").write_text("changed")
    passed.record("a", first, "1", "4", "0")
    git("checkout", "a.py")
    commit("a.py")  # while the job ran
    passed.record("a", first, "1", "4", "0")
    assert passed.passes() == {}


def test_a_job_is_late_after_commits_of_what_it_covers(first):
    for job in "ab":
        passed.record(job, first, "1", "4", "0")
    for file in ("a.py", "elsewhere", "elsewhere", "elsewhere", "a.py"):
        commit(file)
    assert [*passed.late()] == []
    commit("a.py")
    (line,) = passed.late()
    assert ".ci/jobs/a " in line
    assert " 3 commits" in line


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
