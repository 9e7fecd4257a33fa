"""What tests of bundles share."""

import pytest
from bundle_folders import write


@pytest.fixture
def folder(tmp_path):
    """A small bundle."""
    return write(tmp_path / "model").path
