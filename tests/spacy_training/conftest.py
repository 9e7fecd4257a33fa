"""What tests of the spaCy component that learns share."""

from pathlib import Path

import pytest
import tiny_texts


@pytest.fixture(scope="session")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny bundle to start from, of a model that parses."""
    return tiny_texts.start(tmp_path_factory.mktemp("start") / "start")
