"""The guide to corpora, which `.ci/jobs/guides` follows from a built wheel."""

import json
import os
import re
import subprocess
import sys
import typing
from pathlib import Path

from thinstack.integrations.corpora.inputs import LONGEST_TEXT, Problem
from thinstack.integrations.corpora.run_manifest import SHARD_ROWS

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "corpora.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)


def test_the_commands_do_what_the_guide_says(tmp_path):
    script = ["set -eu", f'thinstack() {{ "{sys.executable}" -m thinstack "$@"; }}']
    for language, name, text in BLOCKS:
        if name:
            (tmp_path / name).write_text(text, encoding="utf-8")
        elif language == "sh" and "pip install" not in text:
            script.append(text)
    done = subprocess.run(
        ["bash", "-c", "\n".join(script)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    first, second = done.stderr.splitlines()
    assert first == "4 rows, 1 failed: scored/errors says why; the scores are in scored"
    assert second == first.replace("4 rows", "4 rows (4 before)")
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"id"')]
    assert [row["id"] for row in rows] == ["a1", "a1", "a2", "a3", "a4"]
    assert rows[-1]["kind"] == "missing"
    listed = re.findall(r"^\| `([a-z_.]+)[-0-9]*", GUIDE, re.MULTILINE)
    for path in (tmp_path / "scored").iterdir():
        assert re.match(r"[a-z.]+", path.name)[0] in {"part", "errors", *listed}


def test_what_is_listed_is_what_there_is():
    kinds = re.findall(r'^    - "(\w+)"', typing.cast(str, Problem.__doc__), re.MULTILINE)
    assert re.findall(r"^\| `(\w+)` \|", GUIDE.split("| `kind` |")[1], re.MULTILINE) == kinds
    assert f"{SHARD_ROWS:,} rows of the input" in GUIDE
    assert f"more than {LONGEST_TEXT:,} characters" in GUIDE
