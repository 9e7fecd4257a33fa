"""What tests of the spaCy components share."""

import pytest
import tiny_texts
from last_word_model import pipeline


@pytest.fixture
def nlp(last_word):
    """The component with a real bundle whose scores can be computed by hand."""
    return pipeline(last_word.path)


@pytest.fixture(scope="session")
def start(tmp_path_factory):
    """A tiny bundle to start from, of a model that parses."""
    return tiny_texts.start(tmp_path_factory.mktemp("start") / "start")
