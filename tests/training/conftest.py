"""Fixtures of the tests that train on more than binary trees."""

from pathlib import Path

import pytest
import tiny_pairs


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that recipes of `tiny_pairs` read; files of other recipes have a `data` of their
    own."""
    return tiny_pairs.write_data(tmp_path_factory.mktemp("data") / "pairs")
