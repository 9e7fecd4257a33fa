"""What tests of bundles share."""

import pytest
from bundle_folders import GOLDEN, write

from thinstack.bundle import open_bundle
from thinstack.bundle.reading import pack


@pytest.fixture
def folder(tmp_path):
    """A small bundle."""
    return write(tmp_path / "model").path


@pytest.fixture(scope="session")
def files():
    """Those of a golden bundle."""
    return pack(open_bundle(GOLDEN / "words"))
