"""Guides, whose commands `.ci/jobs/guides` follows: what they show is what there is."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from thinstack.integrations.corpora.inputs import LONGEST_TEXT, Problem
from thinstack.integrations.corpora.run_manifest import SHARD_ROWS

ROOT = Path(__file__).parents[1]


def read(page):
    return (ROOT / "docs" / page).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("page", "example"),
    [("writing-a-cell.md", "thinstack-mgu"), ("writing-a-task.md", "thinstack-topics")],
)
def test_the_files_are_those_of_the_example(page, example):
    named = dict(re.findall(r"^```\w+ (\S+)\n(.*?)^```$", read(page), re.MULTILINE | re.DOTALL))
    files = (ROOT / "examples" / example).iterdir()
    there = {path.name: path.read_text("utf-8") for path in files if path.is_file()}
    del there["README.md"]
    own = {"README.md", "run_anywhere.py"} - there.keys()
    assert {name: text for name, text in named.items() if name not in own} == there


def test_what_the_guide_to_corpora_lists_is_what_there_is():
    guide = read("corpora.md")
    kinds = re.findall(r'^    - "(\w+)"', str(Problem.__doc__), re.MULTILINE)
    assert re.findall(r"^\| `(\w+)` \|", guide.split("| `kind` |")[1], re.MULTILINE) == kinds
    assert f"{SHARD_ROWS:,} input rows" in guide
    assert f"more than {LONGEST_TEXT:,} characters" in guide


def test_the_container_has_the_steps_that_the_guide_runs():
    text = read("service.md")
    (container,) = re.findall(r"^```dockerfile Dockerfile\n(.*?)^```$", text, re.M | re.S)
    installed, *_ = re.findall(r"^pip install --find-links wheels (.*)$", text, re.M)
    assert f"--find-links /wheels {installed}\n" in container
    (started,) = re.findall(r"^gunicorn (.*) --bind", text, re.M)
    assert started.split() == re.findall(r'"([^"]+)"', container.split('"gunicorn"')[1])[:-2]
    assert len(container.splitlines()) <= 12


def test_following_a_guide(tmp_path):
    guide = tmp_path / "guide.md"
    blocks = ("sh\ntest ! -e a.txt", "text a.txt\none", "sh\ncat a.txt", "python\nshown")
    blocks += ("text a.txt\ntwo", "sh\ncat a.txt\nfalse\necho never")
    guide.write_text("text\n".join(f"```{block}\n```\n" for block in blocks))
    command = [sys.executable, ROOT / ".ci" / "follow", guide, tmp_path / "folder"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("one\ntwo\n", 1)
