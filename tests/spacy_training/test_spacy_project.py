"""`examples/spacy-project`: its commands, small; `.ci/jobs/spacy` runs all of it, and installs the
package."""

import csv
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
import spacy

ROOT = Path(__file__).parents[2]
PROJECT = ROOT / "examples" / "spacy-project"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project after all commands but `package`, trained for a few steps."""
    folder = tmp_path_factory.mktemp("project") / "project"
    shutil.copytree(
        PROJECT, folder, ignore=shutil.ignore_patterns("corpus", "training", "packages")
    )
    config = (folder / "config.cfg").read_text(encoding="utf-8")
    assert "max_steps = 400\n" in config
    (folder / "config.cfg").write_text(config.replace("steps = 400", "steps = 50"), "utf-8")
    paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": paths}
    for command in ("convert", "labels", "train", "finish", "evaluate"):
        run = [sys.executable, "-m", "spacy", "project", "run", command]
        done = subprocess.run(run, cwd=folder, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_it_learns_more_than_the_most_frequent_class(project: Path) -> None:
    rows = list(csv.DictReader((PROJECT / "assets" / "dev.csv").read_text("utf-8").splitlines()))
    most = Counter(row["label"] for row in rows).most_common(1)[0][1] / len(rows)
    nlp = spacy.load(project / "training" / "finished")
    docs = list(nlp.pipe(row["text"] for row in rows))
    found = [max(doc.cats, key=doc.cats.get) for doc in docs]
    right = sum(one == row["label"] for one, row in zip(found, rows, strict=True))
    assert right / len(rows) > 2 * most
    assert [set(doc.cats) for doc in docs] == [{"delivery", "payment", "product"}] * len(docs)
