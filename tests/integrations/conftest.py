"""What tests of the spaCy components, and those of the server, share."""

import threading

import pytest
import tiny_texts
from last_word_model import pipeline

import thinstack
from thinstack.integrations.serving.server import PageServer


@pytest.fixture
def nlp(last_word):
    """The component with a real bundle whose scores can be computed by hand."""
    return pipeline(last_word.path)


@pytest.fixture(scope="session")
def start(tmp_path_factory):
    """A tiny bundle to start from, of a model that parses."""
    return tiny_texts.start(tmp_path_factory.mktemp("start") / "start")


@pytest.fixture(scope="module")
def server():
    with PageServer(0) as page_server:
        page_server.predictor, page_server.name = (
            thinstack.load("sentiment", threads=1),
            "sentiment",
        )
        threading.Thread(target=page_server.serve_forever, daemon=True).start()
        yield page_server
        page_server.shutdown()
