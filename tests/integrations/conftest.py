"""What tests of the spaCy components, and those of the server, share."""

import json
import threading
from contextlib import closing
from http.client import HTTPConnection

import pytest
import tiny_texts
from command_line import PATIENCE
from last_word_model import pipeline

from thinstack.integrations.serving.server import HOST, PageServer


@pytest.fixture
def nlp(last_word):
    """The component with a real bundle whose scores can be computed by hand."""
    return pipeline(last_word.path)


@pytest.fixture(scope="session")
def start(tmp_path_factory):
    """A tiny bundle to start from, of a model that parses."""
    return tiny_texts.start(tmp_path_factory.mktemp("start") / "start")


@pytest.fixture(scope="module")
def server(sentiment):
    with PageServer(0) as page_server:
        page_server.predictor, page_server.name = sentiment, "sentiment"
        threading.Thread(target=page_server.serve_forever, daemon=True).start()
        yield page_server
        page_server.shutdown()


@pytest.fixture
def send(server):
    """Sends a request, and gives the response and its content."""

    def sent(method, path, body=b"", **headers):
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        with closing(HTTPConnection(HOST, server.port, timeout=PATIENCE)) as connection:
            connection.request(method, path, body or None, named)
            response = connection.getresponse()
            return response, response.read()

    return sent


@pytest.fixture
def ask(send):
    """Sends JSON, and gives the status and the JSON of the answer."""

    def asked(method, path, body=b"", **headers):
        body = body if isinstance(body, bytes) else json.dumps(body, ensure_ascii=False).encode()
        response, answer = send(method, path, body, Content_Type="application/json", **headers)
        return response.status, json.loads(answer)

    return asked
