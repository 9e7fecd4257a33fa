"""What tests of the spaCy component share."""

import pytest
from last_word_model import pipeline
from spacy.language import Language

from thinstack.bundle import Bundle


@pytest.fixture
def nlp(last_word: Bundle) -> Language:
    """The component with a real bundle whose scores can be computed by hand."""
    return pipeline(last_word.path)
