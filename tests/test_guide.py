"""Guides to writing a cell and a task: the files of the examples, and commands that work."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
INSTALL = ("python3 -m venv", ". .venv", "pip wheel", "export PIP_FIND_LINKS", "pip install")


class Guide:
    """A guide, and the example that it makes."""

    def __init__(self, page, example):
        self.example = ROOT / "examples" / example
        text = (ROOT / "docs" / page).read_text(encoding="utf-8")
        blocks = re.findall(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
        self.files = {name: text for _, name, text in blocks if name}
        lines = [
            line for language, _, text in blocks if language == "sh" for line in text.splitlines()
        ]
        self.commands = [line for line in lines if not line.startswith(INSTALL)]

    def write(self, path):
        """The guide's files, and what `pip install -e .` would leave for Python to find them by."""
        for name, text in self.files.items():
            (path / name).write_text(text, encoding="utf-8")
        project = tomllib.loads(self.files["pyproject.toml"])["project"]
        info = path / f"{project['name'].replace('-', '_')}-0.1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: 0.1.0\n", encoding="utf-8"
        )
        entries = project["entry-points"]["thinstack"].items()
        lines = "".join(f"{name} = {value}\n" for name, value in entries)
        (info / "entry_points.txt").write_text(f"[thinstack]\n{lines}", encoding="utf-8")
        return path


CELL = Guide("writing-a-cell.md", "thinstack-mgu")
TASK = Guide("writing-a-task.md", "thinstack-topics")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return CELL.write(tmp_path_factory.mktemp("guide"))


def run(folder, command):
    program, *rest = command.split(" ", 1)
    module = {"thinstack": "-m thinstack", "pytest": "-m pytest", "python": ""}[program]
    paths = {"PYTHONPATH": f"{folder}{os.pathsep}{ROOT}", "COLUMNS": "200"}
    whole = f"{sys.executable} {module} {' '.join(rest)}"
    # A reader names no folder of data for all commands.
    settings = {name: value for name, value in os.environ.items() if name != "THINSTACK_DATA"}
    how = {"cwd": folder, "env": settings | paths, "capture_output": True, "text": True}
    done = subprocess.run(["bash", "-c", whole], **how, check=False)
    assert done.returncode == 0, f"{command}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
    return done.stdout


@pytest.mark.parametrize("guide", [CELL, TASK])
def test_the_files_are_those_of_the_example(guide):
    files = guide.example.iterdir()
    there = {path.name: path.read_text("utf-8") for path in files if path.is_file()}
    del there["README.md"]
    own = {"README.md", "run_anywhere.py"} - there.keys()
    assert {name: text for name, text in guide.files.items() if name not in own} == there


def test_every_command_is_tested_here_or_installs():
    assert CELL.commands == [
        "thinstack plugins",
        "pytest -q",
        "thinstack train recipe.toml --out run",
        'thinstack predict -m run/model-best "A wonderful film"',
        "python run_anywhere.py",
    ]
    train = "thinstack train recipe.toml --out run --threads 1"
    assert TASK.commands == ["thinstack plugins", train, "python run_anywhere.py"]


def test_the_cell_is_listed_and_keeps_some_of_its_contract(folder):
    row = r"mgu\.v1\W+cell\W+thinstack-mgu\W+0\.1\.0\W+ok"
    assert re.search(row, run(folder, "thinstack plugins"))
    # All of it takes a minute, and `.ci/jobs/guides` does that.
    some = "'children or mixed_forests or no_rows or gradients'"
    run(folder, f"pytest -q -p no:cacheprovider -k {some}")


def test_the_cell_trains_is_exported_and_runs(folder):
    shutil.rmtree(folder / "run", ignore_errors=True)
    run(folder, "thinstack train recipe.toml --out run")
    assert "wonderful" in run(folder, 'thinstack predict -m run/model-best "A wonderful film"')
    assert run(folder, "python run_anywhere.py") == "good\n"


def test_the_task_learns_and_its_bundle_runs(tmp_path):
    TASK.write(tmp_path)
    listed, trained, answered = (run(tmp_path, command) for command in TASK.commands)
    assert re.search(r"topics\.v1\W+task\W+thinstack-topics\W+0\.1\.0\W+ok", listed)
    assert re.search(r"gold\W+1\W+100\.00\W+100\.00", trained)
    assert answered == "music food\n"


def test_the_container_has_the_steps_that_the_guide_runs():
    text = (ROOT / "docs" / "service.md").read_text(encoding="utf-8")
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
