"""The home page of the documentation site in a headless Chromium: type a sentence, see its tree."""

import pytest
from browser.demo import Visit, chromium, drawn_names, served, sync_api
from predictions import sentences_of
from site_build import built_site

import thinstack

TEXT = "The room was lovely, but the staff were rude."
FITS = "document.documentElement.scrollWidth <= innerWidth"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    return built_site(tmp_path_factory.mktemp("site"))


@pytest.mark.parametrize(("width", "scheme"), [(360, "dark"), (1440, "light")])
def test_a_sentence_that_is_typed_is_drawn(site, width, scheme):
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
