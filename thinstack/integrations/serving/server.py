"""The local server of `thinstack serve` and its page, for one model, and the data that the modules
of the page exchange."""

import errno
import json
import re
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from time import monotonic
from typing import Any, Final

from thinstack.errors import InputError, ThinstackError
from thinstack.integrations.serving.labelling import Labelling
from thinstack.integrations.serving.service import Collection, Request, answer, parsed, text_data
from thinstack.runtime.predictor import Predictor
from thinstack.runtime.result import Result

HOST: Final = "127.0.0.1"
_NAMES: Final = (HOST, "localhost", "[::1]")
_LOCAL: Final = re.compile(f"({'|'.join(map(re.escape, _NAMES))})(:[0-9]{{1,5}})?", re.IGNORECASE)
_ORIGIN: Final = re.compile(f"https?://{_LOCAL.pattern}", re.IGNORECASE)

MAX_BODY: Final = 1_000_000
"""Maximum size of a request in bytes."""

MAX_WORDS: Final = 20_000
"""Maximum words and punctuation marks of a request; with phrases, they take two seconds."""

_SILENCE: Final = 2.0  # seconds that a client whose request was refused may be silent
_MOST_DRAINED: Final = 10.0  # seconds in which the rest of its request is read
_JSON: Final = "application/json"
_KINDS: Final = {
    "css": "text/css",
    "html": "text/html",
    "js": "text/javascript",
    "json": _JSON,
    "svg": "image/svg+xml",
}
_HEADERS: Final = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}


class PageServer(ThreadingHTTPServer):
    """Serves the page at `url`, once `predictor` is set. Port 0 picks a free port.

    Raises InputError for a port that is in use, or that requires other permissions.
    """

    predictor: Predictor
    name: str
    labelling: Labelling | None = None
    collection: Collection | None = None

    def __init__(self, port: int):
        try:
            super().__init__((HOST, port), _Handler)
        except OSError as error:
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise
            why = "another program uses it" if error.errno == errno.EADDRINUSE else "not allowed"
            raise InputError(
                f"port {port} of {HOST}: {why}; choose another with --port, or 0 for any free port"
            ) from None
        self.port = int(self.server_address[1])
        self.url = f"http://{HOST}:{self.port}/"
        folder = files("thinstack.integrations")
        others = map(folder.joinpath, ("show/tree.css", "show/heat.css", "serving/openapi.json"))
        self.content = {
            f"/{file.name}": (file.read_bytes(), _KINDS[file.name.rpartition(".")[2]])
            for file in (*folder.joinpath("serving/page").iterdir(), *others)
        }
        self.content["/"] = self.content.pop("/index.html")
        self._queue, self._model = threading.Lock(), threading.Lock()

    def describe(self) -> dict[str, Any]:
        """Describe the model for the page, as JSON-serializable data."""
        model, view = self.predictor, self.predictor.view
        labelling = {} if self.labelling is None else {"labelling": self.labelling.describe()}
        return {
            "name": self.name,
            "labels": view.labels,
            "tones": None if view.scale is None else view.scale.tones,
            "about": view.scale is not None and model.phrases,
            "vectors": bool(model.width),
        } | labelling

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Lock the model, with all its threads. The last user queues behind waiting ones."""
        with self._queue:
            self._model.acquire()
        try:
            yield
        finally:
            self._model.release()


class _RefusedError(Exception):
    """A request that is refused."""

    def __init__(self, status: HTTPStatus, message: str):
        super().__init__(message)
        self.status = status


class _Handler(BaseHTTPRequestHandler):
    server: PageServer
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "thinstack", ""
    timeout = 60  # seconds that a client may be silent
    disable_nagle_algorithm = True  # otherwise each response waits until its head is acknowledged

    def do_GET(self) -> None:
        self._answer(self._file)

    do_HEAD = do_GET  # noqa: N815  # a name of http.server

    def do_POST(self) -> None:
        self._answer(lambda: (_json(self._prediction()), _JSON))

    def log_message(self, *_: Any) -> None:
        """Do nothing: texts are private."""

    def _answer(self, make: Callable[[], tuple[bytes, str]]) -> None:
        try:
            self._check_host()
            self._send(HTTPStatus.OK, *make())
        except _RefusedError as error:
            self.send_error(error.status, str(error))
            self._drain()
        except ThinstackError as error:
            self._send(HTTPStatus.BAD_REQUEST, _json({"error": str(error)}))
        except ConnectionError:  # the client has disconnected
            self.close_connection = True

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Send an error as JSON, including those of Python's server, such as for another method."""
        self.close_connection = True  # the body may not have been read
        self._send(HTTPStatus(code), _json({"error": message or HTTPStatus(code).phrase}))

    def _send(self, status: HTTPStatus, body: bytes, kind: str = _JSON) -> None:
        try:
            self.send_response(status)
            headers = {"Content-Type": f"{kind}; charset=utf-8", "Content-Length": str(len(body))}
            closed = {"Connection": "close"} if self.close_connection else {}
            for name, value in (headers | closed | _HEADERS).items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)
        except ConnectionError:  # the user has typed on, or left
            self.close_connection = True

    def _drain(self) -> None:
        """Read what the client still sends. It would otherwise lose the response to a reset."""
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_WR)
            self.connection.settimeout(_SILENCE)
            until = monotonic() + _MOST_DRAINED
            while monotonic() < until and self.rfile.read1(MAX_BODY):
                pass

    def _check_host(self) -> None:
        """Refuse other host names, by which third-party pages could reach this server (DNS
        rebinding). Ports are not checked, because ssh and containers forward others. A page of
        another port cannot send anything: its browser's preflight request for JSON is refused."""
        host, origin = self.headers.get("Host", ""), self.headers.get("Origin")
        if not _LOCAL.fullmatch(host):
            sender = host
        elif origin is not None and not _ORIGIN.fullmatch(origin):
            sender = f"a page of {origin}"
        else:
            return
        expected = f"expected a request to {' or '.join(_NAMES)}"
        raise _RefusedError(HTTPStatus.FORBIDDEN, f"{expected}, found {sender}")

    def _file(self) -> tuple[bytes, str]:
        path = self.path.partition("?")[0]
        if path == "/model":
            return _json(self.server.describe()), _JSON
        if path == "/predict":
            raise _RefusedError(HTTPStatus.METHOD_NOT_ALLOWED, "expected a POST to /predict")
        if path not in self.server.content:
            raise _RefusedError(HTTPStatus.NOT_FOUND, "this page does not exist; the page is at /")
        return self.server.content[path]

    def _prediction(self) -> Any:
        """Return the response for a program at /predict, and for the page elsewhere."""
        server = self.server
        if self.path == "/row" and server.labelling is not None:
            return _row(server.labelling, parsed(self._body()))
        if self.path not in ("/predict", "/drawing", "/texts", "/near"):
            raise _RefusedError(HTTPStatus.NOT_FOUND, "expected a POST to /predict")
        request = Request.parse(self._body())
        if (words := request.words) > MAX_WORDS:
            raise _too_large(f"the limit is {MAX_WORDS:,} words and marks, found {words:,}")
        if self.path == "/texts":
            server.collection = Collection(request.texts, server.predictor, server.turn)
            return server.collection.summary
        if self.path == "/near":
            return server.collection.near("".join(request.texts[:1])) if server.collection else []
        results = self._results(request.texts)
        if self.path == "/predict" or request.several:
            return answer(results, request)
        return text_data(next(results), request.about)

    def _results(self, texts: Sequence[str]) -> Iterator[Result]:
        """Yield the results of texts, with a turn per batch. Raises ConnectionError as soon as the
        client disconnects."""
        scored = self.server.predictor.stream(texts)
        while True:
            with self.server.turn():
                self.connection.settimeout(0)
                with suppress(BlockingIOError):  # the client is waiting for the response
                    if not self.connection.recv(1, socket.MSG_PEEK):
                        raise ConnectionAbortedError
                self.connection.settimeout(self.timeout)
                if (result := next(scored, None)) is None:
                    return
            yield result

    def _body(self) -> bytes:
        # Third-party pages may send plain text and forms without asking, but not this type.
        if self.headers.get_content_type() != _JSON:
            raise _RefusedError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"expected {_JSON}")
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdecimal()):
            raise _RefusedError(HTTPStatus.LENGTH_REQUIRED, "expected a Content-Length")
        if len(length) > 12 or int(length) > MAX_BODY:
            raise _too_large(f"a text of at most {MAX_BODY:,} bytes, found {length[:20]}")
        return self.rfile.read(int(length))


def _too_large(expected: str) -> _RefusedError:
    advice = "send several requests, or run thinstack predict --input FILE --out FOLDER"
    return _RefusedError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"expected {expected}: {advice}")


def _json(data: Any) -> bytes:
    return json.dumps(data, separators=(",", ":")).encode("ascii")


def _row(labelling: Labelling, data: Any) -> dict[str, Any]:
    """Return a text to label, after saving the label that `data` contains for it, if any."""
    if not isinstance(data, dict):
        raise InputError('expected JSON: {"place": 0}, plus "label": "..." to save a label')
    if "label" in data:
        labelling.save(data.get("place"), data["label"])
    return labelling.row(data.get("place"))
