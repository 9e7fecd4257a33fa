"""What tests of bundles share."""

from pathlib import Path

import pytest
from bundle_folders import write


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small bundle."""
    return write(tmp_path / "model").path
