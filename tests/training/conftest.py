"""The data that the tests of training share."""

import pytest
import tiny_pairs


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A folder that recipes of `tiny_recipe` and `tiny_pairs` read; not to be changed."""
    return tiny_pairs.write_data(tmp_path_factory.mktemp("data") / "pairs")
