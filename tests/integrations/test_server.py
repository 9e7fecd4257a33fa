"""The page of `thinstack serve`, asked as browsers, and others, ask it."""

import json
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, closing
from http.client import HTTPConnection
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest
from command_line import PATIENCE, started

import thinstack
from thinstack.errors import InputError
from thinstack.integrations.serving.server import HOST, MAX_BODY, MAX_WORDS, PageServer

TEXT = "It is not a bad film. The 😀 music is awful, though (really)."


def test_a_text_has_the_scores_and_drawings_of_the_library(server, ask):
    status, data = ask("POST", "/drawing", {"text": TEXT})
    assert status == 200
    result = server.predictor(TEXT)
    sentences = result.sentences
    assert server.predictor.labels[data["label"]] == result.label
    assert data["scores"] == pytest.approx(list(result.scores.values()), abs=1e-6)
    assert data["polarity"] == pytest.approx(result.polarity, abs=1e-6)
    highlights = [(each["text"], result.view.labels[each["label"]]) for each in data["highlights"]]
    assert highlights == [(each.text, each.label) for each in result.highlights()] != []
    assert data["svg"] == thinstack.render(sentences)
    assert data["html"] == thinstack.render(sentences, "text")
    for drawn, sentence in zip(data["sentences"], sentences, strict=True):
        units = drawn["text"].encode("utf-16-le")
        for node, expected in zip(drawn["nodes"], sentence.to_dict()["nodes"], strict=True):
            phrase = units[2 * node["start"] : 2 * node["end"]].decode("utf-16-le")
            assert phrase == expected["text"]
            assert sentence.labels[node["label"]] == expected["label"]
            assert node["scores"] == list(expected["scores"].values())


def test_long_texts_have_no_trees_and_empty_ones_nothing(ask):
    texts = ("good " * 60, "good " * 61, " \n")
    short, long, empty = (ask("POST", "/drawing", {"text": text})[1] for text in texts)
    assert (short["svg"] is None, long["svg"]) == (False, None)
    assert (empty["label"], empty["scores"], empty["sentences"]) == (-1, [], [])
    assert (empty["polarity"], empty["highlights"], empty["aspects"]) == (None, [], None)


def test_all_that_the_page_names_is_served_and_nothing_else(server, send):
    response, page = send("GET", "/")
    assert (response.status, response.headers.get_content_type()) == (200, "text/html")
    assert b"Content-Security-Policy" in page
    seen, left = set[str](), {"/"}
    while left:
        path = left.pop()
        seen.add(path)
        response, body = send("GET", path)
        assert response.status == 200, path
        text = body.decode()
        named = re.findall(r'(?:href|src)="([a-z.]+)"|from "\./([a-z.]+)"', text)
        left |= {f"/{one or other}" for one, other in named}
        left -= seen
    assert seen == set(server.content) - {"/openapi.json"}
    ElementTree.fromstring(send("GET", "/icon.svg")[1])
    for path in ("/server.py", "/../server.py", "/%2e%2e/server.py", "//etc/passwd", "/sst"):
        assert send("GET", path)[0].status == 404
    assert json.loads(send("GET", "/model")[1]) == {
        "name": "sentiment", "labels": list(server.predictor.labels), "tones": [0, 1, 2, 3, 4],
        "about": True, "vectors": False,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("headers", "status", "message"),
    [
        ({"Host": "evil.example"}, 403, "found evil.example"),
        ({"Host": "localhost.evil.example"}, 403, "found localhost.evil.example"),
        ({"Host": "[::1"}, 403, "found [::1"),
        ({"Host": "localhost:9000", "Origin": "http://evil.example:9000"}, 403, "a page of"),
        ({"Origin": "http://localhost@evil.example"}, 403, "a page of"),
        ({"Origin": "null"}, 403, "a page of null"),
        ({"Origin": "http://["}, 403, "a page of http://["),
        ({"Content_Type": "text/plain"}, 415, "application/json"),
        ({"Content_Length": str(MAX_BODY + 1)}, 413, "at most 1,000,000 bytes"),
        ({"Content_Length": "-1"}, 411, "Content-Length"),
    ],
)
def test_requests_of_others_are_refused(send, headers, status, message):
    headers = {"Content_Type": "application/json"} | headers
    response, answer = send("POST", "/predict", b'{"text":"x"}', **headers)
    assert response.status == status
    assert message in json.loads(answer)["error"]
    assert response.headers["Connection"] == "close"


def test_a_client_that_sends_too_much_gets_the_response(send):
    """Its connection is not reset while it is still sending."""
    body = b'{"text": "' + b"x" * 20 * MAX_BODY + b'"}'
    response, answer = send("POST", "/predict", body, Content_Type="application/json")
    assert (response.status, [*json.loads(answer)]) == (413, ["error"])


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("localhost:9000", "http://localhost:9000"),  # ssh -L 9000:localhost:8000
        ("127.0.0.1:1", None),
        ("[::1]:3000", "http://[::1]:3000"),
        ("localhost:8000", "https://localhost:8443"),  # behind what speaks TLS for it
    ],
)
def test_it_answers_behind_other_ports_of_this_machine(send, host, origin):
    headers = {"Host": host} | ({"Origin": origin} if origin else {})
    assert send("GET", "/", **headers)[0].status == 200
    headers["Content_Type"] = "application/json"
    response, answer = send("POST", "/predict", b'{"text": "A good film."}', **headers)
    assert (response.status, len(json.loads(answer)["sentences"])) == (200, 1)


@pytest.mark.parametrize("path", ["/", "/model", "/no-such-page"])
def test_head_answers_as_get_without_the_content(send, path):
    (whole, content), (head, nothing) = (send(name, path) for name in ("GET", "HEAD"))
    assert (head.status, nothing) == (whole.status, b"")
    assert head.headers["Content-Length"] == whole.headers["Content-Length"] == str(len(content))


def test_a_browser_that_asks_for_a_page_of_another_port_is_refused(send):
    """So pages of others cannot send JSON."""
    asks = {"Access_Control_Request_Method": "POST"}
    asks["Access_Control_Request_Headers"] = "content-type"
    response, _ = send("OPTIONS", "/predict", Origin="http://localhost:3000", **asks)
    assert response.status == 501
    assert "Access-Control-Allow-Origin" not in response.headers


@pytest.mark.parametrize("path", ["/predict", "/drawing"])
@pytest.mark.parametrize("texts", ["A. ", "bad, ", "http://a.b/", "\U0001f600", "", "x"])
def test_a_request_of_many_words_is_refused_at_once(server, ask, monkeypatch, path, texts):
    count = MAX_WORDS if texts in ("", "x") else MAX_WORDS // 2 + 1
    asked = {"texts": [texts] * (count + 1)} if texts in ("", "x") else {"text": texts * count * 2}
    scored = []
    monkeypatch.setattr(server, "predictor", SimpleNamespace(stream=scored.append))
    status, answer = ask("POST", path, asked)
    assert (status, [*answer], scored) == (413, ["error"], [])


@pytest.mark.parametrize("leaves", [True, False])
def test_a_text_waits_for_a_batch_and_not_for_a_request(server, monkeypatch, leaves):
    model, scored, go_on = server.predictor, [], threading.Event()
    many, one = {"texts": ["A good film."] * 50}, {"text": "So dull."}

    def stream(texts):
        for result in model.stream(texts):
            scored.append(len(texts))
            assert len(scored) > 1 or go_on.wait(PATIENCE), "the first one waits for the test"
            yield result

    def asked(body):
        return "/predict", json.dumps(body).encode(), {"Content-Type": "application/json"}

    monkeypatch.setattr(server, "predictor", SimpleNamespace(stream=stream, view=model.view))
    with (
        closing(HTTPConnection(HOST, server.port, timeout=PATIENCE)) as first,
        closing(HTTPConnection(HOST, server.port, timeout=PATIENCE)) as second,
    ):
        first.request("POST", *asked(many))
        while not scored:
            time.sleep(0.001)
        second.request("POST", *asked(one))
        while not server._queue.locked():  # the second one waits for its turn
            time.sleep(0.001)
        if leaves:
            first.close()
        go_on.set()
        assert json.loads(second.getresponse().read())["text"] == one["text"]
        assert scored.index(1) == 1
        if leaves:
            assert len(scored) < 10, "what nobody waits for is not scored"
        else:
            assert len(json.loads(first.getresponse().read())["results"]) == 50


def test_answers_are_sent_at_once(server, send, monkeypatch):
    """The body does not wait until the head has arrived."""
    no_delay = []
    finish = server.finish_request

    def recorded(connection, address):
        finish(connection, address)
        no_delay.append(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))

    monkeypatch.setattr(server, "finish_request", recorded)
    send("GET", "/icon.svg", Connection="close")
    while not no_delay:
        time.sleep(0.01)
    assert no_delay[0] != 0


def test_addresses_that_are_none_are_refused(send):
    assert send("GET", "x://[")[0].status == 404


def test_a_port_that_is_taken_is_named(server):
    with pytest.raises(InputError, match=rf"{server.port} .*--port"):
        PageServer(server.port)


COMMAND = [sys.executable, "-m", "thinstack", "serve", "--port", "0", "--no-open"]


@pytest.mark.parametrize(("threads", "clients"), [("1", 40), ("3", 20)])
def test_the_command_ends_while_it_scores(threads, clients):
    with (
        started([*COMMAND, "--threads", threads], stderr=subprocess.PIPE) as process,
        ExitStack() as stack,
    ):
        port = int(process.stdout.readline().split("/")[2].split(":")[1])
        text = "It is not a bad film, though it is too long. " * (MAX_WORDS // 12)
        body = json.dumps({"text": text, "phrases": True})
        headers = {"Content-Type": "application/json"}
        for _ in range(clients):
            connection = HTTPConnection(HOST, port, timeout=PATIENCE)
            stack.enter_context(closing(connection)).request("POST", "/predict", body, headers)
        time.sleep(1)  # it takes half a minute
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=PATIENCE)
    assert (process.returncode, errors) == (0, "")


def test_the_command_serves_until_it_is_interrupted():
    with started(COMMAND, stderr=subprocess.PIPE) as process:
        said = process.stdout.readline()
        port = int(said.split("/")[2].split(":")[1])
        with closing(HTTPConnection(HOST, port, timeout=PATIENCE)) as connection:
            connection.request("GET", "/model")
            response = connection.getresponse()
            assert (response.status, json.loads(response.read())["name"]) == (200, "sentiment")
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=PATIENCE)
    assert said.startswith("sentiment at http://127.0.0.1:")
    assert (process.returncode, errors) == (0, "")
