"""`.ci/passed.py`: which job passed when, and which is late."""

import importlib.util
import subprocess

import pytest
from jobs import JOBS
from pages import ROOT

spec = importlib.util.spec_from_file_location("passed", ROOT / ".ci" / "passed.py")
passed = importlib.util.module_from_spec(spec)
spec.loader.exec_module(passed)


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
