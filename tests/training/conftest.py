"""The data that the tests of training share."""

import own_lessons
import pytest
import tiny_dependencies


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A folder that recipes of `tiny_recipe` and `tiny_dependencies` read; not to be changed."""
    return tiny_dependencies.write_data(tmp_path_factory.mktemp("data") / "trees")


@pytest.fixture(scope="module")
def with_own_lessons():
    """The lessons of `own_lessons` are known."""
    plugins = own_lessons.plugins()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("thinstack.plugins.named.manager", lambda: plugins)
        yield
