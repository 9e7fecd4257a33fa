"""What tests of the spaCy components share."""

from pathlib import Path

import pytest
import tiny_texts
from last_word_model import pipeline
from spacy.language import Language

from thinstack.bundle import Bundle


@pytest.fixture
def nlp(last_word: Bundle) -> Language:
    """The component with a real bundle whose scores can be computed by hand."""
    return pipeline(last_word.path)


@pytest.fixture(scope="session")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny bundle to start from, of a model that parses."""
    return tiny_texts.start(tmp_path_factory.mktemp("start") / "start")
