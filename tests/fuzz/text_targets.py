"""Texts: sentences and words, pieces of words, drawings, requests to the page."""

import json
from functools import cache, partial
from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from covering import check_covered
from fuzz.changes import any_of, mutated_bytes, mutated_json, mutated_text
from fuzz.target import Target
from predictions import sentences_of

import thinstack
from thinstack.data.words import ptb
from thinstack.data.words.wordpiece import WordpieceVocabulary
from thinstack.integrations.serving.server import PageServer
from thinstack.text.english import EnglishSplitter
from thinstack.text.raw_text import detokenize, treebank_words

GOLDEN = Path(__file__).parents[1] / "golden" / "schema-1"
TEXTS = (
    "He said \"so.\" And Dr. Smith didn't, at 5 p.m. in the U.S. | Fine... it's 3.50$!",
    "“so—bad” (Dr. No)! I'd've gone; cannot? rock'n'roll 'til '60s and/or a***b c/d",
    "See https://a.b/c?d=e, me@x.org :-) <3 What?!? 👍🏽👍 日本語 naïve d'état … – --- [x] {y}",
    "1. Buy milk.\n\n2. Eat\r\nJ. R. R. Tolkien, e.g. No. 5 etc. The end.\u2029New",
)
WORDS = ("n't", "'s", "...", ". . .", "``", "''", "-LRB-", "\\/", "Mr.", "U.S.", "http://")
WORDS += ("\u0307",)
PIECES = WordpieceVocabulary(["[UNK]", "film", "##s", "the", "good", "##ly", "!", "-", "日", "i"])


def text_of(content):
    return content.decode(errors="replace")


def splitting(content, folder):
    """Every character but white space is in a word, and words become text again."""
    text = text_of(content)
    for split in (False, True):
        (found,) = EnglishSplitter(sentences=split)([text])
        check_covered(text, found, split=split)
        assert all(detokenize(one.words) for one in found)
    return min(len(found), 3)


def tokens(content, folder):
    """Any tokens become words, and every one but white space belongs to one."""
    pieces = text_of(content).split(" ")
    words, owners = treebank_words(pieces, [bool(piece) for piece in pieces])
    assert len(words) == len(owners)
    assert all(words)
    assert not any(set(word) & set("()[]{} ") for word in words)
    return min(len(words), 9)


def wordpieces(content, folder):
    """Every word has pieces, and escapes come undone."""
    words = text_of(content).split() or ["a"]
    for word in words:
        ids = PIECES.pieces_of(word)
        assert ids
        assert all(0 <= one < len(PIECES) for one in ids)
        if not set(word) & set("-\\"):  # which escapes are made of
            assert ptb.unescape(ptb.escape(word)) == word
    ids, counts = PIECES.ids(words)
    assert len(ids) == counts.sum()
    return min(len(ids), 9)


@cache
def predictor(name):
    return thinstack.load(GOLDEN / name, threads=1, max_words=20, isolated=False)


def predicting(name, content, folder):
    """Probabilities add up to 1, and drawings are XML."""
    (found,) = sentences_of(predictor(name), [text_of(content)[:2000]])
    for sentence in found:
        np.testing.assert_allclose(sentence.node_scores.sum(axis=1), 1, atol=1e-4)
        json.dumps(sentence.to_dict(), allow_nan=False)
    if found:
        ElementTree.fromstring(thinstack.render(found))
        assert thinstack.render(found, "text")
    return min(len(found), 3)


class _Connection:
    """A socket that has received something."""

    def __init__(self, content):
        self._content, self.sent = content, b""

    def makefile(self, *_):
        return BytesIO(self._content)

    def sendall(self, data):
        self.sent += bytes(data)

    def recv(self, *_):
        """Nothing yet: the client waits for the answer."""
        raise BlockingIOError

    def ignore(self, *_):
        """It is no socket, never waits, and is read to the end."""

    setsockopt = settimeout = shutdown = ignore


@cache
def server():
    found = PageServer(0)
    found.predictor, found.name = predictor("words"), "words"
    return found


def serving(content, folder):
    """A request is answered or refused, and the server has no fault."""
    connection = _Connection(content)
    server().finish_request(connection, ("127.0.0.1", 1))
    status = connection.sent.split(b" ")[1:2] if connection.sent.startswith(b"HTTP/1") else [b"0"]
    # The method or the version is none that the standard library knows.
    assert not status[0].startswith(b"5") or status[0] in (b"501", b"505")
    return status[0].decode()


def request(method, path, body=None):
    data = b"" if body is None else json.dumps(body).encode()
    head = f"{method} {path} HTTP/1.1\r\nHost: localhost:1\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(data)}\r\n\r\n".encode() + data


def texts():
    return [text.encode() for text in TEXTS]


_ENGLISH = any_of(mutated_text(*WORDS), mutated_text(*WORDS, separators=r"(?<=.)"), mutated_bytes)
_PARTS = ("Host:", "Content-Length: 9", "chunked", "GET", "%00", "//")
_REQUESTS = any_of(
    mutated_text(*_PARTS, separators="[ \r\n:/]"),
    mutated_bytes,
    lambda content, random: request(
        "POST", "/predict", json.loads(mutated_json(b'{"text": "A good film."}', random))
    ),
)
_SENT = (
    *(request("GET", path) for path in ("/", "/model")),
    request("POST", "/predict", {"text": "The film 😀 is good. Not bad"}),
)
TARGETS = {
    "splitter": Target(texts, _ENGLISH, splitting, 600),
    "tokens": Target(texts, _ENGLISH, tokens, 1000),
    "word pieces": Target(texts, _ENGLISH, wordpieces, 1000),
    "texts, words": Target(texts, _ENGLISH, partial(predicting, "words"), 150),
    "texts, own parser": Target(texts, _ENGLISH, partial(predicting, "wordpiece-parser"), 150),
    "requests": Target(lambda: _SENT, _REQUESTS, serving, 400),
}
