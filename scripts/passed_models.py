"""Passes the ONNX files of the repository's models through the gate, and lists those that pass in
`thinstack/bundle/gate/passed.txt`, so that no load has to check them again:

    python scripts/passed_models.py

Run it when a model of the repository, the gate, or its table of operators has changed.
"""

import hashlib
from pathlib import Path

import typer

from thinstack.bundle.gate.onnx_gate import check_onnx
from thinstack.bundle.gate.passed import PASSED
from thinstack.bundle.manifest import ONNX_FILE

ROOT = Path(__file__).parents[1]
MODELS = ("thinstack/bundle/bundled/*", "models/*/*/model")


def passed() -> str:
    """The content of the list. Raises BundleError for a file that does not pass."""
    lines = []
    for path in sorted(path for folder in MODELS for path in ROOT.glob(f"{folder}/{ONNX_FILE}")):
        name, content = path.relative_to(ROOT).as_posix(), path.read_bytes()
        check_onnx(content, source=name)
        lines.append(f"{hashlib.sha256(content).hexdigest()}  {name}\n")
    return "".join(lines)


if __name__ == "__main__":
    PASSED.write_text(passed(), encoding="utf-8")
    typer.echo(f"wrote {PASSED.relative_to(ROOT)}")
