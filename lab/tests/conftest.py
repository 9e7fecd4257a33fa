"""What tests of lessons share."""

import pytest
import tiny_recipe


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A folder that recipes of `tiny_recipe` read."""
    return tiny_recipe.write_data(tmp_path_factory.mktemp("data"))
