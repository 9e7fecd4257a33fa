"""The documentation site as mkdocs builds it, and its home page; run by `.ci/jobs/site`."""

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from urllib.parse import urlsplit

import pytest
from pages import ROOT
from predictions import sentences_of

import thinstack

# Attributes by which a page fetches something.
FETCHED = "audio.src embed.src iframe.src img.src img.srcset link.href object.data script.src"
FETCHED = f"{FETCHED} source.src source.srcset track.src video.poster video.src".split()
UNFETCHED = ("canonical", "next", "prev")
NO_TEXT = ("pre", "code", "script", "style", "h1", "h2", "h3", "h4", "label")


class Html(HTMLParser):
    """What a page fetches, and says."""

    def __init__(self, path):
        super().__init__()
        self.fetched = []
        self.classes = set()
        self.components = set()
        self.text = []
        self._within = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name == "class":
                self.classes |= set((value or "").split())
            elif name == "data-md-component":
                self.components.add(value or "")
            if f"{tag}.{name}" in FETCHED and dict(attrs).get("rel") not in UNFETCHED:
                self.fetched.append(value or "")
        if tag in NO_TEXT:
            self._within.append(tag)

    def handle_endtag(self, tag):
        if self._within and tag == self._within[-1]:
            self._within.pop()

    def handle_data(self, data):
        if not self._within:
            self.text.append(data)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site. A link that leads nowhere is an error."""
    pytest.importorskip("mkdocs", reason='needs mkdocs: pip install ".[docs]"')
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site):
    return {path: Html(path) for path in site.rglob("*.html")}


def test_nothing_is_fetched_from_elsewhere(site, pages):
    for path, page in pages.items():
        assert page.fetched
        for target in page.fetched:
            assert not urlsplit(target).netloc, f"{path.name}: {target}"
        # With these, the theme's script asks GitHub and a network of mirrors.
        assert "source" not in page.components
        assert "mermaid" not in page.classes
    for style in site.rglob("*.css"):
        text = style.read_text(encoding="utf-8")
        assert not re.search(r"(@import|url\()\s*[\"']?(https?:)?//", text), style


def test_pages_are_read_as_they_were_meant(pages):
    """Markdown differs: what another reader takes for a list or a table must not be text here."""
    for path, page in pages.items():
        mark = re.search(r"^(\||- |\d+\. |```|#+ ).*", "".join(page.text), re.MULTILINE)
        assert mark is None, f"{path.name}: {mark and mark[0]}"


TEXT = "The room was lovely, but the staff were rude."
FITS = "document.documentElement.scrollWidth <= innerWidth"


@pytest.mark.parametrize(("width", "scheme"), [(360, "dark"), (1440, "light")])
def test_a_sentence_that_is_typed_is_drawn(site, width, scheme):
    """In a headless Chromium, without which this is skipped."""
    from browser.demo import Visit, chromium, drawn_names, served, sync_api

    with sync_api.sync_playwright() as playwright, served(site) as url:
        browser = chromium(playwright)
        viewport = {"width": width, "height": 900}
        visit = Visit(browser.new_context(viewport=viewport, color_scheme=scheme), url)
        page = visit.page
        page.goto(f"{url}index.html")
        page.locator("#live-text").fill(TEXT)
        page.wait_for_selector(".live-tree [role=treeitem]", timeout=120_000)
        items = page.locator(".live-tree [role=treeitem]")
        (found,) = sentences_of(thinstack.load(threads=1), [TEXT])
        assert items.evaluate_all("all => all.map(g => g.getAttribute('aria-label'))") == (
            drawn_names(thinstack.render(found))
        )
        assert page.locator(".live [role=status]").inner_text().startswith("negative, polarity")
        assert page.evaluate(FITS)
        for name in ("start", "models"):
            page.goto(f"{url}{name}.html")
            assert page.evaluate(FITS)
            assert page.locator(".md-clipboard, .md-code__button").count()
        assert visit.problems == []
        assert all(request.startswith((url, f"blob:{url}")) for request in visit.requests)
        browser.close()
