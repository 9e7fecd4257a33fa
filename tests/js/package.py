"""The npm package, asked from Python by `js/test/answer.mjs`."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

JS = Path(__file__).parents[2] / "js"
needs_package = pytest.mark.skipif(
    not (shutil.which("node") and (JS / "dist" / "node.js").is_file()),
    reason="needs Node.js and the built package: npm ci && npm run build in js/",
)


def asked(call, **question):
    """The answer of the built package to a call."""
    done = subprocess.run(
        ["node", str(JS / "test" / "answer.mjs")],
        input=json.dumps({"call": call, **question}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def utf16(text):
    """For each place in a text, the UTF-16 units before it."""
    found = [0]
    for char in text:
        found.append(found[-1] + 1 + (ord(char) > 0xFFFF))
    return found
