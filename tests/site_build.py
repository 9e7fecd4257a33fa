"""The documentation site as mkdocs builds it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pages import ROOT


def built_site(folder: Path) -> Path:
    """Build the site into a folder. A link that leads nowhere is an error."""
    pytest.importorskip("mkdocs", reason='needs mkdocs: pip install ".[docs]"')
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder
