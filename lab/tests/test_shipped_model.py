"""`lab/scripts/shipped_model.py`: a bundle without `tokenizer.json`."""

import subprocess
import sys
from pathlib import Path

from thinstack.bundle import open_bundle
from thinstack.bundle.writing import write_bundle

ROOT = Path(__file__).parents[2]


def test_all_else_is_shipped_as_it_was(tmp_path):
    golden = open_bundle(ROOT / "tests" / "golden" / "schema-1" / "wordpiece-parser")
    files = {name: golden.read(name) for name in golden.manifest.files if name != "config.json"}
    settings = {"config": golden.config, "metrics": {"recipe": "one"}, "data": "a treebank"}
    given = write_bundle(tmp_path / "given", files | {"tokenizer.json": b"{}"}, **settings)
    script = ROOT / "lab" / "scripts" / "shipped_model.py"
    command = [sys.executable, script, given.path, tmp_path / "shipped"]
    subprocess.run(command, check=True, capture_output=True)
    shipped = open_bundle(tmp_path / "shipped")
    kept = {name: file for name, file in given.manifest.files.items() if name != "tokenizer.json"}
    assert shipped.manifest.files == kept
    assert shipped.manifest.metrics == given.manifest.metrics
    assert (shipped.manifest.data, shipped.config) == ("a treebank", golden.config)
