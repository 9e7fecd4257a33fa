"""`examples/spacy-project`, all of it, and its wheel in an empty environment: job `spacy`."""

import json
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
USE = """
import importlib.util, json, spacy
assert not importlib.util.find_spec("torch")
nlp = spacy.load("en_shop_mail")
print(json.dumps([doc.cats for doc in nlp.pipe(["Where is my parcel?", "I was charged twice."])]))
"""


def run(*command, cwd, **environment):
    done = subprocess.run(
        list(map(str, command)),
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def test_from_tables_to_an_installed_package_without_torch(tmp_path):
    pytest.importorskip("build", reason="needs what builds packages: pip install build")
    project, empty = tmp_path / "project", tmp_path / "empty"
    made = shutil.ignore_patterns("corpus", "training", "packages", "project.lock")
    shutil.copytree(ROOT / "examples" / "spacy-project", project, ignore=made)
    paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    run(sys.executable, "-m", "spacy", "project", "run", "all", cwd=project, PYTHONPATH=paths)
    metrics = json.loads((project / "training" / "metrics.json").read_text(encoding="utf-8"))
    assert metrics["cats_micro_f"] > 0.8

    pip = (sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", tmp_path / "wheels")
    run(*pip, ROOT, cwd=tmp_path)
    venv.create(empty, with_pip=True)
    python, (wheel,) = empty / "bin" / "python", project.glob("packages/*/dist/*.whl")
    links = f"{os.environ.get('PIP_FIND_LINKS', '')} {tmp_path / 'wheels'}"
    constraint = str(ROOT / "constraints.txt")
    plain = {"PYTHONPATH": "", "PIP_FIND_LINKS": links, "PIP_CONSTRAINT": constraint}
    run(python, "-m", "pip", "install", "-q", wheel, cwd=tmp_path, **plain)
    found = json.loads(run(python, "-c", USE, cwd=tmp_path, **plain))
    assert [max(cats, key=cats.get) for cats in found] == ["delivery", "payment"]
    assert [sum(cats.values()) for cats in found] == pytest.approx([1, 1])
