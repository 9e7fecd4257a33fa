"""The built page on a web server, in a headless Chromium."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from xml.etree import ElementTree

import pytest

from thinstack.runtime.prediction import Prediction

ROOT = Path(__file__).parents[2]
DIST = ROOT / "js" / "demo" / "dist"
GOLDEN = ROOT / "tests" / "golden" / "schema-1"
CHROMIUM = os.environ.get("THINSTACK_CHROMIUM") or shutil.which("chromium")

if not (CHROMIUM and (DIST / "index.html").is_file()):
    pytest.skip(
        "needs Chromium and the built page: npm run build:demo in js/", allow_module_level=True
    )
sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright")


class _Files(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The files of a folder, on a free port of this machine."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Files, directory=str(folder))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()


def page_folder(folder: Path) -> Path:
    """The page, and bundles beside it: one of other classes, one with a damaged model."""
    shutil.copytree(DIST, folder)
    shutil.copytree(GOLDEN / "words", folder / "words")
    shutil.copytree(GOLDEN / "words", folder / "damaged")
    model = folder / "damaged" / "onnx" / "model.onnx"
    content = bytearray(model.read_bytes())
    content[len(content) // 2] ^= 1
    model.write_bytes(content)
    return folder


def chromium(playwright: "sync_api.Playwright", *flags: str) -> "sync_api.Browser":
    return playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", *flags])


def drawn_names(markup: str) -> list[str]:
    """The phrases of a drawing, as they are read out."""
    items = ElementTree.fromstring(markup).iter()
    return [str(item.get("aria-label")) for item in items if item.get("role") == "treeitem"]


def node_of(sentence: Prediction, text: str) -> int:
    """The number of the first phrase of a sentence with this text."""
    texts = (sentence.text_of(start, end) for start, end in sentence.spans)
    return next(node for node, phrase in enumerate(texts) if phrase == text)


class Visit:
    """A page that a reader has open; what went wrong in it, and what it asked for."""

    def __init__(self, context: "sync_api.BrowserContext", url: str):
        self.page, self.url = context.new_page(), url
        self.problems: list[str] = []
        self.requests: list[str] = []
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("dialog", lambda dialog: self.problems.append(dialog.message))
        self.page.on("console", self._said)
        context.on("request", lambda request: self.requests.append(request.url))

    def _said(self, message: "sync_api.ConsoleMessage") -> None:
        if message.type in ("error", "warning"):
            self.problems.append(message.text)

    def open(self, query: str = "") -> "sync_api.Page":
        self.page.goto(self.url + query)
        self.page.wait_for_selector("[role=treeitem]")
        return self.page

    def until(self, expression: str) -> None:
        """Waits for an expression to be true; the page forbids what playwright waits by."""
        for _ in range(1500):
            if self.page.evaluate(expression):
                return
            self.page.wait_for_timeout(20)
        raise AssertionError(f"never came: {expression}")

    def put(self, text: str) -> None:
        """Types a text over, and waits for what is said of it."""
        area = self.page.locator("textarea").first
        area.fill(text)
        self.page.wait_for_timeout(200)  # the page waits for another key
        self.page.wait_for_selector(".field:not([aria-busy])", timeout=60_000)
